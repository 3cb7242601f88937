#include "report/summary_report.hpp"

#include "cli/cli.hpp"

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr std::size_t kMostRows = 16;  // of targets: with the lines around them, one screen of 24 lines
constexpr std::size_t kMostName = 44;  // bytes of a target's name

double ratio(const builder::release::EntryCounts& counts) {
  return counts.stored_bytes > 0 ? static_cast<double>(counts.bytes) / static_cast<double>(counts.stored_bytes) : 1;
}

Json to_json(const builder::release::EntryCounts& counts) {
  Json json;
  for (std::size_t i = 0; i < counts.by_precision.size(); ++i) json[name(all_precisions[i])] = counts.by_precision[i];
  json.update({{"programs", counts.programs},
               {"native", counts.native},
               {"portable", counts.portable},
               {"proven", counts.proven},
               {"jit_free", counts.jit_free},
               {"bytes", counts.bytes},
               {"stored_bytes", counts.stored_bytes}});
  return json;
}

void add(builder::release::EntryCounts& sum, const builder::release::EntryCounts& counts) {
  for (std::size_t i = 0; i < sum.by_precision.size(); ++i) sum.by_precision[i] += counts.by_precision[i];
  sum.programs += counts.programs;
  sum.native += counts.native;
  sum.portable += counts.portable;
  sum.proven += counts.proven;
  sum.jit_free += counts.jit_free;
  sum.bytes += counts.bytes;
  sum.stored_bytes += counts.stored_bytes;
}

void print_row(const std::string& name, const builder::release::EntryCounts& counts, bool with_programs) {
  const std::string shown = name.size() > kMostName ? name.substr(0, kMostName - 3) + "..." : name;
  std::printf("%-*s", static_cast<int>(kMostName), shown.c_str());
  for (const std::uint32_t entries : counts.by_precision) std::printf(" %8u", entries);
  if (with_programs) std::printf(" %8u", counts.programs);
  std::printf(" %7u %8u %6u %8u %8s\n", counts.native, counts.portable, counts.proven, counts.jit_free,
              size_text(counts.bytes).c_str());
}

std::uint32_t entries_of(const builder::release::EntryCounts& counts) { return counts.native + counts.portable; }

}  // namespace

Json summary_json(const Bundle& bundle, const builder::release::BundleSummary& summary) {
  Json targets = Json::array();
  for (const builder::release::TargetCounts& counts : summary.targets) {
    targets.push_back({{"target", counts.target}, {"name", counts.name}});
    targets.back().update(to_json(counts));
  }
  const Version version = bundle.version();
  Json json = {{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
               {"file_bytes", bundle.size_bytes()},
               {"variants", bundle.variant_count()},
               {"entries", bundle.entry_count()},
               {"ratio", ratio(summary.all)}};
  json.update(to_json(summary.all));
  json["targets"] = targets;
  return json;
}

void print_screen(const Bundle& bundle, const builder::release::BundleSummary& summary, const std::string& file) {
  std::printf("%s: %s; every byte is intact\n", file.c_str(), size_text(bundle.size_bytes()).c_str());
  std::printf("%s, %s, %s; programs of %s, stored in %s (%.2f x)\n\n",
              counted(summary.targets.size(), "target").c_str(), counted(bundle.variant_count(), "variant").c_str(),
              counted(bundle.entry_count(), "entry").c_str(), size_text(summary.all.bytes).c_str(),
              size_text(summary.all.stored_bytes).c_str(), ratio(summary.all));
  std::printf("%-*s", static_cast<int>(kMostName), "target");
  for (const Precision precision : all_precisions) std::printf(" %8s", name(precision));
  const bool own = summary.all.programs > 0;
  if (own) std::printf(" %8s", "own");
  std::printf(" %7s %8s %6s %8s %8s\n", "native", "portable", "proven", "JIT-free", "programs");
  std::vector<builder::release::TargetCounts> rows = summary.targets;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return entries_of(a) > entries_of(b); });
  const std::size_t shown = rows.size() > kMostRows ? kMostRows - 1 : rows.size();
  for (std::size_t i = 0; i < shown; ++i) print_row(std::to_string(rows[i].target) + ": " + rows[i].name, rows[i], own);
  builder::release::EntryCounts others;
  for (std::size_t i = shown; i < rows.size(); ++i) add(others, rows[i]);
  if (shown < rows.size()) print_row(counted(rows.size() - shown, "other target"), others, own);
  if (rows.size() > 1) print_row("all", summary.all, own);
}

}  // namespace clbake::tool
