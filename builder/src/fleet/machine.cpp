#include <clbake/builder/fleet/plan.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "process/digest.hpp"
#include "process/json_reader.hpp"
#include "process/text_file.hpp"

#include <unistd.h>

namespace clbake::builder::fleet {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{16} << 20;
constexpr std::size_t kMaxDepth = 8;

class MachineParser {
 public:
  explicit MachineParser(Machine& machine) : machine_(machine) {}
  const std::string& failure() const { return in_.failure(); }

  bool parse(const JsonValue& root) {
    if (!root.json.is_object()) return in_.fail(root, "is not an object");
    const auto device = [this](const JsonValue& at) { return this->device(at); };
    const auto offline = [this](const JsonValue& at) { return this->offline(at); };
    const auto devices = [&](const JsonValue& at) { return in_.list(at, device); };
    const auto targets = [&](const JsonValue& at) { return in_.list(at, offline); };
    return in_.member(root, in_.field("machine", machine_.name)) && in_.member(root, json_field("devices", devices)) &&
           in_.optional_member(root, json_field("targets", targets)) && named(root);
  }

 private:
  bool named(const JsonValue& root) {
    if (is_machine_name(machine_.name)) return true;
    return in_.fail(root, "machine", "is no name of letters, digits, dots, dashes and underscores");
  }

  bool device(const JsonValue& at) {
    Machine::Device d;
    Target& t = d.target;
    const auto target = [&](const JsonValue& in) {
      return in_.object(in, in_.field("platform_name", t.platform_name),
                        in_.field("platform_version", t.platform_version), in_.field("vendor", t.vendor),
                        in_.field("device_name", t.device_name), in_.field("device_version", t.device_version),
                        in_.field("driver_version", t.driver_version), in_.field("architecture", t.architecture),
                        in_.field("address_bits", t.address_bits));
    };
    if (!in_.member(at, json_field("target", target))) return false;
    if (!in_.optional_member(at, in_.field("compute_units", d.compute_units))) return false;
    if (!in_.optional_member(at, in_.field("fp64", d.fp64))) return false;
    machine_.devices.push_back(std::move(d));
    return true;
  }

  bool offline(const JsonValue& at) {
    Machine::Offline target;
    if (!in_.member(at, in_.field("name", target.name))) return false;
    if (!in_.optional_member(at, in_.field("identity", target.identity))) return false;
    if (!in_.optional_member(at, in_.field("fp64", target.fp64))) return false;
    machine_.targets.push_back(std::move(target));
    return true;
  }

  JsonReader in_;
  Machine& machine_;
};

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
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
  machine.name = host_name();
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
    const Result<std::string> text = read_input(path, kMaxBytes);
    if (!text) return text.status();
    const Result<Json> json = parse_json(*text, kMaxDepth);
    if (!json) return json.status().within(input_name(path));
    Machine machine;
    MachineParser parser(machine);
    if (!parser.parse({*json})) return {Code::malformed, input_name(path) + ": " + parser.failure()};
    return machine;
  });
}

}  // namespace clbake::builder::fleet
