// One point of the parameter space: every kernel that clbake can generate is a Params. Data only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clbake::kernels {

// Of A, B and C in memory. Half is computed in single.
enum class Precision { half_precision, single_precision, double_precision };
constexpr Precision all_precisions[] = {Precision::half_precision, Precision::single_precision,
                                        Precision::double_precision};

// Bytes of one element of A, B and C.
constexpr std::uint32_t element_bytes(Precision p) {
  return p == Precision::half_precision ? 2 : p == Precision::single_precision ? 4 : 8;
}
// Bytes of one number in registers and local memory.
constexpr std::uint32_t real_bytes(Precision p) { return p == Precision::double_precision ? 8 : 4; }

// How a kernel organises the work. Each family is one .cl file of the same name.
enum class Family {
  direct,         // any size, one launch, no local memory: small problems
  register_tile,  // each work-item owns a register tile, no local memory, no barriers: CPUs
  local_tile,     // tiles of A and B in local memory, two-dimensional register blocking: GPUs
  stripe,         // the paper's: each operand through local memory or not, from a buffer or an image
};
constexpr Family all_families[] = {Family::direct, Family::register_tile, Family::local_tile, Family::stripe};

// Where a kernel finds an operand: as the caller stored it, or in a zero-padded copy that another kernel makes first.
// kernels/copy.cl has the pictures. The values are those of the macros in kernels/common.cl.
enum class Layout : std::uint32_t { row_major, padded, column_block, row_block, image };

// What makes machine code of the source on NVIDIA's devices: the driver, or clang's NVPTX back end, whose code is at
// times faster. A driver that gets no binary compiles either way.
enum class FrontEnd : std::uint32_t { driver, clang };

// One point of the space. The blocking factors are named as in the paper by Matsumoto, Nakasato and Sedukhin:
// the suffix l is a work-group's block, s a work-item's. KERNELS.md says what each parameter does in each family;
// a parameter that a family does not have keeps its value below.
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

  Layout layout_a = Layout::row_major;
  Layout layout_b = Layout::row_major;
  std::uint32_t split_k = 1;     // slices of k, computed by different work-groups, summed up by a second kernel
  std::uint32_t local_a = 0;     // stripe: 1 = A goes through local memory
  std::uint32_t local_b = 0;     // stripe: 1 = B goes through local memory
  std::uint32_t buffers = 1;     // local_tile: tiles of each operand in local memory, 1 or 2
  std::uint32_t prefetch = 1;    // local_tile: 1 = the next tiles are fetched into registers while one is multiplied
  std::uint32_t load_width = 1;  // local_tile: elements per load from global memory
  std::uint32_t padding = 0;     // local_tile: elements behind each row of a tile, against bank conflicts
  std::uint32_t map = 1;         // local_tile: which elements of the tile a work-item computes
  std::uint32_t fragments = 1;   // local_tile: 2 = the next step's operands are read while one is multiplied

  FrontEnd front_end = FrontEnd::driver;

  bool operator==(const Params& other) const;
};

// "direct", "register_tile", "local_tile", "stripe".
std::string_view name(Family family);

// Unique, short and readable: family, precision, transposes (of A, of B: n or t), blocking factors, vector width, then
// the parameters that differ from the standard; for example "register_tile-s-nn-60x128x512-6x64x1-v16" and
// "stripe-d-tn-64x16x16-4x4x2-v2-acbl-bcbl-localb1". A file name, an option value and a bundle's variant name.
std::string name(const Params& params);

// The reverse of name(params). On failure a sentence that names the part that cannot be read.
std::variant<Params, std::string> parse(std::string_view name);

// Work-items of a work-group: x along the columns of C, y along its rows. Requires factors that `check` accepts.
struct WorkGroup {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};
WorkGroup work_group_size(const Params& params);

// A numeric parameter or a named choice of Params, described once for names, build options, constraints and tables.
struct Parameter {
  std::string_view name;                // of the field: "split_k"
  std::string_view macro;               // in the kernels: "SPLIT_K"; empty: the source is the same
  std::string_view tag;                 // in name(Params): "split" as in "-split4"
  std::string_view meaning;             // a few words, with the unit
  std::vector<std::string_view> words;  // of the values 0, 1, ...; empty when the value is a number
  std::uint32_t families;               // bit 1 << Family for each family that has it
  std::uint32_t (*get)(const Params&);
  void (*set)(Params&, std::uint32_t);
  // In name(Params) only where it differs from the standard. Without tag or words it always is there, at its place.
  bool optional() const { return !tag.empty() || !words.empty(); }
  bool of(Family family) const { return (families >> static_cast<unsigned>(family) & 1U) != 0; }
};

// All of them, blocking factors first, in the order of name(Params).
const std::vector<Parameter>& parameters();

}  // namespace clbake::kernels
