#include "cli/cli.hpp"
#include "command/release/diff_output.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/shape/shapes_file.hpp>

#include <algorithm>

namespace clbake::tool {
namespace {

// As of diff(1) and cmp(1): a failure is not "different".
constexpr int kDifferent = 1;
constexpr int kTrouble = 2;

int trouble(const Status& status) {
  fail("diff", status);
  return kTrouble;
}

// Lines that leave out precision or transposes stand for what either bundle has.
Result<std::vector<builder::Shape>> shapes_of_both(const Cli& cli, const Bundle& before, const Bundle& after) {
  Result<std::vector<GemmKind>> kinds = kinds_asked_for(cli, before);
  const Result<std::vector<GemmKind>> others = kinds_asked_for(cli, after);
  if (!kinds || !others) return (kinds ? others : kinds).status();
  for (const GemmKind& kind : *others) {
    if (std::find(kinds->begin(), kinds->end(), kind) == kinds->end()) kinds->push_back(kind);
  }
  return builder::read_shapes(cli.text("shapes"), *kinds);
}

Status compare_shapes(const Cli& cli, const Bundle& before, const Bundle& after, DiffOutcome& outcome) {
  if (!cli.has("shapes")) return {};
  Result<std::vector<builder::Shape>> shapes = shapes_of_both(cli, before, after);
  if (!shapes) return shapes.status();
  outcome.shapes = std::move(*shapes);
  const Result<std::vector<builder::ServedDevice>> devices = builder::devices_of_both(before, after);
  if (!devices) return devices.status();
  const bool newer_driver = cli.has("newer-driver");
  auto first = builder::check(before, *devices, outcome.shapes, newer_driver);
  auto second = builder::check(after, *devices, outcome.shapes, newer_driver);
  if (!first || !second) return (first ? second : first).status();
  outcome.before = std::move(*first);
  outcome.after = std::move(*second);
  return {};
}

}  // namespace

int diff(const std::vector<std::string>& arguments) {
  Cli cli(
      "diff FILE... [OPTIONS]",
      "Shows what differs between two bundles, before and after: targets, variants, programs, proofs, rules and cost\n"
      "models and, with --shapes, what serves each problem. Exit status: 0, nothing differs; 1, something does; 2,\n"
      "wrong usage or a failure. Needs no OpenCL device.");
  cli.add_value("shapes", "FILE", "also compare what serves the problems of this file: see 'clbake check'");
  add_kinds(cli, "; for lines of --shapes that name none; default: all that the bundles have");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("ignore-measured", "differences in measured times, errors and notes alone are none");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.files().size() != 2) throw UsageError("give two bundles");
  DiffOutcome outcome;
  outcome.with_measured = !cli.has("ignore-measured");
  std::vector<Bundle> bundles;
  for (int side = 0; side < 2; ++side) {
    outcome.files[side] = cli.files()[static_cast<std::size_t>(side)];
    Result<Bundle> bundle = open_verified(outcome.files[side]);
    if (!bundle) return trouble(bundle.status());
    outcome.bytes[side] = bundle->size_bytes();
    bundles.push_back(std::move(*bundle));
  }
  Result<builder::BundleDiff> found = builder::diff_bundles(bundles[0], bundles[1]);
  if (!found) return trouble(found.status());
  outcome.diff = std::move(*found);
  const Status compared = compare_shapes(cli, bundles[0], bundles[1], outcome);
  if (!compared) return trouble(compared);
  if (cli.has("json")) {
    print(diff_json(outcome));
  } else {
    print_diff(outcome);
  }
  return outcome.equal() ? kSuccess : kDifferent;
}

}  // namespace clbake::tool
