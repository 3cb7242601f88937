// Which points of the space a device can run; known before anything is compiled.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// What of a device limits the space. Units as OpenCL reports them.
struct DeviceLimits {
  bool fp64 = false;
  std::uint64_t max_work_group_size = 1;  // work-items
  std::uint64_t max_work_item_sizes[3] = {1, 1, 1};
  std::uint64_t local_memory_bytes = 0;
  bool images = false;
  // The newest architecture of NVIDIA's intermediate language that it takes, 90 for sm_90; 0: a device of others.
  std::uint32_t ptx = 0;
};

// A constraint that a Params breaks on a device: the constraint's name and a sentence with the numbers and the limit.
struct Violation {
  std::string_view constraint;  // for example "local-memory"
  std::string reason;
};

// Every violated constraint, most basic first; empty when the kernel can be built and launched on the device.
std::vector<Violation> check(const Params& params, const DeviceLimits& device);

// check(params, device).empty(), without the sentences: tens of nanoseconds.
bool admits(const DeviceLimits& device, const Params& params);

// Bytes of local memory that a work-group of the kernel takes.
std::uint64_t local_memory_bytes(const Params& params);

}  // namespace clbake::kernels
