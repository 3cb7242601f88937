// The launches of a product, in their order, as data: the kernel contract (kernels/KERNELS.md) made into steps for one
// problem, variant and device. Calls no OpenCL.
#pragma once

#include <clbake/choice.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace clbake {

// The smallest limit on work-groups in a grid's second and third dimension among known drivers: NVIDIA's.
inline constexpr std::size_t kMaxGroups = 65535;

// The limits of a device that a plan depends on.
struct DeviceLimits {
  std::size_t units = 1;           // compute units
  std::size_t largest_buffer = 0;  // bytes
  std::size_t image_width = 0;     // texels
  std::size_t image_height = 0;
  std::size_t alignment = 1;  // bytes, of parts of a buffer
};

// Elements of a row that one texel of a packed operand holds.
constexpr std::size_t texel_elements(Precision precision) { return precision == Precision::double_precision ? 2 : 4; }

constexpr std::size_t round_up(std::size_t value, std::size_t factor) { return (value + factor - 1) / factor * factor; }

// True when one of the variant's launches has this role.
bool has(const cache::Variant& variant, cache::Role role);

// An argument of a kernel. The memory objects come first, and of these the workspace, in its order in a caller's
// buffer.
enum class Value : std::uint8_t {
  packed_a,  // a buffer or an image
  packed_b,
  partials,  // sums of slices of k
  copy_a,    // a complex product's operands as reals
  copy_b,
  row_terms,  // of zero points
  column_terms,
  a,  // the caller's
  b,
  c,
  bias,             // or null
  d,                // or null
  row_scales,       // or null
  column_scales,    // or null
  offsets,          // of a batch, in elements that the variant computes; or null: strides
  complex_offsets,  // the same in complex elements
  numbers,          // KernelNumbers
  quantization,     // KernelQuantization
  weights,          // group of packed weights, and whether they have zero points
  scalars,          // alpha, beta and the bounds of a clamp
  tail,
  integer,   // KernelArgument::number
  distance,  // the same as a ulong
  sign,      // -1 where the number is not 0, else 1
  first_product,
  a_offset,  // of the caller's matrix, in complex elements
  b_offset,
  c_offset,
  complex_alpha,
  complex_beta,
};
inline constexpr std::size_t kWorkspaceParts = 7;
inline constexpr std::size_t kMemoryObjects = 16;

struct KernelArgument {
  Value value = Value::a;
  std::size_t number = 0;
};

struct PlannedKernel {
  std::string_view name;  // the variant's, or a constant
  std::array<std::size_t, 3> local{};
  std::vector<KernelArgument> arguments;
};

// `Member` in tile.cl: a product of a group that has elements.
struct GroupMember {
  std::uint64_t a, b, c, d;  // elements from the starts of the call's matrices to the product's
  std::int32_t m, n, k;
  std::int32_t lda, ldb, ldc, ldd;
  std::int32_t number;  // in the caller's list
  std::int32_t tile;    // the first one, of all tiles of the group
  std::int32_t unused;
};
static_assert(sizeof(GroupMember) == 72, "no gaps: the kernels' struct has the same members");

// The products of a launch, or how many tiles it has at most for products that are counted on the device.
struct GroupTable {
  std::vector<GroupMember> members;
  std::size_t tiles = 0;
  bool counted = false;
  // A row-major product with a batch of 1, unless its C is empty. d: elements from the start of D to its own.
  void add(const cache::Variant& variant, const Problem& product, const BatchOffsets& at, std::size_t d,
           std::size_t number);
};

// The products of a batch, and the rows of their C, that a step works on.
struct Part {
  std::size_t first_product = 0;
  std::size_t products = 1;
  std::size_t first_row = 0;
  std::size_t rows = 0;
};

// Steps that only some values of beta need.
enum class When : std::uint8_t {
  always,
  beta_is_complex,  // C is multiplied by beta before the product
  beta_is_not_one,  // with alpha or k = 0 and no epilogue: beta = 1 leaves C as it is, also a -0 in it
};

// One kernel launch.
struct Step {
  std::size_t kernel = 0;               // index into LaunchPlan::kernels
  std::array<std::size_t, 3> groups{};  // work-groups of the grid
  Part part;
  Tail tail;  // of the part, if the variant's split_k is 0
  When when = When::always;
};

struct LaunchPlan {
  Problem stated;  // row-major
  Problem real;    // what the variant computes; the same unless that is complex
  const cache::Variant* variant = nullptr;
  // The variant's, in its order; then, of a complex problem, those that copy A, copy B and scale C.
  std::vector<PlannedKernel> kernels;
  DeviceLimits limits;
  Part most;                 // products and rows of one step, at most: what fits the workspace and the grid
  std::size_t padded_m = 0;  // elements of packed operands
  std::size_t padded_n = 0;
  std::size_t padded_k = 0;
  // Bytes of the workspace's buffers, 0 for those that there are not. A packed operand that is an image has none.
  std::array<std::size_t, kWorkspaceParts> bytes{};
  std::vector<Step> steps;  // of a call that reads A and B; of one with k = 0 else
  GroupTable group;         // of a variant for groups

  std::size_t bytes_of(Value part) const { return bytes[static_cast<std::size_t>(part)]; }
  std::size_t workspace_bytes() const;  // of a caller's buffer: each part begins at a multiple of the alignment
};

// `problem` is row-major and possible: check(). `variant` follows the contract, computes the problem (or the
// real_product of a complex one), and outlives the plan. `complex_items`: work-items in a group of the kernels that
// rearrange complex operands. Fails with out_of_memory where the device cannot hold the workspace of one product.
// With a variant for groups, `group` is its table, or null: then the products are those of the problem's batch.
Result<LaunchPlan> plan_launches(const Problem& problem, const cache::Variant& variant, const DeviceLimits& limits,
                                 std::size_t complex_items = 1, const GroupTable* group = nullptr);

// Work-groups that compute an m x n matrix, if k is not cut.
std::size_t tiles_of(const cache::Variant& variant, std::size_t m, std::size_t n);

// Adds the steps of some products of the batch, which share alpha and beta. reads_operands: neither alpha nor k is 0.
void append_steps(const LaunchPlan& plan, std::size_t first_product, std::size_t products, bool reads_operands,
                  std::vector<Step>& steps);

// The reduction of the plan's last step once more, on a grid for so many elements of C: its other work-items do
// nothing. Its groups are 0 where the variant has no reduction of all of C.
Step widened_reduction(const LaunchPlan& plan, std::size_t elements);

}  // namespace clbake
