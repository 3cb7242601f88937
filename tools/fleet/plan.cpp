// `clbake plan`: the pieces of work of a fleet, and the scripts that schedule them.
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"
#include "fleet/forms.hpp"

#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace clbake::tool {
namespace {

namespace fleet = builder::fleet;

void declare_plan_options(Cli& cli) {
  cli.add_value("output,o", "FILE", "the manifest to write; with --format the script, default stdout");
  cli.add_list("target", "LIST", "names of 'clbake targets', separated by commas: devices that no machine has");
  cli.add_value("device", "SPEC", "only the devices of the machines with this in their or their platform's name");
  cli.add_value("budget", "TIME", "tune each device for so long, such as 10m; default: do not tune");
  cli.add_value("shards", "N", "divide each tuning into N pieces, each of --budget; default 1");
  cli.add_value("shapes", "FILE", "problems to tune for and to check the bundle with, as for 'clbake tune'");
  cli.add_list("profile", "LIST", "profiles of 'clbake tune', for the devices that they were made for");
  cli.add_precision("single,double");
  cli.add_list("variant", "LIST", "bake exactly these variants or presets, separated by commas");
  cli.add_flag("group", "bake variants for groups of products, too, as 'clbake build --group' does");
  cli.add_value(
      "programs", "FILE",
      "bake the application's own kernels that this manifest names, as 'clbake build --programs' does; alone, "
      "no GEMM beside them");
  cli.add_flag("split", "bake each precision, or with --variant each variant, and the programs, as a piece of its own");
  cli.add_flag("reproducible", "leave measured times out of the bundles");
  cli.add_value("require", "LIST", "with --shapes or --programs: what 'clbake check' has to find");
  cli.add_flag("newer-driver", "check and report as for applications that set Options::newer_driver");
  cli.add_value("against", "BUNDLE", "the last release, which the report compares with");
  cli.add_value("from", "MANIFEST", "with --format: of these pieces instead of planning");
  cli.add_value("format", "NAME", "with --from: print slurm, github or gitlab");
}

// As for `clbake build`: with a manifest of programs, only what asks for GEMM gets it.
bool bakes_gemm(const Cli& cli) {
  if (!cli.has("programs")) return true;
  const auto given = [&](const char* option) { return cli.has(option); };
  const char* const options[] = {"precision", "variant", "profile", "budget", "group"};
  return std::any_of(std::begin(options), std::end(options), given);
}

void check_options(const Cli& cli) {
  if (cli.has("format") != cli.has("from")) throw UsageError("--format and --from: only together");
  if (!cli.has("from") && !cli.has("output")) throw UsageError("the option '--output' is required but missing");
  if (cli.has("from") && !cli.files().empty()) throw UsageError("--from: takes no FILE of a machine");
  for (const char* option : {"precision", "profile", "budget", "group"}) {
    if (cli.has("variant") && cli.has(option))
      throw UsageError(std::string("--") + option + ": --variant says what is baked");
  }
  if (cli.has("budget")) seconds_of(cli.text("budget"));
  if (cli.has("shards") && !cli.has("budget")) throw UsageError("--shards: needs --budget");
  if (cli.has("require") && !cli.has("shapes") && !cli.has("programs")) {
    throw UsageError("--require: needs --shapes or --programs");
  }
  if (!bakes_gemm(cli) && cli.has("shapes")) throw UsageError("--shapes: --programs alone bakes no GEMM");
  requirements_of(cli.text("require", "baked"));
}

// Passes an option on as the user gave it.
void pass(const Cli& cli, const std::string& name, std::vector<std::string>& to) {
  if (!cli.has(name.c_str())) return;
  to.push_back("--" + name);
  const std::string value = cli.text(name.c_str());
  if (!value.empty()) to.push_back(value);  // empty: a flag
}

// A mistake in an option should show now, not on every machine.
fleet::FleetOptions fleet_options(const Cli& cli) {
  fleet::FleetOptions options;
  options.device = cli.text("device");
  options.targets = cli.list("target");
  options.budget = cli.text("budget");
  options.shards = static_cast<unsigned>(cli.size("shards", 1, 1, 1000));
  options.shapes = cli.text("shapes");
  options.profiles = cli.list("profile");
  options.programs = cli.text("programs");
  options.gemm = bakes_gemm(cli);
  options.group = cli.has("group");
  options.split = cli.has("split");
  options.against = cli.text("against");
  pass(cli, "reproducible", options.bake);
  for (const char* option : {"require", "newer-driver"}) pass(cli, option, options.check);
  pass(cli, "newer-driver", options.report);
  options.directory = os::parent_of(behind_links(cli.text("output")));
  if (options.directory.empty()) options.directory = ".";
  const std::vector<Precision> precisions = cli.precisions("precision");
  options.precisions.clear();
  for (const Precision precision : precisions) options.precisions.emplace_back(name(precision));
  const std::vector<GemmKind> kinds = kinds_of(precisions, "nn,nt,tn,tt");
  for (const kernels::Params& params : variants_named(cli.list("variant"))) {
    options.variants.push_back(kernels::name(params));
  }
  if (cli.has("shapes")) need(builder::read_shapes(options.shapes, kinds), "--shapes");
  if (cli.has("against")) {
    if (options.against.find(',') != std::string::npos) {
      throw UsageError("--against: '" + options.against + "': one bundle, without a comma in its name");
    }
    open_verified(options.against, "--against");
  }
  for (const std::string& file : cli.files()) options.machines.push_back(need(fleet::read_machine(file)));
  if (options.machines.empty()) options.machines.push_back(need(fleet::this_machine()));
  return options;
}

void write_plan(const Cli& cli) {
  const fleet::FleetOptions options = fleet_options(cli);
  const std::vector<fleet::Piece> pieces = need(fleet::plan_fleet(options));
  const std::string output = behind_links(cli.text("output"));
  need(fleet::write_manifest(output, pieces));
  std::printf("%s: %s of work for %s\n", output.c_str(), counted(pieces.size(), "piece").c_str(),
              counted(options.machines.size(), "machine").c_str());
  Json rows = Json::array();
  for (const fleet::Piece& piece : pieces) {
    rows.push_back({{"number", rows.size() + 1}, {"title", piece.title}, {"machines", piece.machines}});
  }
  print_table({{"piece", "number"}, "title", "machines"}, rows);
}

void write_form(const Cli& cli) {
  const std::string output = behind_links(cli.text("output"));
  check_not_input(output, {cli.text("from")});
  const Result<std::string> text = form(cli.text("format"), need(fleet::read_manifest(cli.text("from")), "--from"));
  if (text.status().code() == Code::not_found) throw UsageError("--format: " + text.status().message());
  need(text.status(), "--format");
  if (cli.has("output")) {
    write_text(output, *text);
  } else {
    std::cout << *text;
  }
}

}  // namespace

int plan(const std::vector<std::string>& arguments) {
  Cli cli("plan [FILE...] [OPTIONS] -o FILE",
          "Plans a bundle that several machines bake: writes a manifest of pieces of work, which 'clbake work'\n"
          "does. A FILE is what 'clbake devices --json' printed on a machine; without one, this machine does all.\n"
          "--format prints a script that has a scheduler do the pieces of a manifest.");
  declare_plan_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  check_options(cli);
  cli.has("from") ? write_form(cli) : write_plan(cli);
  return kSuccess;
}

}  // namespace clbake::tool
