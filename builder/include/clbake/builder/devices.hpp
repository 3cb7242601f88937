// The OpenCL devices of this machine, as the builder sees them.
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
  std::uint32_t vector_bytes = 0;  // of the vectors that the driver makes
  std::uint32_t compute_units = 0;
};

// Every available device with a compiler, in the order of platforms and devices; the index in this list is what a
// SPEC counts. Fails with no_device when there is no platform or no device.
Result<std::vector<Device>> list_devices();

// The devices of `all` that SPEC selects: an index, or a part of the platform's or the device's name (case is
// ignored); empty selects all. Fails with no_device, naming the SPEC and the devices there are.
Result<std::vector<Device>> select_devices(const std::vector<Device>& all, const std::string& spec);

// The device of this machine that is the target in every field.
Result<Device> device_of(const Target& target);

// A context and a queue for one device; released when the last copy goes.
class Session {
 public:
  static Result<Session> open(const Device& device);
  cl_context context() const;
  cl_command_queue queue() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace clbake::builder
