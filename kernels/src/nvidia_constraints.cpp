// The limits of NVIDIA's devices, and the constraints of the families, and of local_tile's map, that use their matrix
// units.
#include "requirements.hpp"

#include <algorithm>

namespace clbake::kernels {

namespace {

using std::to_string;

// Limits that no device reports. CONSTRAINTS.md explains them.
constexpr std::uint64_t private_memory_bytes = 65536;   // of a work-item
constexpr std::uint32_t all_registers = 65536;          // of a multiprocessor
constexpr std::uint32_t warp_more_registers = 32;       // warp_tile: than sums and fragments
constexpr std::uint32_t thin_more_registers = 40;       // thin_tile: than sums and operands
constexpr std::uint32_t warpgroup_more_registers = 32;  // than sums, measured: 128 x 256 fits, 192 x 256 not

// The instruction that multiplies pairs of elements of 16 bits.
constexpr std::uint32_t pairs_depth = 16;         // steps of k of the instruction
constexpr std::uint32_t pairs_architecture = 80;  // the first that has it

bool reads_rows(const Requirements& r, std::string_view constraint) {
  const auto rows = [](Layout layout) { return layout == Layout::row_major || layout == Layout::padded; };
  return r.require(rows(r.params.layout_a) && rows(r.params.layout_b), constraint, [&] {
    return std::string(name(r.params.family)) + " reads operands as they are stored or padded, in no other layout";
  });
}

}  // namespace

void set_nvidia_limits(DeviceLimits& limits, std::uint32_t ptx) {
  limits.ptx = ptx;
  limits.warpgroups = ptx == 90;
  limits.private_memory_bytes = private_memory_bytes;
}

// A warp's part of C, and what its registers hold.
bool thin_tile_holds(const Requirements& r) {
  const Params& p = r.params;
  bool holds =
      r.require(has_16_bits(p.precision), "thin", [] { return "thin_tile multiplies half and bfloat16 only"; });
  holds = r.require(r.device.ptx >= pairs_architecture, "thin", [] {
    return "thin_tile needs the matrix units that NVIDIA's devices have from sm_80 on";
  }) && holds;
  const bool long_columns = p.nl == 8 * p.ns && p.ml == 4 * p.ms;
  const bool long_rows = p.ml == 8 * p.ms && p.nl == 4 * p.ns;
  const std::uint32_t lines = long_columns ? p.ns : p.ms;
  const std::uint32_t thin = long_columns ? p.ml : p.nl;
  holds = r.require((long_columns || long_rows) && (lines == 2 || lines == 4 || lines == 8) && thin % 8 == 0 &&
                        p.vector_width == (long_columns ? lines : 2),
                    "thin",
                    [&] {
                      return "a warp of thin_tile computes 8 * 2, 4 or 8 columns by a multiple of 8 rows in vectors of "
                             "as many, or 8 * 2, 4 or 8 rows by a multiple of 8 columns in vectors of 2, each "
                             "work-item an eighth and a quarter, not " +
                             to_string(p.ml) + " x " + to_string(p.nl) + " by " + to_string(p.ms) + " x " +
                             to_string(p.ns) + " in vectors of " + to_string(p.vector_width);
                    }) &&
          holds;
  if (!holds) return false;
  // Sums, and for each piece of k the words of both operands.
  const std::uint32_t wanted = p.ms * p.ns + p.ks * (4 * lines + thin / 2) + thin_more_registers;
  const std::uint32_t registers = std::min(all_registers / (32 * p.kl) / 8 * 8, 256U);
  return r.require(registers >= wanted, "thin", [&] {
    return to_string(32 * p.kl) + " work-items leave " + to_string(registers) +
           " registers to each, and sums and operands need " + to_string(wanted);
  });
}

// The shapes that warp_tile's copies and matrix units take.
bool warp_tile_holds(const Requirements& r) {
  const Params& p = r.params;
  bool holds = r.require(p.precision == Precision::double_precision, "warp",
                         [] { return "warp_tile multiplies double precision only"; });
  holds = r.require(p.map == Map::mma || p.map == Map::mma8, "warp", [] {
    return "warp_tile needs map mma or mma8";
  }) && holds;
  const std::uint32_t architecture = p.map == Map::mma ? 90 : 80;
  holds = r.require(r.device.ptx >= architecture, "warp", [&] {
    return std::string(p.map == Map::mma ? "map mma" : "map mma8") +
           " needs the matrix units that NVIDIA's devices have from sm_" + to_string(architecture) + " on";
  }) && holds;
  const auto is_power = [](std::uint32_t x) { return (x & (x - 1)) == 0; };
  holds = r.require(is_power(p.ml) && is_power(p.nl) && p.ml >= 16 && p.nl >= 16 && (p.kl == 16 || p.kl == 32), "warp",
                    [&] {
                      return "warp_tile needs powers of two from 16 on of rows and columns, and kl = 16 or 32, not " +
                             to_string(p.ml) + " x " + to_string(p.nl) + " x " + to_string(p.kl);
                    }) &&
          holds;
  holds = r.require(p.ms % 2 == 0 && p.ml % (8 * p.ms) == 0 && p.nl % (4 * p.ns) == 0 && p.vector_width == 2 &&
                        (p.ks == 4 || p.ks == 8),
                    "warp",
                    [&] {
                      return "warp_tile needs warps of 8 x 4 work-items, an even ms, ks = 4 or 8 and vector_width = "
                             "2, not ms = " +
                             to_string(p.ms) + ", ns = " + to_string(p.ns) + ", ks = " + to_string(p.ks) +
                             " and vector_width = " + to_string(p.vector_width);
                    }) &&
          holds;
  if (!holds) return false;
  // The copies of the next block are waited for in one step, and started in another.
  holds = r.require(p.kl >= 2 * p.ks * p.shares, "warp", [&] {
    return "each share of warp_tile needs two steps of a block, and kl = " + to_string(p.kl) +
           " is less than 2 * ks * shares = " + to_string(2 * p.ks * p.shares);
  });
  holds = r.require(p.buffers >= 2 && p.buffers <= 6, "warp", [&] {
    return "warp_tile needs 2 to 6 buffers, not " + to_string(p.buffers);
  }) && holds;
  const WorkGroup group = work_group_size(p);
  const std::uint32_t items = group.x * group.y;
  const std::uint32_t least = std::max(p.ml, p.nl) / 2;
  const std::uint32_t most = 8 * std::min(p.ml, p.nl);
  // A search sets `shares` last and tries 1 first, so that the least must hold without the other shares.
  holds = r.require(items / p.shares >= least && items <= most, "warp", [&] {
    return "each work-item copies two neighbours of the lines of a tile, so that " + to_string(p.ml) + " x " +
           to_string(p.nl) + " needs " + to_string(least) + " to " + to_string(most) + " work-items, not " +
           to_string(items) + (p.shares == 1 ? "" : " in " + to_string(p.shares) + " shares");
  }) && holds;
  const std::uint32_t registers = all_registers / items / 8 * 8;
  const std::uint32_t wanted = 2 * p.ms * p.ns + p.fragments * p.ks * (2 * p.ms + p.ns) / 4 + warp_more_registers;
  holds = r.require(std::min(registers, 256U) >= wanted, "warp", [&] {
    return to_string(items) + " work-items leave " + to_string(std::min(registers, 256U)) +
           " registers to each, and sums and fragments need " + to_string(wanted);
  }) && holds;
  return reads_rows(r, "warp") && holds;
}

// wgmma, which multiplies 64 rows by up to 256 columns, and its registers.
bool warpgroup_tile_holds(const Requirements& r) {
  const Params& p = r.params;
  bool holds = r.require(r.device.warpgroups, "warpgroup",
                         [] { return "warpgroup_tile needs the matrix units of NVIDIA's sm_90, which no other has"; });
  holds = r.require(has_16_bits(p.precision), "warpgroup", [] {
    return "warpgroup_tile multiplies half and bfloat16 only";
  }) && holds;
  const bool narrow = p.ml == 32 || p.nl == 32;
  const auto is_small = [](std::uint32_t side) { return side == 32 || side == 64; };
  const bool fits = narrow ? is_small(p.ml) && is_small(p.nl) : p.ml % 64 == 0 && p.nl % 64 == 0 && p.nl <= 256;
  holds = r.require(fits && (p.kl == 64 || p.kl == 128), "warpgroup", [&] {
    return "warpgroup_tile needs multiples of 64 rows and columns, up to 256 columns, or 32 x 32, 32 x 64 or 64 x 32, "
           "and kl = 64 or 128, not " +
           to_string(p.ml) + " x " + to_string(p.nl) + " x " + to_string(p.kl);
  }) && holds;
  holds = r.require(p.ms == 2 && 4 * p.ns == p.nl && p.vector_width == 8 && p.ks == 1, "warpgroup", [&] {
    return "warpgroup_tile needs ms = 2, ns = nl / 4, ks = 1 and vector_width = 8, not ms = " + to_string(p.ms) +
           ", ns = " + to_string(p.ns) + ", ks = " + to_string(p.ks) +
           " and vector_width = " + to_string(p.vector_width);
  }) && holds;
  holds = r.require(p.buffers >= 3, "warpgroup", [&] {
    return "warpgroup_tile needs at least 3 buffers, not " + to_string(p.buffers);
  }) && holds;
  holds = r.require(!p.tensor_copies || (!narrow && p.ml <= 256 && p.kl == 64), "warpgroup", [&] {
    return "tensor copies need 64 to 256 rows, 64 columns or more, and kl = 64, not " + to_string(p.ml) + " x " +
           to_string(p.nl) + " x " + to_string(p.kl);
  }) && holds;
  // wgmma cannot spill its sums.
  const std::uint32_t work_items = 2 * std::max(p.ml, 64U) + 128;
  const std::uint32_t registers = all_registers / work_items / 8 * 8;
  holds = r.require(registers >= p.nl / 2 + warpgroup_more_registers, "warpgroup", [&] {
    return to_string(work_items) + " work-items leave " + to_string(registers) + " registers to each, and " +
           to_string(p.nl / 2) + " sums need " + to_string(p.nl / 2 + warpgroup_more_registers);
  }) && holds;
  return reads_rows(r, "warpgroup") && holds;
}

// The shapes that local_tile's map mma multiplies, and the devices that have it.
bool pairs_hold(const Requirements& r) {
  const Params& p = r.params;
  bool holds = r.require(has_16_bits(p.precision), "map",
                         [] { return "map mma of local_tile multiplies half and bfloat16 only"; });
  holds = r.require(p.load_width >= 2, "map", [] {
    return "map mma loads pairs of 16 bits, so that load_width must be at least 2";
  }) && holds;
  holds = r.require(p.vector_width == 2 && p.ms % 2 == 0, "map", [&] {
    return "map mma needs an even ms and vector_width = 2, not ms = " + to_string(p.ms) +
           " and vector_width = " + to_string(p.vector_width);
  }) && holds;
  holds = r.require(p.kl % (pairs_depth * p.shares) == 0, "map", [&] {
    return "map mma multiplies " + to_string(pairs_depth * p.shares) + " steps of k at once, and kl is " +
           to_string(p.kl);
  }) && holds;
  return r.require(r.device.ptx >= pairs_architecture, "map", [] {
    return "map mma needs the matrix units that NVIDIA's devices have from sm_" + to_string(pairs_architecture) + " on";
  }) && holds;
}

}  // namespace clbake::kernels
