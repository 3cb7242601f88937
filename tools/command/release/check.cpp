#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/printable.hpp"
#include "command/release/check_output.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

void declare_options(Cli& cli) {
  cli.add_value("shapes", "FILE",
                "the problems, one on each line: [PRECISION] [TRANSPOSES] MxNxK [batch N] [weight W]; may be missing "
                "where the bundle has programs of the application's own, which are always checked");
  add_kinds(cli, "; for lines that name none; default: all that the bundle has");
  cli.add_value("require", "LIST",
                "what each problem needs, separated by commas: baked, a program of the bundle (the default); native, "
                "machine code; proven; jit-free; any, where compiling from the bundle's source is enough");
  add_targets(cli, "; default: all that have programs, but those that have to be proven on the device first");
  cli.add_device(": a device of this machine instead of, or beside, --target");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("all", "also list what serves each problem on each target");
  cli.add_json();
  cli.add_value("junit", "FILE", "also write the result as JUnit's XML, which CI systems show");
}

Result<std::vector<builder::ServedDevice>> devices_of(const Cli& cli, const Bundle& bundle, CheckOutcome& outcome) {
  std::vector<builder::ServedDevice> devices;
  if (cli.has("device")) {
    const Result<std::vector<builder::Device>> selected = selected_devices(cli.text("device"));
    if (!selected) return selected.status();
    for (const builder::Device& device : *selected) devices.push_back(builder::served_device(device));
    if (!cli.has("target")) return devices;
  }
  const Result<std::vector<std::uint32_t>> targets = targets_asked_for(cli, bundle, outcome.unknown);
  if (!targets) return targets.status().within(cli.file());
  for (const std::uint32_t index : *targets) {
    const Result<Target> target = bundle.target(index);
    if (!target) return target.status().within(cli.file());
    if (!cli.has("target") && builder::awaits_proof(*target)) {
      outcome.left_out.push_back(builder::target_name(*target));
    } else {
      devices.push_back(builder::served_device(*target));
    }
  }
  return devices;
}

Status write_junit(const std::string& path, const CheckOutcome& outcome) {
  const std::string text = check_junit(outcome);
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

int check(const std::vector<std::string>& arguments) {
  Cli cli(
      "check FILE --shapes FILE [OPTIONS]",
      "Says whether a bundle serves all problems of a file, and its programs of the application's own, on all of its\n"
      "targets, or on those that are named, and lists what is missing and why. Exit status: 0, all are served; 3, some "
      "are not, or a target is unknown. Needs "
      "no\nOpenCL device, unless --device is given.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  CheckOutcome outcome;
  outcome.file = cli.file();
  outcome.requirements = requirements_of(cli.text("require"));
  outcome.requirements.newer_driver = cli.has("newer-driver");
  const std::string junit = behind_links(cli.text("junit"));
  const Status writable = check_not_input(junit, {outcome.file, cli.text("shapes")});
  if (!writable) return fail("check", writable.within("--junit"));
  const Result<Bundle> bundle = Bundle::open(outcome.file);
  if (!bundle) return fail("check", bundle.status());
  if (cli.has("shapes")) {
    Result<std::vector<builder::Shape>> shapes = shapes_asked_for(cli, *bundle, &outcome.filled_in);
    if (!shapes) return fail("check", shapes.status());
    outcome.shapes = std::move(*shapes);
  }
  const Result<std::vector<builder::ServedDevice>> devices = devices_of(cli, *bundle, outcome);
  if (!devices) return fail("check", devices.status());
  for (const std::string& name : outcome.left_out) {
    std::fprintf(
        stderr,
        "clbake check: %s: %s: not checked, because its programs serve only after 'clbake prove' on the device\n",
        outcome.file.c_str(), printable(name).c_str());
  }
  if (devices->empty() && outcome.unknown.empty() && outcome.left_out.empty()) {
    return fail("clbake check: " + outcome.file + ": no programs in it, and so no target to check");
  }
  Result<std::vector<builder::CheckedDevice>> checked =
      builder::check(*bundle, *devices, outcome.shapes, outcome.requirements.newer_driver);
  if (!checked) return fail("check", checked.status().within(outcome.file));
  outcome.devices = std::move(*checked);
  if (!cli.has("shapes") && outcome.programs() == 0) {
    throw UsageError("the option '--shapes' is required but missing");
  }

  if (cli.has("junit")) {
    const Status written = write_junit(junit, outcome);
    if (!written) return fail("check", written);
  }
  if (cli.has("json")) {
    print(check_json(outcome, cli.has("all")));
  } else {
    print_check(outcome, cli.has("all"));
  }
  print_unknown("check", outcome.file, *bundle, outcome.unknown);
  return outcome.good() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
