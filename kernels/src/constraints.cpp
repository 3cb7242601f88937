#include <clbake/kernels/constraints.hpp>

#include "requirements.hpp"

#include <algorithm>

namespace clbake::kernels {

namespace {

using std::to_string;

// Limits that no device reports. CONSTRAINTS.md explains them.
constexpr std::uint32_t max_factor = 32768;                    // elements
constexpr std::uint32_t max_split = 64;                        // slices
constexpr std::uint32_t max_buffers = 8;                       // pairs of tiles
constexpr std::uint32_t max_shares = 16;                       // groups of work-items of a tile
constexpr std::uint64_t max_vector_accumulator_bytes = 2048;   // register_tile: 32 registers of 64 bytes
constexpr std::uint64_t max_item_accumulator_bytes = 512;      // other families: half of 255 registers of 4 bytes
constexpr std::uint64_t max_group_accumulator_bytes = 262144;  // all registers of a GPU's multiprocessor
constexpr std::uint64_t max_unrolled = 2048;                   // stripe: vector multiply-adds
constexpr std::uint64_t sm_90_local_memory = 232416;           // NVIDIA reports less than sm_90 has
constexpr std::uint64_t max_work_group = 1024;                 // work-items, as GPUs have
constexpr std::uint64_t pack_items = 256;                      // PACK_ITEMS of pack.cl
constexpr std::uint64_t reduce_items = 64;                     // REDUCE_ITEMS of reduce.cl

// True if local memory holds pairs of elements, which matrix units multiply: PAIRED of tile_loads.cl.
bool has_pairs(const Params& p) { return p.map == Map::mma; }

// Elements of a texel: TEXEL of published/pack_image.cl.
constexpr std::uint32_t texel(Precision p) { return p == Precision::double_precision ? 2 : 4; }

// Checks one Params; each method is a group of constraints. Without a list of violations it stops at the first one and
// makes no text.
class Checker {
 public:
  Checker(const Params& params, const DeviceLimits& device, std::vector<Violation>* violations)
      : p_(params), device_(device), requirements_{params, device, violations} {}

  bool run() {
    // The other constraints divide by the factors, so factors must be in range first.
    if (!(range() && options())) return false;
    const bool basic =
        all({&Checker::precision, &Checker::vector_width, &Checker::divisibility, &Checker::family, &Checker::image,
             &Checker::front_end, &Checker::registers, &Checker::private_memory, &Checker::unrolling});
    return basic && all({&Checker::work_group, &Checker::group_registers, &Checker::local_memory, &Checker::exchange});
  }

 private:
  using Group = bool (Checker::*)();
  bool all(std::initializer_list<Group> groups) {
    bool holds = true;
    for (const Group group : groups) {
      holds = (this->*group)() && holds;
      if (!holds && !requirements_.violations) return false;
    }
    return holds;
  }

  template <typename Reason>
  bool require(bool holds, std::string_view constraint, const Reason& reason) {
    return requirements_.require(holds, constraint, reason);
  }

  bool in_range(const char* factor, std::uint32_t value, std::uint32_t limit = max_factor) {
    return require(value >= 1 && value <= limit, "range", [&] {
      return std::string(factor) + " is " + to_string(value) + ", outside 1 to " + to_string(limit);
    });
  }

  bool padding() {
    return require(p_.padding <= max_factor, "range",
                   [&] { return "padding is " + to_string(p_.padding) + ", outside 0 to " + to_string(max_factor); });
  }

  bool range() {
    const bool factors[] = {in_range("ml", p_.ml),
                            in_range("nl", p_.nl),
                            in_range("kl", p_.kl),
                            in_range("ms", p_.ms),
                            in_range("ns", p_.ns),
                            in_range("ks", p_.ks),
                            in_range("vector_width", p_.vector_width),
                            in_range("split_k", std::max(p_.split_k, 1U), max_split),
                            in_range("buffers", p_.buffers, max_buffers),
                            in_range("shares", p_.shares, max_shares),
                            in_range("load_width", p_.load_width, 16),
                            in_range("fragments", p_.fragments, 2)};
    bool holds = padding();
    for (const bool factor : factors) holds = holds && factor;
    return holds;
  }

