#include "command/release/shapes_option.hpp"

#include "cli/arguments.hpp"

#include <clbake/builder/release/served.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

namespace clbake::tool {

constexpr std::size_t kFewTargets = 8;

// Messages name the verb's first file: the only bundle that was not verified when it was opened.
std::vector<GemmKind> kinds_with_entries(const std::string& file, const std::vector<Bundle>& bundles) {
  std::set<GemmKind> kinds;
  for (const Bundle& bundle : bundles) {
    std::set<std::uint32_t> variants;
    for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) variants.insert(need(bundle.entry(i), file).variant);
    for (const std::uint32_t index : variants) {
      const cache::Variant variant = need(bundle.variant(index), file);
      if (!variant.is_program()) kinds.insert(variant.kind());
    }
  }
  return {kinds.begin(), kinds.end()};
}

void add_kinds(Cli& cli, const std::string& remark) {
  cli.add_value("precision", "LIST", (precision_names + (", separated by commas" + remark)).c_str());
  cli.add_value("trans", "LIST", ("transposes of A and B: nn, nt, tn, tt" + remark).c_str());
}

std::vector<GemmKind> kinds_asked_for(const Cli& cli, const std::vector<Bundle>& bundles) {
  const std::vector<GemmKind> present = kinds_with_entries(cli.file(), bundles);
  if (!present.empty() && !cli.has("precision") && !cli.has("trans")) return present;
  std::vector<Precision> precisions;
  std::string transposes = cli.text("trans", present.empty() ? "nn,nt,tn,tt" : "");
  if (cli.has("precision")) {
    precisions = cli.precisions("precision");
  } else if (present.empty()) {
    precisions.assign(std::begin(all_precisions), std::end(all_precisions));
  }
  for (const GemmKind& kind : present) {
    const bool known = std::find(precisions.begin(), precisions.end(), kind.precision) != precisions.end();
    if (!cli.has("precision") && !known) precisions.push_back(kind.precision);
    if (!cli.has("trans")) transposes += "," + trans_name(kind);
  }
  return kinds_of(precisions, transposes);
}

std::vector<builder::Shape> shapes_asked_for(const Cli& cli, const std::vector<Bundle>& bundles,
                                             builder::Unnamed* filled_in) {
  const std::vector<GemmKind> kinds = kinds_asked_for(cli, bundles);
  std::vector<builder::Shape> shapes = need(builder::read_shapes(cli.text("shapes"), kinds, filled_in));
  if (filled_in && cli.has("precision")) filled_in->precision = false;
  if (filled_in && cli.has("trans")) filled_in->transposes = false;
  return shapes;
}

void add_targets(Cli& cli, const std::string& remark) {
  const std::string help =
      "targets of the bundle, separated by commas: each an index or a name of 'clbake inspect', a name such as "
      "nvidia:sm_90, or a part of a field, such as a driver's version" +
      remark;
  cli.add_list("target", "LIST", help.c_str());
}

std::vector<std::uint32_t> targets_asked_for(const Cli& cli, const Bundle& bundle, std::vector<std::string>& unknown) {
  if (!cli.has("target")) return need(builder::release::targets_with_entries(bundle), cli.file());
  std::set<std::uint32_t> targets;
  for (const std::string& spec : cli.list("target")) {
    const std::vector<std::uint32_t> named = need(builder::release::targets_named(bundle, spec), cli.file());
    targets.insert(named.begin(), named.end());
    if (named.empty()) unknown.push_back(spec);
  }
  return {targets.begin(), targets.end()};
}

void print_unknown(const char* verb, const std::string& file, const Bundle& bundle,
                   const std::vector<std::string>& unknown) {
  if (unknown.empty()) return;
  std::string present;
  const std::vector<std::uint32_t> targets = need(builder::release::targets_with_entries(bundle), file);
  for (std::size_t i = 0; targets.size() <= kFewTargets && i < targets.size(); ++i) {
    present += (i == 0 ? "; it has " : "; ") + std::to_string(targets[i]) + ": " +
               builder::release::target_name(need(bundle.target(targets[i]), file));
  }
  for (const std::string& spec : unknown) {
    std::fprintf(stderr, "clbake %s: --target: %s has no target '%s'%s\n", verb, file.c_str(), spec.c_str(),
                 present.c_str());
  }
}

}  // namespace clbake::tool
