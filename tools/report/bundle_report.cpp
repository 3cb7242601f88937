#include "report/bundle_report.hpp"

#include <clbake/builder/release/served.hpp>
#include <clbake/builder/release/signing.hpp>

#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace clbake::tool {
namespace {

// The parts of a note without figures, which differ from entry to entry; the whole note when all parts have some.
std::string reason_of(const std::string& note) {
  std::string reason;
  std::size_t begin = 0;
  while (begin < note.size()) {
    const std::size_t end = std::min(note.find("; ", begin), note.size());
    const std::string part = note.substr(begin, end - begin);
    const bool has_figure = part.find_first_of("0123456789") != std::string::npos;
    if (!has_figure) reason += (reason.empty() ? "" : "; ") + part;
    begin = end + 2;
  }
  return reason.empty() ? note : reason;
}

// The counts of one target.
struct TargetCounts {
  std::string name;
  std::size_t native = 0, portable = 0, proven = 0;
  std::size_t jit_free = 0;  // of those proven
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> kinds;  // "single" -> "single nn nt"
  std::set<std::string> programs;            // the application's own
  std::map<std::string, std::size_t> notes;  // why native entries are proven, but not JIT-free

  void add(const cache::EntryInfo& entry, const cache::Variant& variant) {
    const bool is_native = entry.form == cache::Form::native;
    ++(is_native ? native : portable);
    bytes += entry.program.raw_bytes;
    if (variant.is_program()) {
      programs.insert(variant.name);
    } else {
      std::string& kind =
          kinds.try_emplace(clbake::name(variant.precision), clbake::name(variant.precision)).first->second;
      const std::string trans = " " + trans_name(variant);
      if (kind.find(trans) == std::string::npos) kind += trans;
    }
    if (!entry.proof.proven) return;
    ++proven;
    jit_free += entry.proof.jit_free ? 1 : 0;
    if (!is_native || entry.proof.jit_free) return;  // a portable program is compiled at every load
    ++notes[variant.is_program() ? variant.name + ": " + entry.proof.note : reason_of(entry.proof.note)];
  }

  Json json(std::size_t target) const {
    Json kinds_json = Json::array(), notes_json = Json::array();
    for (const auto& [precision, kind] : kinds) kinds_json.push_back(kind);
    if (!programs.empty()) kinds_json.push_back(counted(programs.size(), "own program"));
    for (const auto& [note, count] : notes) notes_json.push_back({{"entries", count}, {"note", note}});
    return {{"target", target},     {"name", name},         {"kinds", kinds_json},
            {"native", native},     {"portable", portable}, {"proven", proven},
            {"jit_free", jit_free}, {"bytes", bytes},       {"not_jit_free", notes_json}};
  }
};

// [{"name": "rows", "work_group_size": [64, 1, 1]}, ...]
Json kernels_json(const cache::Variant& program) {
  Json kernels = Json::array();
  for (const cache::Launch& launch : program.launches) {
    kernels.push_back({{"name", launch.kernel_name}, {"work_group_size", launch.local}});
  }
  return kernels;
}

Json entry_json(const cache::EntryInfo& entry, const cache::Variant& variant) {
  char checksum[32];
  std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(entry.program.raw_checksum));
  Json json{{"target", entry.target},
            {"variant", variant.name},
            {"family", variant.family},
            {"precision", variant.is_program() ? "none" : clbake::name(variant.precision)},
            {"trans", variant.is_program() ? "" : trans_name(variant)},
            {"form", entry.form == cache::Form::native ? "native" : "portable"},
            {"newer_driver", entry.newer_driver},
            {"bytes", entry.program.raw_bytes},
            {"stored_bytes", entry.program.stored_bytes},
            {"checksum", checksum}};
  json.update(to_json(entry.proof));
  if (variant.is_program()) json["kernels"] = kernels_json(variant);
  return json;
}

// Null when nothing is limited; the upper end is null when only that is not.
Json range_json(std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == UINT32_MAX) return {};
  return {min, max == UINT32_MAX ? Json() : Json(max)};
}

