#include <clbake/builder/release/prune.hpp>

#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/printable.hpp"
#include "command/release/dropped_signatures.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>
#include <numeric>

namespace clbake::tool {
namespace {

void declare_options(Cli& cli) {
  cli.add_required("output,o", "FILE", "the bundle to write; an earlier bundle there is replaced, which may be FILE");
  cli.add_value("shapes", "FILE", "keep what serves these problems: see 'clbake check'");
  add_kinds(cli,
            "; what is kept; with --shapes for lines that name none, and of what the source is kept; default: all");
  add_targets(cli, "; default: all");
  cli.add_value("max-bytes", "N",
                "leave out, until the bundle fits in N bytes (500000, 500KB, 2MB), variants whose loss costs the least "
                "expected time on the problems, as long as each still has a program; needs --shapes");
  cli.add_json();
}

builder::release::PruneOptions options_from(const Cli& cli, const Bundle& bundle, std::vector<std::string>& unknown) {
  builder::release::PruneOptions options;
  if (cli.has("max-bytes")) options.max_bytes = bytes_of(cli.text("max-bytes"));
  if (cli.has("target")) {
    options.targets = targets_asked_for(cli, bundle, unknown);
  } else {
    options.targets.resize(bundle.target_count());
    std::iota(options.targets.begin(), options.targets.end(), 0U);
  }
  if (cli.has("shapes")) options.shapes = shapes_asked_for(cli, {bundle});
  options.kinds = cli.has("precision") || cli.has("trans")
                      ? kinds_asked_for(cli, {bundle})
                      : kinds_of({std::begin(all_precisions), std::end(all_precisions)}, "nn,nt,tn,tt");
  return options;
}

Json to_json(const builder::release::PruneCounts& counts) {
  return {
      {"targets", counts.targets}, {"variants", counts.variants}, {"entries", counts.entries}, {"bytes", counts.bytes}};
}

Json report_json(const builder::release::PrunedBundle& pruned, const std::string& output,
                 const std::vector<std::string>& unknown, std::size_t dropped) {
  return {{"file", output},
          {"before", to_json(pruned.before)},
          {"after", to_json(pruned.after)},
          {"removed_targets", pruned.removed_targets},
          {"unknown_targets", unknown},
          {"deciding_variants", pruned.deciding},
          {"unserved", pruned.unserved},
          {"dropped_signatures", dropped},
          {"loss",
           {{"variants", pruned.loss.variants},
            {"portable_programs", pruned.loss.forms},
            {"mean", pruned.loss.mean},
            {"worst", pruned.loss.worst},
            {"worst_problem", pruned.loss.worst_problem}}}};
}

void print_loss(const builder::release::PruneLoss& loss) {
  if (loss.forms > 0) {
    std::printf("to fit: %s left out beside machine code\n", counted(loss.forms, "portable program").c_str());
  }
  if (loss.variants.empty()) return;
  std::printf("to fit: %s left out; the problems are expected to take %.2g %% longer",
              counted(loss.variants.size(), "variant").c_str(), 100 * loss.mean);
  if (loss.worst > 0) std::printf(", at most %.2g %%: %s", 100 * loss.worst, loss.worst_problem.c_str());
  std::printf("\n");
  for (const std::string& variant : loss.variants) std::printf("  %s\n", printable(variant).c_str());
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
  print_loss(pruned.loss);
}

}  // namespace

int prune(const std::vector<std::string>& arguments) {
  Cli cli(
      "prune FILE -o FILE [OPTIONS]",
      "Writes a bundle that keeps only what is asked for: the programs that serve some problems on some targets, and "
      "of the rules and cost models those by which the same variants are chosen for these problems as before. Needs "
      "no OpenCL device. Signatures do not hold for what is left, which has none.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.has("max-bytes") && !cli.has("shapes")) throw UsageError("--max-bytes: needs --shapes");
  const std::string output = behind_links(cli.text("output"));
  need(builder::check_output(output));
  const Bundle bundle = need(open_verified(cli.file()));
  std::vector<std::string> unknown;
  const builder::release::PruneOptions options = options_from(cli, bundle, unknown);
  print_unknown("prune", cli.file(), bundle, unknown);
  const std::size_t dropped = signatures_in(bundle);
  const builder::release::PrunedBundle pruned = need(builder::release::prune(bundle, options), cli.file());
  need(cache::write_file(output, {pruned.bytes.data(), pruned.bytes.size()}));
  tell_of_dropped("prune", output, dropped);
  if (cli.has("json")) {
    print(report_json(pruned, output, unknown, dropped));
  } else {
    print_report(pruned, output);
  }
  if (pruned.unserved > 0) {
    std::fprintf(stderr, "clbake prune: %s had no program before: 'clbake check' says which and why\n",
                 counted(pruned.unserved, "problem").c_str());
  }
  return unknown.empty() && pruned.unserved == 0 ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
