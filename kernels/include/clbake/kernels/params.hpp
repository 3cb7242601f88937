// One point of the parameter space. Every kernel that clbake can generate is a Params.
#pragma once

#include <clbake/gemm_kind.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clbake::kernels {

// Bytes of one number in registers and local memory.
constexpr std::uint32_t real_bytes(Precision p) { return p == Precision::double_precision ? 8 : 4; }

// How a kernel organises the work. Each family has a .cl file of the same name, which explains it.
enum class Family {
  direct,          // small problems: one launch, no local memory, no packing
  register_tile,   // CPUs: a register tile in each work-item, no local memory, no barriers
  local_tile,      // GPUs: tiles of A and B in local memory, two-dimensional register blocking
  thin_tile,       // NVIDIA's devices, 16 bits, few rows or columns: matrix units that read straight from global memory
  warp_tile,       // NVIDIA's devices, doubles: matrix units, tiles that asynchronous copies fill early
  warpgroup_tile,  // NVIDIA's sm_90, 16 or 8 bits: matrix units that read local memory, work-items that only load
  stripe,          // the paper's: each operand through local memory or not, from a buffer or an image
  weight_tile,     // packed weights: unpacked in registers, read once for each few rows
};
constexpr Family all_families[] = {Family::direct,    Family::register_tile,  Family::local_tile, Family::thin_tile,
                                   Family::warp_tile, Family::warpgroup_tile, Family::stripe,     Family::weight_tile};

// True where split_k may be 0.
constexpr bool cuts_tail(Family family) {
  return family == Family::local_tile || family == Family::warp_tile || family == Family::warpgroup_tile;
}

// True for the families that have mixed products of bytes (kernels/mixed.cl).
constexpr bool multiplies_bytes(Family family) {
  return family == Family::direct || family == Family::register_tile || family == Family::local_tile ||
         family == Family::warpgroup_tile;
}

// True where kl is the number of work-items (thin_tile: warps) that share elements of C, each with its part of k.
constexpr bool shares_k(Family family) {
  return family == Family::direct || family == Family::thin_tile || family == Family::weight_tile;
}

// Decides which families and tiles are good.
enum class DeviceType { cpu, gpu };
constexpr DeviceType all_device_types[] = {DeviceType::cpu, DeviceType::gpu};

// "cpu", "gpu".
constexpr const char* name(DeviceType type) { return type == DeviceType::cpu ? "cpu" : "gpu"; }

// The form in which a kernel reads an operand: as the caller stored it, or packed and zero-padded by another kernel
// before. kernels/pack.cl has the pictures. The values are those of the macros in kernels/common.cl.
enum class Layout : std::uint32_t { row_major, padded, column_block, row_block, image, k_major };

// Which elements of a work-group's tile of C a work-item computes, in pieces of `vector_width` columns. The pictures
// are in kernels/local_tile.cl and warp_tile.cl. The values are those of their macros.
enum class Map : std::uint32_t {
  blocked,  // the pieces of a work-item are neighbours
  cyclic,   // the pieces are dealt out in turn: neighbouring work-items read neighbouring pieces
  zigzag,   // as cyclic, with the 32 work-items of a warp in a zig-zag of 8 x 4
  mma,      // as cyclic, in warps of 4 x 8 that multiply 16 bits with matrix units; warp_tile: 16 x 8 at once
  mma8,     // warp_tile: 8 x 8 at once, by instructions that earlier devices have, too
};

// The compiler of the source for NVIDIA's devices: the driver, or clang's NVPTX back end, whose code is sometimes
// faster. Without a binary, the driver compiles in both cases.
enum class FrontEnd : std::uint32_t { driver, clang };

// One point of the space. The blocking factors are named as in the paper by Matsumoto, Nakasato and Sedukhin:
// the suffix l is a work-group's block, s a work-item's. each family's .cl file draws what they do there;
// a parameter that a family does not have keeps its value below.
struct Params : GemmKind {
  Family family = Family::direct;

  std::uint32_t ml = 1;            // rows of C per work-group
  std::uint32_t nl = 1;            // columns of C per work-group
  std::uint32_t kl = 1;            // depth of one k block
  std::uint32_t ms = 1;            // rows of C per work-item (register tile)
  std::uint32_t ns = 1;            // columns of C per work-item (register tile)
  std::uint32_t ks = 1;            // unrolling of the loop over k
  std::uint32_t vector_width = 1;  // elements per vector load, store and accumulator

