// The OpenCL devices of this machine.
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/kernels/defaults.hpp>

#include <string>
#include <vector>

namespace clbake::builder {

struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  Target target;
  kernels::DeviceType type = kernels::DeviceType::cpu;
  kernels::DeviceLimits limits;
  std::uint32_t vector_bytes = 0;  // of the device's native float vector
  std::uint32_t compute_units = 0;
};

// "local-memory: the tiles ... take 65536 bytes of local memory, limit 32768"; empty when the device runs the variant.
std::string violation(const kernels::Params& params, const Device& device);

// Every available device with a compiler, in the order of platforms and devices; a SPEC's index refers to this list.
// Fails with no_device when there is no platform or no device; the message names drivers that cannot be loaded.
Result<std::vector<Device>> list_devices();

// The installed OpenCL drivers whose library cannot be loaded: for each its .icd file and the dynamic linker's message.
std::vector<std::string> unloadable_drivers();

// 16 hexadecimal digits that differ for other targets. Two drivers' versions of one device have different ones.
std::string identity(const Target& target);

// Finds `part` in the platform's name, its alias or the device's name; case is ignored.
bool is_named(const Target& target, const std::string& part);

// The devices of `all` that SPEC selects: an index, an identity, or a part of the platform's or the device's name (case
// is ignored; PoCL's platform also goes by "PoCL"); empty selects all. Fails with no_device, listing the devices.
Result<std::vector<Device>> select_devices(const std::vector<Device>& all, const std::string& spec);

// The same for a command that works on one target: the first selected device and those with an equal target. Fails with
// invalid_argument, listing them, when a SPEC that is not empty selects devices of different targets.
Result<std::vector<Device>> select_one_target(const std::vector<Device>& all, const std::string& spec);

// The unit-th, from 0, of this machine's devices whose target equals `target`. Fails with no_device.
Result<Device> device_of(const Target& target, std::size_t unit = 0);

// A context and a queue for one device; copies share them, the last one releases them.
class Session {
 public:
  static Result<Session> open(const Device& device);
  cl_context context() const;
  cl_command_queue queue() const;
  // True where clFinish waits for commands without an event. On Mesa's rusticl 22.3 it returns at once: there an event
  // is needed.
  bool finish_waits() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace clbake::builder
