#include <clbake/builder/release/prune.hpp>

#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>
#include <numeric>

namespace clbake::tool {
namespace {

builder::release::PruneOptions options_from(const Cli& cli, const Bundle& bundle, std::vector<std::string>& unknown) {
  builder::release::PruneOptions options;
  if (cli.has("target")) {
    options.targets = targets_asked_for(cli, bundle, unknown);
  } else {
    options.targets.resize(bundle.target_count());
    std::iota(options.targets.begin(), options.targets.end(), 0U);
  }
  if (cli.has("shapes")) options.shapes = shapes_asked_for(cli, {bundle});
  options.kinds = cli.has("precision") || cli.has("trans")
                      ? kinds_asked_for(cli, {bundle})
                      : kinds_of({std::begin(product_precisions), std::end(product_precisions)}, "nn,nt,tn,tt");
  return options;
}

Json to_json(const builder::release::PruneCounts& counts) {
  return {
      {"targets", counts.targets}, {"variants", counts.variants}, {"entries", counts.entries}, {"bytes", counts.bytes}};
}

void print_report(const builder::release::PrunedBundle& pruned, const std::string& output) {
  const builder::release::PruneCounts& a = pruned.before;
  const builder::release::PruneCounts& b = pruned.after;
  std::printf("%s: %s, before %s: %.1f %% smaller\n", output.c_str(), size_text(b.bytes).c_str(),
              size_text(a.bytes).c_str(), 100 * (1 - static_cast<double>(b.bytes) / static_cast<double>(a.bytes)));
  std::printf("%9s %9s %9s\n%9zu %9zu %9zu  kept\n%9zu %9zu %9zu  removed\n", "targets", "variants", "entries",
              b.targets, b.variants, b.entries, a.targets - b.targets, a.variants - b.variants, a.entries - b.entries);
  for (const std::string& target : pruned.removed_targets) std::printf("removed: %s\n", printable(target).c_str());
  if (pruned.deciding > 0) {
    std::printf("%s kept because other variants would be chosen without %s\n",
                counted(pruned.deciding, "variant").c_str(), pruned.deciding == 1 ? "it" : "them");
  }
}

}  // namespace

int prune(const std::vector<std::string>& arguments) {
  Cli cli("prune FILE -o FILE [OPTIONS]",
          "Writes a bundle that keeps only what is asked for: the programs that serve some problems on some\n"
          "targets, and of the rules and cost models those by which the same variants are chosen for these\n"
          "problems as before. Needs no OpenCL device. Signatures do not hold for what is left, which has none.");
  cli.add_required("output,o", "FILE", "the bundle to write; an earlier bundle there is replaced, which may be FILE");
  cli.add_value("shapes", "FILE", "keep what serves these problems: see 'clbake check'");
  add_kinds(cli,
            "; what is kept; with --shapes for lines that name none, and of what the source is kept; default: all");
  add_targets(cli, "; default: all");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string output = behind_links(cli.text("output"));
  need(builder::build::check_output(output));
  const Bundle bundle = open_verified(cli.file());
  std::vector<std::string> unknown;
  const builder::release::PruneOptions options = options_from(cli, bundle, unknown);
  print_unknown("prune", cli.file(), bundle, unknown);
  const std::size_t signatures = signatures_in(cli.file());
  const builder::release::PrunedBundle pruned = need(builder::release::prune(bundle, options), cli.file());
  need(cache::write_file(output, {pruned.bytes.data(), pruned.bytes.size()}));
  const std::size_t dropped = tell_of_dropped("prune", output, signatures);
  if (cli.has("json")) {
    print({{"file", output},
           {"before", to_json(pruned.before)},
           {"after", to_json(pruned.after)},
           {"removed_targets", pruned.removed_targets},
           {"unknown_targets", unknown},
           {"deciding_variants", pruned.deciding},
           {"dropped_signatures", dropped}});
  } else {
    print_report(pruned, output);
  }
  return unknown.empty() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
