// `clbake devices` and `clbake targets`: the devices that are here, and those that programs can be compiled for.
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/offline_targets.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

// The devices, and what else `clbake plan` reads of a machine.
void print_machine(const Json& devices, const std::string& name) {
  const builder::fleet::Machine machine = need(builder::fleet::this_machine());
  Json targets = Json::array();
  for (const builder::fleet::Machine::Offline& target : machine.targets) {
    targets.push_back({{"name", target.name}, {"identity", target.identity}, {"fp64", target.fp64}});
  }
  print({{"machine", name.empty() ? machine.name : name}, {"devices", devices}, {"targets", targets}});
}

Json tool_json(const builder::compile::Tool& tool) {
  return {{"name", tool.name}, {"path", tool.path}, {"version", tool.version}, {"package", tool.package}};
}

// "with clang 15.0.6, libclc, ptxas 13.0.88"
std::string with_tools(const builder::compile::OfflineTarget& target) {
  std::string text;
  for (const builder::compile::Tool& tool : target.tools) {
    text += (text.empty() ? "with " : ", ") + tool.name + (tool.version.empty() ? "" : " " + tool.version);
  }
  return text;
}

Json target_json(const builder::compile::OfflineTarget& target) {
  Json tools = Json::array();
  for (const builder::compile::Tool& tool : target.tools) tools.push_back(tool_json(tool));
  return {{"name", target.name},
          {"available", target.obstacle.empty()},
          {"obstacle", target.obstacle.empty() ? Json() : Json(target.obstacle)},
          {"fp64", target.device.limits.fp64},
          {"target", to_json(target.device.target)},
          {"tools", tools}};
}

}  // namespace

int devices(const std::vector<std::string>& arguments) {
  Cli cli("devices [OPTIONS]",
          "Lists every usable OpenCL device with the target identity that a bundle gives it. Its index is a SPEC\n"
          "of --device, and so is its identity, which changes with the driver. What --json prints is also what\n"
          "'clbake plan' needs to know of a machine.");
  cli.add_json();
  cli.add_value("machine", "NAME", "with --json: what schedulers call this machine; default: its host name");
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.has("machine") && !builder::fleet::is_machine_name(cli.text("machine"))) {
    throw UsageError("--machine: '" + cli.text("machine") +
                     "' is no name of letters, digits, dots, dashes and underscores");
  }
  const std::vector<builder::Device> found = need(builder::list_devices());
  for (const std::string& driver : builder::unloadable_drivers()) {
    std::fprintf(stderr, "clbake devices: cannot load the OpenCL driver %s\n", driver.c_str());
  }

  Json list = Json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const builder::Device& device = found[i];
    const Target& t = device.target;
    const char* type = kernels::name(device.type);
    list.push_back({{"index", i},
                    {"identity", builder::identity(t)},
                    {"type", type},
                    {"compute_units", device.compute_units},
                    {"fp64", device.limits.fp64},
                    {"target", to_json(t)}});
    if (cli.has("json")) continue;
    std::printf("%zu  %s (%s, %s)\n", i, t.device_name.c_str(), type,
                counted(device.compute_units, "compute unit").c_str());
    std::printf("   identity      %s\n", builder::identity(t).c_str());
    std::printf("   platform      %s, %s\n", t.platform_name.c_str(), t.platform_version.c_str());
    std::printf("   device        %s, %s\n", t.vendor.c_str(), t.device_version.c_str());
    std::printf("   driver        %s\n", t.driver_version.c_str());
    std::printf("   architecture  %s, %u bits\n", t.architecture.empty() ? "(not reported)" : t.architecture.c_str(),
                t.address_bits);
    if (!t.cpu_features.empty()) std::printf("   CPU features  %s\n", t.cpu_features.c_str());
  }
  if (cli.has("json")) print_machine(list, cli.text("machine"));
  return kSuccess;
}

int targets(const std::vector<std::string>& arguments) {
  Cli cli("targets [OPTIONS]", "Lists the devices that 'build --target' can compile for without having them.");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  Json list = Json::array();
  for (const builder::compile::OfflineTarget& target : need(builder::compile::offline_targets())) {
    list.push_back(target_json(target));
    if (cli.has("json")) continue;
    const std::string how = target.obstacle.empty() ? with_tools(target) : "unavailable: " + target.obstacle;
    std::printf("%-14s %s\n", target.name.c_str(), how.c_str());
  }
  if (cli.has("json")) print({{"targets", list}});
  return kSuccess;
}

}  // namespace clbake::tool