  // A parameter that the family lacks keeps its standard value, so that a kernel has only one name.
  bool options() {
    static const Params standard;
    bool holds = true;
    for (const Parameter& parameter : parameters()) {
      if (parameter.of(p_.family)) continue;
      const std::uint32_t value = parameter.get(p_);
      holds = require(value == parameter.get(standard), "family",
                      [&] {
                        return std::string(parameter.name) + " is " + to_string(value) + ", but " +
                               std::string(name(p_.family)) +
                               " has no such parameter: " + to_string(parameter.get(standard));
                      }) &&
              holds;
    }
    return holds;
  }

  bool precision() {
    return require(p_.precision != Precision::double_precision || device_.fp64, "precision",
                   [] { return "double precision needs cl_khr_fp64, which the device lacks"; });
  }

  bool vector_of(const char* what, std::uint32_t w) {
    return require(w == 1 || w == 2 || w == 4 || w == 8 || w == 16, "vector-width", [&] {
      return std::string(what) + " is " + to_string(w) + ", OpenCL C has vectors of 1, 2, 4, 8 and 16 elements";
    });
  }

  bool vector_width() {
    const bool width = vector_of("vector_width", p_.vector_width);
    return vector_of("load_width", p_.load_width) && width;
  }

  bool multiple(const char* whole_name, std::uint64_t whole, const char* part_name, std::uint64_t part) {
    return require(whole % part == 0, "divisibility", [&] {
      return std::string(whole_name) + " is " + to_string(whole) + ", not a multiple of " + part_name + " = " +
             to_string(part);
    });
  }

  bool divisibility() {
    bool holds = multiple("ml", p_.ml, "ms", p_.ms);
    holds = multiple("nl", p_.nl, "ns", p_.ns) && holds;
    holds = multiple("ns", p_.ns, "vector_width", p_.vector_width) && holds;
    holds = halves("shares", p_.shares) && holds;
    if (p_.family == Family::local_tile) return local_tile_divisibility() && holds;
    const char* steps = p_.shares == 1 ? "ks" : "ks * shares";
    return multiple("kl", p_.kl, steps, shares_k(p_.family) ? 1 : p_.ks * p_.shares) && holds;
  }

  // Rows of tiles are read as vectors from local memory, and loads from global memory stay inside a line of a tile
  // however the operand is stored.
  bool local_tile_divisibility() {
    bool holds = multiple("padding", p_.padding, "vector_width", p_.vector_width);
    holds = multiple("ml", p_.ml, "load_width", p_.load_width) && holds;
    holds = multiple("nl", p_.nl, "load_width", p_.load_width) && holds;
    holds = multiple("kl", p_.kl, "load_width", p_.load_width) && holds;
    return multiple("kl", p_.kl, "shares", p_.shares) && holds;
  }

  bool family() {
    const bool can_cut = require(p_.split_k > 0 || cuts_tail(p_.family), "family", [&] {
      return "split_k is 0, but " + std::string(name(p_.family)) + " cannot cut its last tiles alone";
    });
    return parameters_of_family() && can_cut;
  }

  bool parameters_of_family() {
    if (p_.family == Family::local_tile) return local_tile_family();
    if (p_.family == Family::warp_tile) return warp_tile_holds(requirements_);
    if (p_.family == Family::warpgroup_tile) return warpgroup_tile_holds(requirements_);
    if (p_.family == Family::thin_tile) {
      const bool shared = halves("kl", p_.kl);
      return thin_tile_holds(requirements_) && shared;
    }
    if (p_.family == Family::register_tile) {
      // It updates C once for each block of k. With split-k it updates partial sums, which are reals.
      return require(!has_16_bits(p_.precision) || p_.split_k > 1, "rounding", [&] {
        return std::string("register_tile needs a split_k of at least 2 for ") + name(p_.precision) +
               ": else it would round sums to 16 bits after each block of k";
      });
    }
    if (p_.family == Family::stripe && (p_.local_a || p_.local_b)) return work_group_width();
    if (p_.family != Family::direct) return true;
    const bool shared = halves("kl", p_.kl);
    return require(p_.ns == p_.vector_width, "family",
                   [&] {
                     return "ns is " + to_string(p_.ns) + ", but a work-item of direct computes one vector of " +
                            to_string(p_.vector_width) + " columns";
                   }) &&
           shared;
  }