void add_fields(const cache::Rule& rule, Json& json) {
  json["m"] = range_json(rule.m_min, rule.m_max);
  json["n"] = range_json(rule.n_min, rule.n_max);
  json["k"] = range_json(rule.k_min, rule.k_max);
  json["batch"] = range_json(rule.batch_min, rule.batch_max);
}

void add_fields(const cache::CostModel& model, Json& json) {
  for (const auto& [name, field] : cache::kCostModelExtents) json[name] = model.*field;
  for (const auto& [name, field] : cache::kCostModelNumbers) json[name] = model.*field;
}

template <typename T>
Json list_json(const Bundle& bundle, const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    Json& json = list.emplace_back();
    json = {{"precision", clbake::name(item.precision)},
            {"trans", trans_name(item)},
            {"variant", need(bundle.variant(item.variant)).name}};
    add_fields(item, json);
  }
  return list;
}

Json profiles_json(const Bundle& bundle) {
  Json profiles = Json::array();
  for (std::uint32_t i = 0; i < bundle.profile_count(); ++i) {
    const cache::Profile profile = need(bundle.profile(i));
    profiles.push_back({{"target", profile.target},
                        {"units", profile.units},
                        {"exceptions", list_json(bundle, profile.exceptions)},
                        {"models", list_json(bundle, profile.models)},
                        {"defaults", list_json(bundle, profile.defaults)}});
  }
  return profiles;
}

// Null where they cannot be checked: without libsodium.
Json signatures_json(const Bundle& bundle) {
  const Result<std::vector<builder::release::SignatureReport>> signatures = builder::release::signatures_of(bundle);
  if (!signatures) return {};
  Json all = Json::array();
  for (const builder::release::SignatureReport& s : *signatures) {
    all.push_back({{"public_key", s.public_key}, {"release", s.release}, {"valid", s.valid}});
  }
  return all;
}

}  // namespace

Json bundle_report(const Bundle& bundle) {
  Json targets = Json::array(), summary = Json::array(), entries = Json::array();
  std::vector<TargetCounts> counts(bundle.target_count());
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Target target = need(bundle.target(i));
    targets.push_back(to_json(target));
    counts[i].name = builder::release::target_name(target);
  }
  std::uint64_t bytes = 0, stored = 0;
  std::set<std::uint64_t> seen;  // equal programs are stored, and count, once
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::EntryInfo entry = need(bundle.entry(i));
    const cache::Variant variant = need(bundle.variant(entry.variant));
    counts[entry.target].add(entry, variant);
    entries.push_back(entry_json(entry, variant));
    bytes += entry.program.raw_bytes;
    if (seen.insert(entry.program.offset).second) stored += entry.program.stored_bytes;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) summary.push_back(counts[i].json(i));
  const Version version = bundle.version();
  const Result<std::string> identity = builder::release::identity_text(bundle);
  return {{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
          {"file_bytes", bundle.size_bytes()},
          {"digest", identity ? Json(*identity) : Json()},
          {"signatures", signatures_json(bundle)},
          {"bytes", bytes},
          {"stored_bytes", stored},
          {"ratio", stored > 0 ? static_cast<double>(bytes) / static_cast<double>(stored) : 1.0},
          {"variants", bundle.variant_count()},
          {"targets", std::move(targets)},
          {"summary", std::move(summary)},
          {"profiles", profiles_json(bundle)},
          {"entries", std::move(entries)}};
}

