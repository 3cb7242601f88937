#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/printable.hpp"
#include "command/release/check_output.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

void declare_options(Cli& cli) {
  cli.add_value("shapes", "FILE",
                "the problems, one on each line: [PRECISION] [TRANSPOSES] MxNxK [lda N] [ldb N] [batch N] [weight W]; "
                "may be missing where the bundle has programs of the application's own, which are always checked");
  add_kinds(cli, "; for lines that name none; default: all that the bundle has");
  cli.add_value("require", "LIST",
                "what each problem needs, separated by commas: baked, a program of the bundle (the default); native, "
                "machine code; proven; jit-free; any, where compiling from the bundle's source is enough");
  add_targets(cli, "; default: all targets with programs except those that await 'clbake prove'");
  cli.add_device(": a device of this machine instead of, or beside, --target");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("all", "also list what serves each problem on each target");
  cli.add_json();
  cli.add_value("junit", "FILE", "also write the result as JUnit's XML, which CI systems show");
}

std::vector<builder::release::ServedDevice> devices_of(const Cli& cli, const Bundle& bundle, CheckOutcome& outcome) {
  std::vector<builder::release::ServedDevice> devices;
  if (cli.has("device")) {
    for (const builder::Device& device : need(selected_devices(cli.text("device")))) {
      devices.push_back(builder::release::served_device(device));
    }
    if (!cli.has("target")) return devices;
  }
  for (const std::uint32_t index : targets_asked_for(cli, bundle, outcome.unknown)) {
    const Target target = need(bundle.target(index), cli.file());
    if (cli.has("target") || !builder::release::awaits_proof(target)) {
      devices.push_back(builder::release::served_device(target));
      continue;
    }
    outcome.left_out.push_back(builder::release::target_name(target));
    std::fprintf(stderr,
                 "clbake check: %s: %s: not checked, because its programs serve only after 'clbake prove' on the "
                 "device\n",
                 cli.file().c_str(), printable(outcome.left_out.back()).c_str());
  }
  if (devices.empty() && outcome.unknown.empty() && outcome.left_out.empty()) {
    throw Failure(cli.file() + ": no programs in it, and so no target to check");
  }
  return devices;
}

}  // namespace

int check(const std::vector<std::string>& arguments) {
  Cli cli("check FILE --shapes FILE [OPTIONS]",
          "Says whether a bundle serves all problems of a file, and its programs of the application's own, on all of "
          "its targets, or on those that are named, and lists what is missing and why. Exit status: 0, all are served; "
          "3, some are not, or a target is unknown. Needs no OpenCL device, unless --device is given.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  CheckOutcome outcome;
  outcome.file = cli.file();
  outcome.requirements = requirements_of(cli.text("require"));
  outcome.requirements.newer_driver = cli.has("newer-driver");
  const std::string junit = behind_links(cli.text("junit"));
  need(check_not_input(junit, {outcome.file, cli.text("shapes")}), "--junit");
  const Bundle bundle = need(Bundle::open(outcome.file));
  if (cli.has("shapes")) outcome.shapes = shapes_asked_for(cli, {bundle}, &outcome.filled_in);
  outcome.devices = need(builder::release::check(bundle, devices_of(cli, bundle, outcome), outcome.shapes,
                                                 outcome.requirements.newer_driver),
                         outcome.file);
  if (!cli.has("shapes") && outcome.programs() == 0) {
    throw UsageError("the option '--shapes' is required but missing");
  }
  if (cli.has("junit")) need(write_text(junit, check_junit(outcome)));
  if (cli.has("json")) {
    print(check_json(outcome, cli.has("all")));
  } else {
    print_check(outcome, cli.has("all"));
  }
  print_unknown("check", outcome.file, bundle, outcome.unknown);
  return outcome.good() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