  bool halves(const char* name, std::uint32_t value) {
    return require((value & (value - 1)) == 0, "family", [&] {
      return std::string(name) + " is " + to_string(value) +
             ", but only a power of two of work-items, warps or groups can share sums";
    });
  }

  // PoCL 3.1 runs the first work-item of such a group twice behind a loop with barriers that has no iterations.
  bool work_group_width() {
    const WorkGroup group = work_group_size(p_);
    return require(group.x >= 2, "work-group-width", [&] {
      return "nl / ns is " + to_string(group.x) +
             ", but must be at least 2: on PoCL work-groups one work-item wide update C twice";
    });
  }

  bool local_tile_family() {
    bool holds = require(p_.layout_a != Layout::image && p_.layout_b != Layout::image, "family",
                         [] { return "a layout is image, but local_tile reads buffers only"; });
    holds = require(p_.buffers <= 2, "family",
                    [&] { return "buffers is " + to_string(p_.buffers) + ", but local_tile has 1 or 2"; }) &&
            holds;
    const WorkGroup group = work_group_size(p_);
    holds = work_group_width() && holds;
    holds = require(p_.map != Map::mma8, "map", [] { return "map mma8 is warp_tile's, local_tile has no such one"; }) &&
            holds;
    if (p_.map != Map::zigzag && p_.map != Map::mma) return holds;
    const std::uint32_t warp_x = p_.map == Map::zigzag ? 8 : 4;
    const std::uint32_t warp_y = 32 / warp_x;
    holds = require(group.x % warp_x == 0 && group.y / p_.shares % warp_y == 0, "map",
                    [&] {
                      return std::string(p_.map == Map::zigzag ? "map zigzag" : "map mma") + " needs blocks of " +
                             to_string(warp_x) + " x " + to_string(warp_y) + " work-items, and the work-group has " +
                             to_string(group.x) + " x " + to_string(group.y / p_.shares);
                    }) &&
            holds;
    return (p_.map == Map::zigzag || pairs_hold(requirements_)) && holds;
  }

  bool image_of(const char* operand, Layout layout, const char* whole_name, std::uint32_t whole) {
    if (layout != Layout::image) return true;
    const std::uint32_t width = texel(p_.precision);
    bool holds = require(device_.images, "image",
                         [&] { return std::string(operand) + " is read from an image, but the device has none"; });
    holds = require(whole % width == 0, "image",
                    [&] {
                      return std::string(whole_name) + " is " + to_string(whole) + ", not a multiple of the " +
                             to_string(width) + " elements of a texel";
                    }) &&
            holds;
    return require(p_.family != Family::stripe || p_.vector_width <= width, "image",
                   [&] {
                     return "vector_width is " + to_string(p_.vector_width) + ", but a texel of " + operand +
                            " has only " + to_string(width) + " elements";
                   }) &&
           holds;
  }

  // A texel is read at a time, so it must belong to one work-group's block, in stripe to one work-item's.
  bool image() {
    const bool item = p_.family == Family::stripe;
    const bool a = image_of("A", p_.layout_a, item ? "ms" : "ml", item ? p_.ms : p_.ml);
    return image_of("B", p_.layout_b, item ? "ns" : "nl", item ? p_.ns : p_.nl) && a;
  }

  bool front_end() {
    if (p_.front_end == FrontEnd::driver) return true;
    const bool ptx = require(device_.ptx > 0, "front-end",
                             [] { return "clang compiles only for NVIDIA's devices, which take PTX"; });
    return require(
               p_.layout_a != Layout::image && p_.layout_b != Layout::image, "front-end",
               [] { return "an operand is read from an image, which clang cannot compile for NVIDIA's devices"; }) &&
           ptx;
  }

