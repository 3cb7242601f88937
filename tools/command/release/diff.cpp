#include "cli/cli.hpp"
#include "command/release/diff_output.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

namespace clbake::tool {
namespace {

constexpr int kDifferent = 1;  // as of diff(1) and cmp(1); a failure is 2 (clbake.cpp)

int compare(const Cli& cli) {
  DiffOutcome outcome;
  outcome.with_measured = !cli.has("ignore-measured");
  std::vector<Bundle> bundles;
  for (const std::string& file : cli.files()) {
    const std::size_t side = bundles.size();
    bundles.push_back(need(open_verified(file)));
    outcome.files[side] = file;
    outcome.bytes[side] = bundles[side].size_bytes();
  }
  outcome.diff = need(builder::release::diff_bundles(bundles[0], bundles[1]));
  if (cli.has("shapes")) {
    outcome.shapes = shapes_asked_for(cli, bundles);
    const std::vector<builder::release::ServedDevice> devices =
        need(builder::release::devices_of_both(bundles[0], bundles[1]));
    outcome.before = need(builder::release::check(bundles[0], devices, outcome.shapes, cli.has("newer-driver")));
    outcome.after = need(builder::release::check(bundles[1], devices, outcome.shapes, cli.has("newer-driver")));
  }
  if (cli.has("json")) {
    print(diff_json(outcome));
  } else {
    print_diff(outcome);
  }
  return outcome.equal() ? kSuccess : kDifferent;
}

}  // namespace

int diff(const std::vector<std::string>& arguments) {
  Cli cli("diff FILE... [OPTIONS]",
          "Shows what differs between two bundles, before and after: targets, variants, programs, proofs, rules and "
          "cost models and, with --shapes, what serves each problem. Exit status: 0, nothing differs; 1, something "
          "does; 2, wrong usage or a failure. Needs no OpenCL device.");
  cli.add_value("shapes", "FILE", "also compare what serves the problems of this file: see 'clbake check'");
  add_kinds(cli, "; for lines of --shapes that name none; default: all that the bundles have");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("ignore-measured", "differences in measured times, errors and notes alone are none");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.files().size() != 2) throw UsageError("give two bundles");
  return compare(cli);
}

}  // namespace clbake::tool
