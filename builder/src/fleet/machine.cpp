#include <clbake/builder/fleet/plan.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/os/program.hpp>

#include "process/target_json.hpp"
#include "process/text_file.hpp"

namespace clbake::builder::fleet {
using namespace compile;
using namespace process;
namespace {

constexpr std::uintmax_t kMostMachineBytes = std::uintmax_t{16} << 20;

bool read_machine(JsonReader& in, const JsonValue& root, Machine& machine) {
  const auto device = [&](const JsonValue& at) {
    Machine::Device& d = machine.devices.emplace_back();
    const auto target = [&](const JsonValue& t) { return read_target(in, t, d.target); };
    return in.member(at, json_field("target", target)) && in.member(at, in.field("compute_units", d.compute_units)) &&
           in.member(at, in.field("fp64", d.fp64));
  };
  const auto offline = [&](const JsonValue& at) {
    Machine::Offline& t = machine.targets.emplace_back();
    return in.member(at, in.field("name", t.name)) && in.member(at, in.field("identity", t.identity)) &&
           in.member(at, in.field("fp64", t.fp64));
  };
  const auto devices = [&](const JsonValue& at) { return in.list(at, device); };
  const auto targets = [&](const JsonValue& at) { return in.list(at, offline); };
  if (!root.json.is_object()) return in.fail(root, "is not an object");
  if (!in.member(root, in.field("machine", machine.name))) return false;
  if (!is_machine_name(machine.name)) {
    return in.fail(root, "machine", "is no name of letters, digits, dots, dashes and underscores");
  }
  return in.member(root, json_field("devices", devices)) && in.member(root, json_field("targets", targets));
}

// 16 hexadecimal digits that differ for other targets, or for compilers of other versions.
std::string compilers_identity(const OfflineTarget& target) {
  std::vector<std::string> parts = {target.name, identity(target.device.target)};
  for (const Tool& tool : target.tools) {
    parts.push_back(tool.name);
    parts.push_back(tool.version);
  }
  return digest(parts);
}

}  // namespace

bool is_machine_name(const std::string& name) {
  constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name[0] != '-' && name.find_first_not_of(kAllowed) == std::string::npos;
}

Result<Machine> this_machine() {
  Machine machine;
  machine.name = os::host_name();
  const Result<std::vector<OfflineTarget>> targets = offline_targets();
  if (!targets) return targets.status();
  for (const OfflineTarget& target : *targets) {
    if (!target.obstacle.empty()) continue;
    machine.targets.push_back({target.name, compilers_identity(target), target.device.limits.fp64});
  }
  const Result<std::vector<Device>> devices = list_devices();
  if (!devices && machine.targets.empty()) return devices.status();
  if (!devices) return machine;
  for (const Device& device : *devices) {
    machine.devices.push_back({device.target, device.compute_units, device.limits.fp64});
  }
  return machine;
}

Result<Machine> read_machine(const std::string& path) {
  return exceptions_to_status([&]() -> Result<Machine> {
    const Result<std::string> text = read_input(path, kMostMachineBytes);
    if (!text) return text.status();
    const Result<Json> json = parse_json(*text);
    if (!json) return json.status().within(input_name(path));
    Machine machine;
    JsonReader in;
    if (!read_machine(in, {*json}, machine)) return {Code::malformed, input_name(path) + ": " + in.failure()};
    return machine;
  });
}

}  // namespace clbake::builder::fleet