  bool registers() {
    const std::uint64_t bytes = std::uint64_t{p_.ms} * p_.ns * real_bytes(p_.precision);
    const std::uint64_t limit =
        p_.family == Family::register_tile ? max_vector_accumulator_bytes : max_item_accumulator_bytes;
    return require(bytes <= limit, "registers", [&] {
      return "ms * ns = " + to_string(p_.ms) + " * " + to_string(p_.ns) + " accumulators take " + to_string(bytes) +
             " bytes of registers, limit " + to_string(limit);
    });
  }

  bool private_memory() {
    if (p_.family != Family::register_tile) return true;
    const std::uint64_t bytes = std::uint64_t{p_.kl} * p_.nl * real_bytes(p_.precision);
    const std::uint64_t limit = device_.private_memory_bytes;
    return require(bytes <= limit, "private-memory", [&] {
      return "the block of op(B), kl * nl = " + to_string(p_.kl) + " * " + to_string(p_.nl) + " elements, takes " +
             to_string(bytes) + " bytes, limit " + to_string(limit);
    });
  }

  // All that a work-item does in KS steps is unrolled, which costs compile time and instruction cache.
  bool unrolling() {
    if (p_.family != Family::stripe) return true;
    const std::uint64_t count = std::uint64_t{p_.ks} * p_.ms * (p_.ns / p_.vector_width);
    return require(count <= max_unrolled, "unrolling", [&] {
      return to_string(p_.ks) + " * " + to_string(p_.ms) + " * " + to_string(p_.ns) + " / " +
             to_string(p_.vector_width) + " = " + to_string(count) + " vector multiply-adds are unrolled, limit " +
             to_string(max_unrolled);
    });
  }

  bool work_group() {
    const WorkGroup group = work_group_size(p_);
    const std::uint64_t items = std::uint64_t{group.x} * group.y;
    const std::uint64_t limit = std::min<std::uint64_t>(device_.max_work_group_size, max_work_group);
    bool holds = require(items <= limit, "work-group-size", [&] {
      return to_string(group.x) + " * " + to_string(group.y) + " = " + to_string(items) + " work-items, limit " +
             to_string(limit);
    });
    const bool packs = p_.layout_a != Layout::row_major || p_.layout_b != Layout::row_major;
    const std::uint64_t most = packs ? pack_items : p_.split_k != 1 ? reduce_items : 1;  // of the other kernels
    holds = require(most <= device_.max_work_group_size, "work-group-size",
                    [&] {
                      return std::string(packs ? "pack" : "reduce") + " kernels have " + to_string(most) +
                             " work-items, limit " + to_string(device_.max_work_group_size);
                    }) &&
            holds;
    const std::uint64_t sizes[2] = {group.x, group.y};
    for (std::size_t i = 0; i < 2; ++i) {
      holds = require(sizes[i] <= device_.max_work_item_sizes[i], "work-item-sizes",
                      [&] {
                        return to_string(sizes[i]) + " work-items in dimension " + to_string(i) + ", limit " +
                               to_string(device_.max_work_item_sizes[i]);
                      }) &&
              holds;
    }
    return holds;
  }

  bool group_registers() {
    const WorkGroup group = work_group_size(p_);
    const std::uint64_t items = std::uint64_t{group.x} * group.y;
    const std::uint64_t bytes = items * p_.ms * p_.ns * real_bytes(p_.precision);
    return require(bytes <= max_group_accumulator_bytes, "registers", [&] {
      return "the " + to_string(p_.ms) + " * " + to_string(p_.ns) + " accumulators of " + to_string(items) +
             " work-items take " + to_string(bytes) + " bytes of registers, limit " +
             to_string(max_group_accumulator_bytes);
    });
  }

  bool local_memory() {
    const std::uint64_t bytes = local_memory_bytes(p_);
    const bool all = device_.warpgroups && (p_.family == Family::warp_tile || p_.family == Family::warpgroup_tile);
    const std::uint64_t limit = all ? sm_90_local_memory : device_.local_memory_bytes;
    return require(bytes <= limit, "local-memory", [&] {
      return "the tiles of A and B take " + to_string(bytes) + " bytes of local memory, limit " + to_string(limit);
    });
  }

