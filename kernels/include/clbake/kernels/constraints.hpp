// Which points of the parameter space a device can run, decided before anything is compiled.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// The properties of a device that limit the space. Units as OpenCL reports them.
struct DeviceLimits {
  bool fp64 = false;
  std::uint64_t max_work_group_size = 1;  // work-items
  std::uint64_t max_work_item_sizes[3] = {1, 1, 1};
  std::uint64_t local_memory_bytes = 0;
  bool images = false;
  // NVIDIA: the newest architecture whose PTX the device takes, 90 for sm_90. 0 on other vendors' devices.
  std::uint32_t ptx = 0;
  bool warpgroups = false;  // NVIDIA: sm_90, whose matrix units take operands of four warps from local memory
  // The CPU has AVX512-VNNI for bytes, AVX512-BF16 for bfloat16, and its compiler is LLVM.
  bool byte_dots = false, bfloat16_dots = false;
  // Private memory that a work-item may take (register_tile), in bytes. No device reports it; CONSTRAINTS.md says why
  // these values.
  std::uint64_t private_memory_bytes = 1048576;
};

// True where `dots` multiply this precision.
bool has_dots(const DeviceLimits& device, Precision precision);

// Sets the limits that follow from the architecture of a device of NVIDIA's: `ptx` as above, not 0.
void set_nvidia_limits(DeviceLimits& limits, std::uint32_t ptx);

// A constraint that a Params breaks on a device.
struct Violation {
  std::string_view constraint;  // a name of CONSTRAINTS.md, for example "local-memory"
  std::string reason;           // the rule, the point's numbers, and the limit
};

// All violated constraints, the most basic first. Empty: the kernel can be built and launched on the device.
std::vector<Violation> check(const Params& params, const DeviceLimits& device);

// check(params, device).empty(), but without making the texts: a fraction of a microsecond.
bool admits(const DeviceLimits& device, const Params& params);

// The list in CONSTRAINTS.md.
std::string constraints_list();

// Bytes of local memory that a work-group of the gemm kernel takes.
std::uint64_t local_memory_bytes(const Params& params);

}  // namespace clbake::kernels