namespace {

// "scale 64, 16x16; add 64"
std::string kernels_text(const Json& kernels) {
  std::string text, last;
  for (const Json& kernel : kernels) {
    const std::string name = kernel["name"];
    const Json& size = kernel["work_group_size"];
    text += name == last ? ", " : (text.empty() ? "" : "; ") + name + " ";
    text += size[0].dump();
    if (size[1] != 1 || size[2] != 1) text += "x" + size[1].dump();
    if (size[2] != 1) text += "x" + size[2].dump();
    last = name;
  }
  return text;
}

// Whose signatures there are; whether a key is to be trusted only its reader knows.
void print_trust(const Json& report) {
  if (report["digest"].is_null()) return;
  std::printf("digest %s\n", cell_text(report["digest"]).c_str());
  const Json& signatures = report["signatures"];
  if (signatures.empty()) {
    std::printf("not signed: nothing tells who made it, nor who made the bundles that it was joined from\n");
  }
  for (const Json& signature : signatures) {
    std::printf("%s by %s, release %s\n", signature["valid"].get<bool>() ? "signed" : "WRONG SIGNATURE, as if",
                cell_text(signature["public_key"]).c_str(), signature["release"].dump().c_str());
  }
}

// "2 to 64", ">= 5", "any".
std::string range_cell(const Json& range) {
  if (range.is_null()) return "any";
  return range[1].is_null() ? ">= " + range[0].dump() : range[0].dump() + " to " + range[1].dump();
}

void print_list(const char* title, const Json& rows, std::vector<Column> fields) {
  if (rows.empty()) return;
  std::printf("%s:\n", title);
  fields.insert(fields.begin(), {"precision", {"op", "trans"}, "variant"});
  print_table(fields, rows);
}

}  // namespace

std::string profile_text(const Json& profile) {
  return counted(profile["models"].size(), "cost model") + ", " + counted(profile["exceptions"].size(), "exception") +
         ", " + counted(profile["defaults"].size(), "default");
}

void print_summary(const Json& report, const std::string& file) {
  std::printf("%s: %s, %s, %s; every byte is intact\n", file.c_str(),
              counted(report["targets"].size(), "target").c_str(),
              counted(report["variants"].get<std::size_t>(), "variant").c_str(),
              counted(report["entries"].size(), "entry").c_str());
  std::printf("format %s; %s; programs of %s, stored in %s (%.2f x)\n", cell_text(report["format"]).c_str(),
              size_cell(report["file_bytes"]).c_str(), size_cell(report["bytes"]).c_str(),
              size_cell(report["stored_bytes"]).c_str(), report["ratio"].get<double>());
  print_trust(report);
  std::printf("\n");
  print_table({"target",
               {"device", "name"},
               "kinds",
               "native",
               "portable",
               "proven",
               {"JIT-free", "jit_free"},
               {"programs", "bytes", size_cell}},
              report["summary"]);
  for (const Json& target : report["summary"]) {
    for (const Json& row : target["not_jit_free"]) {
      const std::string note = row["note"];
      std::printf("target %s: %s not JIT-free: %s\n", target["target"].dump().c_str(), row["entries"].dump().c_str(),
                  note.empty() ? "no reason is recorded" : printable(note).c_str());
    }
  }
  std::set<std::string> shown;
  for (const Json& entry : report["entries"]) {
    if (!entry.contains("kernels") || !shown.insert(entry["variant"]).second) continue;
    std::printf("own program %s: kernels and work-group sizes %s\n", cell_text(entry["variant"]).c_str(),
                printable(kernels_text(entry["kernels"])).c_str());
  }
}

void print_entries(const Json& report) {
  std::printf("\n");
  print_table({"target",
               "variant",
               "form",
               "proven",
               {"JIT-free", "jit_free"},
               {"first us", "first_us"},
               {"steady us", "steady_us"},
               {"error", "max_error"},
               "bytes",
               {"stored", "stored_bytes"}},
              report["entries"]);
}

void print_profiles(const Json& report) {
  const std::vector<Column> ranges = {
      {"m", "m", range_cell}, {"n", "n", range_cell}, {"k", "k", range_cell}, {"batch", "batch", range_cell}};
  std::vector<Column> fields;
  for (const auto& [name, field] : cache::kCostModelNumbers) fields.emplace_back(name);
  for (const Json& profile : report["profiles"]) {
    std::printf("\nprofile of target %s: %s\n", profile["target"].dump().c_str(), profile_text(profile).c_str());
    print_list("exceptions, the first that matches decides", profile["exceptions"], ranges);
    print_list("cost models, the least expected time decides", profile["models"], fields);
    print_list("defaults, which the cost models have to beat", profile["defaults"], ranges);
  }
}

}  // namespace clbake::tool