  // ms neighbours exchange one element of 32 bits each, in whole sub-groups: 32 work-items on NVIDIA's devices.
  bool exchange() {
    if (!p_.exchange) return true;
    const WorkGroup group = work_group_size(p_);
    bool holds = require(device_.shuffle || device_.ptx > 0, "exchange", [] {
      return "exchange needs cl_khr_subgroups and cl_khr_subgroup_shuffle (not PoCL's), or a device of NVIDIA's; this "
             "is neither";
    });
    holds = require(p_.precision != Precision::double_precision, "exchange",
                    [] { return "exchange moves 32 bits, and double precision has 64"; }) &&
            holds;
    holds = require(p_.map == Map::blocked || p_.map == Map::cyclic, "exchange",
                    [] { return "exchange needs map blocked or cyclic, where neighbours need the same rows"; }) &&
            holds;
    return require(p_.ms <= 16 && (p_.ms & (p_.ms - 1)) == 0 && group.x % p_.ms == 0 && group.x * group.y % 32 == 0,
                   "exchange",
                   [&] {
                     return "exchange needs an ms of 1, 2, 4, 8 or 16 that divides nl / ns, and a multiple of 32 "
                            "work-items, not ms = " +
                            to_string(p_.ms) + " and " + to_string(group.x) + " x " + to_string(group.y);
                   }) &&
           holds;
  }

  const Params& p_;
  const DeviceLimits& device_;
  Requirements requirements_;
};

}  // namespace

std::uint64_t local_memory_bytes(const Params& p) {
  if (p.family == Family::warpgroup_tile) {  // tiles of elements, later the sums in singles; two barriers of 8 bytes
    // Lines along k as they are, lines along rows or columns of C with room for 64 at least: warpgroup_copies.cl.
    const bool a_along_k = p.layout_a == Layout::row_major && !p.trans_a;
    const bool b_along_k = p.layout_b == Layout::row_major && p.trans_b;
    const std::uint64_t lines =
        std::uint64_t{a_along_k ? p.ml : std::max(p.ml, 64U)} + (b_along_k ? p.nl : std::max(p.nl, 64U));
    const std::uint64_t tiles = p.buffers * lines * p.kl * element_bytes(p.precision);
    return std::max(tiles, std::uint64_t{p.ml} * (p.nl + 4) * 4) + 16 * std::uint64_t{p.buffers};
  }
  if (p.family == Family::warp_tile) {
    const std::uint64_t tiles = p.buffers * (std::uint64_t{p.ml} + p.nl) * p.kl;
    return std::max(tiles, p.shares / 2 * std::uint64_t{p.ml} * p.nl) * element_bytes(p.precision);
  }
  const std::uint64_t width = p.vector_width;
  std::uint64_t elements = 0;
  if (p.family == Family::local_tile) {
    const std::uint64_t depth = has_pairs(p) ? p.kl / 2 : p.kl;
    const auto tiles = [&](std::uint64_t row) { return (p.buffers * (depth * row) + width - 1) / width * width; };
    elements = tiles(std::uint64_t{p.ml} + p.padding) + tiles(std::uint64_t{p.nl} + p.padding);
    elements = std::max(elements, p.shares / 2 * std::uint64_t{p.ml} * p.nl);
  } else if (shares_k(p.family)) {
    elements = p.kl / 2 * std::uint64_t{p.ml} * p.nl;
  } else if (p.family == Family::stripe) {
    // stripe.cl aligns each tile to 16 elements.
    const auto tile = [&](std::uint64_t width_of_tile) { return (p.kl * width_of_tile + 15) / 16 * 16; };
    elements = (p.local_a ? tile(p.ml) : 0) + (p.local_b ? tile(p.nl) : 0);
  }
  return elements * real_bytes(p.precision);
}

std::vector<Violation> check(const Params& params, const DeviceLimits& device) {
  std::vector<Violation> violations;
  Checker(params, device, &violations).run();
  return violations;
}

bool admits(const DeviceLimits& device, const Params& params) { return Checker(params, device, nullptr).run(); }

}  // namespace clbake::kernels
