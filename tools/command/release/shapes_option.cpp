#include "command/release/shapes_option.hpp"

#include "cli/arguments.hpp"

#include <clbake/builder/release/bundle_targets.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

constexpr std::size_t kFewTargets = 8;

Result<std::set<GemmKind>> kinds_with_entries(const Bundle& bundle) {
  std::set<std::uint32_t> variants;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    variants.insert(entry->variant);
  }
  std::set<GemmKind> kinds;
  for (const std::uint32_t index : variants) {
    const Result<cache::Variant> variant = bundle.variant(index);
    if (!variant) return variant.status();
    if (!variant->is_program()) kinds.insert(variant->kind());
  }
  return kinds;
}

}  // namespace

void add_kinds(Cli& cli, const std::string& remark) {
  cli.add_value("precision", "LIST", (precision_names + (", separated by commas" + remark)).c_str());
  cli.add_value("trans", "LIST", ("transposes of A and B: nn, nt, tn, tt" + remark).c_str());
}

Result<std::vector<GemmKind>> kinds_asked_for(const Cli& cli, const Bundle& bundle) {
  const std::vector<Precision> every_precision(std::begin(all_precisions), std::end(all_precisions));
  const Result<std::set<GemmKind>> present = kinds_with_entries(bundle);
  if (!present) return present.status();
  if (present->empty()) {
    return kinds_of(cli.has("precision") ? cli.precisions("precision") : every_precision,
                    cli.text("trans", "nn,nt,tn,tt"));
  }
  if (!cli.has("precision") && !cli.has("trans")) return std::vector<GemmKind>(present->begin(), present->end());
  std::vector<Precision> precisions;
  if (cli.has("precision")) precisions = cli.precisions("precision");
  std::string transposes = cli.text("trans");
  for (const GemmKind& kind : *present) {
    const auto known = std::find(precisions.begin(), precisions.end(), kind.precision);
    if (!cli.has("precision") && known == precisions.end()) precisions.push_back(kind.precision);
    if (!cli.has("trans")) transposes += std::string(",") + (kind.trans_a ? "t" : "n") + (kind.trans_b ? "t" : "n");
  }
  return kinds_of(precisions, transposes);
}

Result<std::vector<builder::Shape>> shapes_asked_for(const Cli& cli, const Bundle& bundle,
                                                     builder::Unnamed* filled_in) {
  Result<std::vector<GemmKind>> kinds = kinds_asked_for(cli, bundle);
  if (!kinds) return kinds.status().within(cli.file());
  Result<std::vector<builder::Shape>> shapes = builder::read_shapes(cli.text("shapes"), *kinds, filled_in);
  if (!shapes || !filled_in) return shapes;
  if (cli.has("precision")) filled_in->precision = false;
  if (cli.has("trans")) filled_in->transposes = false;
  return shapes;
}

void add_targets(Cli& cli, const std::string& remark) {
  const std::string help =
      "targets of the bundle, separated by commas: each an index or a name of 'clbake inspect', a name such as "
      "nvidia:sm_90, or a part of a field, such as a driver's version" +
      remark;
  cli.add_list("target", "LIST", help.c_str());
}

Result<std::vector<std::uint32_t>> targets_asked_for(const Cli& cli, const Bundle& bundle,
                                                     std::vector<std::string>& unknown) {
  if (!cli.has("target")) return builder::targets_with_entries(bundle);
  std::set<std::uint32_t> targets;
  for (const std::string& spec : cli.list("target")) {
    const Result<std::vector<std::uint32_t>> named = builder::targets_named(bundle, spec);
    if (!named) return named.status();
    targets.insert(named->begin(), named->end());
    if (named->empty()) unknown.push_back(spec);
  }
  return std::vector<std::uint32_t>(targets.begin(), targets.end());
}

void print_unknown(const char* verb, const std::string& file, const Bundle& bundle,
                   const std::vector<std::string>& unknown) {
  if (unknown.empty()) return;
  std::string present;
  const Result<std::vector<std::uint32_t>> targets = builder::targets_with_entries(bundle);
  if (targets && targets->size() <= kFewTargets) {
    for (const std::uint32_t index : *targets) {
      const Result<Target> target = bundle.target(index);
      if (!target) continue;
      present += (present.empty() ? "; it has " : "; ") + std::to_string(index) + ": " + builder::target_name(*target);
    }
  }
  for (const std::string& spec : unknown) {
    std::fprintf(stderr, "clbake %s: --target: %s has no target '%s'%s\n", verb, file.c_str(), spec.c_str(),
                 present.c_str());
  }
}

}  // namespace clbake::tool