  Layout layout_a = Layout::row_major;
  Layout layout_b = Layout::row_major;
  // Slices of k, each with its own work-groups; a second kernel adds up partial sums. 0: of the tail alone, see
  // KERNELS.md
  std::uint32_t split_k = 1;
  bool local_a = false;          // stripe: A goes through local memory
  bool local_b = false;          // stripe: B goes through local memory
  std::uint32_t buffers = 1;     // tiles of each operand in local memory; local_tile: from 3 on a ring
  bool prefetch = true;          // local_tile: load the next tiles into registers while the current ones are multiplied
  std::uint32_t load_width = 1;  // local_tile: elements per load from global memory
  std::uint32_t padding = 0;     // local_tile: elements behind each row of a tile, against bank conflicts
  Map map = Map::cyclic;         // local_tile: which elements of the tile a work-item computes
  std::uint32_t fragments = 1;   // local_tile: register sets for a step's operands; 2 = read ahead by one step

  bool exchange = false;       // local_tile: neighbours read a step's rows of A once, and exchange them
  bool dots = false;           // register_tile: AVX512-VNNI multiplies bytes, AVX512-BF16 bfloat16
  bool lines = false;          // register_tile: few rows or columns of C have loops of their own
  bool tensor_copies = false;  // warpgroup_tile: aligned operands are copied by tensor copies

  // local_tile, warp_tile: groups of work-items that compute the same of C, each with its steps of a block of k.
  std::uint32_t shares = 1;

  bool group = false;  // direct, register_tile, local_tile: products of different sizes in one launch

  FrontEnd front_end = FrontEnd::driver;

  bool operator==(const Params& other) const;
};

// The precision in which a family multiplies: with packed weights that are unpacked before, the one of A.
inline Precision multiplied(const Params& p) {
  return has_weights(p.precision) ? Precision{static_cast<std::uint32_t>(element_a(p.precision))} : p.precision;
}

// True where the family reads packed weights itself; else they are unpacked before.
inline bool reads_weights(const Params& p) { return has_weights(p.precision) && p.layout_b == Layout::row_major; }

// "direct", "register_tile", "local_tile", "thin_tile", "warp_tile", "warpgroup_tile", "stripe", "weight_tile".
std::string_view name(Family family);

// Unique, short and readable: family, precision (h, b, s or d; for a mixed one three letters, for A, B and C: i int8,
// u uint8, w int32, e e4m3, f e5m2, q q4, v q8, h, b, s), transposes (of A, of B: n or t), blocking factors, vector
// width, then the parameters that differ from the standard; for example "register_tile-s-nn-60x128x512-6x64x1-v16" and
// "stripe-d-tn-64x16x16-4x4x2-v2-acbl-bcbl-blocal". A file name, an option value and a bundle's variant name.
std::string name(const Params& params);

// The reverse of name(params). On failure a message that names the part that cannot be read.
std::variant<Params, std::string> parse(std::string_view name);

// Size of a work-group in work-items, x along the columns of C, y along its rows. Requires params that pass `check`.
struct WorkGroup {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};
WorkGroup work_group_size(const Params& params);

// A field of Params, described once for names, build options, constraints and tables. A value is a count, or the number
// of one of `words`.
struct Parameter {
  std::string_view name;                // of the field: "split_k"
  std::string macro;                    // in the kernels: "SPLIT_K"; empty: the source does not depend on it
  std::string_view tag;                 // in name(Params), before the value: "split" as in "-split4"
  std::string_view meaning;             // a few words, with the unit
  std::vector<std::string_view> words;  // for the values 0, 1, ...; empty for a count
  std::uint32_t least, most;            // of its values; the constraint "range"
  bool is_switch;                       // the field is a bool and the macro 0 or 1; words are those of false and true
  std::uint32_t families;               // bit 1 << Family for each family that has the parameter
  std::uint32_t (*get)(const Params&);
  void (*set)(Params&, std::uint32_t);
  // True if name(Params) shows it only where it differs from the standard. Else it is always shown, in its place.
  bool optional() const { return !tag.empty() || !words.empty(); }
  bool of(Family family) const { return (families >> static_cast<unsigned>(family) & 1U) != 0; }
};

// All of them, blocking factors first, in the order of name(Params).
const std::vector<Parameter>& parameters();

}  // namespace clbake::kernels
