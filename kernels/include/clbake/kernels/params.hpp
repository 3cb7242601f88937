// The parameter space: every kernel that clbake can generate is one Params. Data only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clbake::kernels {

enum class Precision { single_precision, double_precision };

// Bytes of one element of A, B and C.
constexpr std::uint32_t element_bytes(Precision p) { return p == Precision::single_precision ? 4 : 8; }

// How a kernel organises the work. Each family is one .cl file of the same name.
enum class Family {
  direct,         // any size, one launch, no local memory: small problems
  register_tile,  // each work-item owns a register tile, no local memory, no barriers: CPUs
  local_tile,     // tiles of A and B in local memory, two-dimensional register blocking: GPUs
};

// "direct", "register_tile", "local_tile".
std::string_view name(Family family);

// One point of the space. The blocking factors are named as in the paper by Matsumoto, Nakasato and Sedukhin:
// the suffix l is a work-group's block, s a work-item's.
struct Params {
  Family family = Family::direct;
  Precision precision = Precision::single_precision;
  bool trans_a = false;  // op(A) = A^T: A is stored k x m
  bool trans_b = false;  // op(B) = B^T: B is stored n x k

  std::uint32_t ml = 1;            // rows of C per work-group
  std::uint32_t nl = 1;            // columns of C per work-group
  std::uint32_t kl = 1;            // depth of one k block
  std::uint32_t ms = 1;            // rows of C per work-item (register tile)
  std::uint32_t ns = 1;            // columns of C per work-item (register tile)
  std::uint32_t ks = 1;            // unrolling of the loop over k
  std::uint32_t vector_width = 1;  // elements per vector load, store and accumulator
};

// Unique, short and readable: family, precision, transposes (of A, of B: n or t), blocking factors; for example
// "register_tile-s-nn-60x128x512-6x64x1-v16". A file name, an option value and a bundle's variant name.
std::string name(const Params& params);

// Work-items of a work-group: x along the columns of C, y along its rows. Requires factors that `check` accepts.
struct WorkGroup {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};
WorkGroup work_group_size(const Params& params);

// What of a device limits the space. Units as OpenCL reports them.
struct DeviceLimits {
  bool fp64 = false;
  std::uint64_t max_work_group_size = 1;  // work-items
  std::uint64_t max_work_item_sizes[3] = {1, 1, 1};
  std::uint64_t local_memory_bytes = 0;
};

// A constraint that a Params breaks on a device: the constraint's name and a sentence with the numbers and the limit.
struct Violation {
  std::string_view constraint;  // for example "local-memory"
  std::string reason;
};

// Every violated constraint, most basic first; empty when the kernel can be built and launched on the device.
std::vector<Violation> check(const Params& params, const DeviceLimits& device);

// The variants to bake for a kind of device when nothing was tuned: for each family and transpose one Params. All
// satisfy `check` on any device that has the precision, 32 KiB of local memory and work-groups of 256 work-items.
enum class DeviceKind { cpu, gpu };
std::vector<Params> default_variants(DeviceKind kind, Precision precision);

}  // namespace clbake::kernels
