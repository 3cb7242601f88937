// The constraints as tables: each has a name, the families that it is about, a rule in words and what tells whether a
// point obeys it. CONSTRAINTS.md lists them and says where limits that no device reports come from.
#include <clbake/kernels/constraints.hpp>

#include "traits.hpp"

#include <algorithm>

namespace clbake::kernels {

namespace {

using std::to_string;

constexpr std::uint64_t sm_90_local_memory = 232416;  // NVIDIA reports less than sm_90 has
constexpr std::uint64_t max_work_group = 1024;        // work-items, as GPUs have
constexpr std::uint64_t pack_items = 256;             // PACK_ITEMS of pack.cl
constexpr std::uint64_t reduce_items = 64;            // REDUCE_ITEMS of reduce.cl

// Registers of an NVIDIA multiprocessor, and those that a work-item needs beside its sums and operands.
constexpr std::uint32_t all_registers = 65536;
constexpr std::uint32_t max_registers = 256;  // of a work-item
constexpr std::uint32_t thin_more_registers = 40;
constexpr std::uint32_t warp_more_registers = 32;
constexpr std::uint32_t warpgroup_more_registers = 32;  // measured: 128 x 256 fits, 192 x 256 not

constexpr std::uint32_t pairs_depth = 16;  // steps of k that map mma of local_tile multiplies at once

// The point, the device, and what follows from both.
struct Case {
  const Params& p;
  const DeviceLimits& device;
  WorkGroup group{};
  std::uint64_t items = 0;  // of the work-group
};

struct Amount {
  std::uint64_t wanted, limit;
};
Amount at_most(std::uint64_t wanted, std::uint64_t limit) { return {wanted, limit}; }

struct Constraint {
  std::string_view name;
  std::uint32_t families;
  std::string_view rule;                    // in CONSTRAINTS.md, and the beginning of a reason
  std::string_view shown;                   // parameters whose values belong to the reason
  bool (*holds)(const Case&);               // null: what counts is the amount
  Amount (*amount)(const Case&) = nullptr;  // holds if no more is wanted than the limit
};

constexpr std::uint32_t bit(Family family) { return 1U << static_cast<unsigned>(family); }
constexpr std::uint32_t every = (1U << std::size(all_families)) - 1;
constexpr std::uint32_t direct = bit(Family::direct), register_tile = bit(Family::register_tile),
                        local_tile = bit(Family::local_tile), thin_tile = bit(Family::thin_tile),
                        warp_tile = bit(Family::warp_tile), warpgroup_tile = bit(Family::warpgroup_tile),
                        stripe = bit(Family::stripe), weight_tile = bit(Family::weight_tile);

bool is_power(std::uint32_t x) { return (x & (x - 1)) == 0; }
bool is_width(std::uint32_t w) { return is_power(w) && w <= 16; }
bool has_image(const Params& p) { return p.layout_a == Layout::image || p.layout_b == Layout::image; }
bool reads_rows(const Case& c) { return std::max(c.p.layout_a, c.p.layout_b) <= Layout::padded; }
bool has_k_major(const Params& p) { return p.layout_a == Layout::k_major || p.layout_b == Layout::k_major; }
// Elements of a texel: TEXEL of published/pack_image.cl.
std::uint32_t texel(const Params& p) { return p.precision == Precision::double_precision ? 2 : 4; }

std::uint64_t item_bytes(const Params& p) { return std::uint64_t{p.ms} * p.ns * real_bytes(p.precision); }

// The columns of a warp of thin_tile are the long side, or its rows.
bool has_long_columns(const Params& p) { return p.nl == 8 * p.ns && p.ml == 4 * p.ms; }
bool is_thin(const Params& p) {
  const bool columns = has_long_columns(p);
  const std::uint32_t lines = columns ? p.ns : p.ms, thin = columns ? p.ml : p.nl;
  return (columns || (p.ml == 8 * p.ms && p.nl == 4 * p.ns)) && (lines == 2 || lines == 4 || lines == 8) &&
         thin % 8 == 0 && p.vector_width == (columns ? lines : 2);
}

bool is_narrow(const Params& p) { return p.ml <= 32 || p.nl == 32; }
bool is_warpgroup_tile(const Params& p) {
  if (reads_weights(p)) {
    const bool rows = (p.ml == 16 && a_is_along_k(p)) || p.ml == 32 || (p.ml % 64 == 0 && p.ml <= 256);
    return rows && p.nl % 64 == 0 && p.nl <= 256 && p.kl == 128;
  }
  const auto is_small = [](std::uint32_t side) { return side == 32 || side == 64; };
  const bool columns = p.nl % 64 == 0 || (p.nl % 32 == 0 && p.nl > 128 && p.tensor_copies && !has_bytes(p));
  const bool fits = is_narrow(p) ? is_small(p.ml) && is_small(p.nl) : p.ml % 64 == 0 && columns && p.nl <= 256;
  const std::uint32_t depth = p.kl * operand_bytes(p);
  return fits && (depth == 128 || depth == 256);
}

// For each of `items` work-items, in whole blocks of 8.
std::uint64_t registers(std::uint64_t items, std::uint32_t most = max_registers) {
  return std::min<std::uint64_t>(all_registers / items / 8 * 8, most);
}

// Work-items of the largest kernel beside gemm.
std::uint64_t other_items(const Params& p) {
  const bool packs = p.layout_a != Layout::row_major || p.layout_b != Layout::row_major;
  return packs ? pack_items : p.split_k != 1 ? reduce_items : 1;
}

bool takes_sm_90_memory(const Case& c) {
  return c.device.warpgroups && (c.p.family == Family::warp_tile || c.p.family == Family::warpgroup_tile ||
                                 has_matrix_weights(c.p) || has_ring(c.p));
}

// Rules about the parameters alone, or with what the device has.
const Constraint kFirst[] = {
    {"precision", every, "double precision needs cl_khr_fp64", "",
     [](const Case& c) { return c.p.precision != Precision::double_precision || c.device.fp64; }},
    {"precision", every & ~weight_tile, "a product of bytes takes direct, register_tile, local_tile or warpgroup_tile",
     "", [](const Case& c) { return !has_bytes(c.p) || multiplies_bytes(c.p.family); }},
    {"precision", every & ~weight_tile,
     "packed weights, not transposed, are packed for a C of A's type, or take weight_tile, or warpgroup_tile without "
     "tensor copies for such a C",
     "layout_b",
     [](const Case& c) {
       const bool unpacks = c.p.family == Family::warpgroup_tile && !c.p.tensor_copies;
       const bool packed = c.p.layout_b == Layout::row_major ? unpacks : c.p.layout_b != Layout::image;
       return !has_weights(c.p.precision) ||
              (packed && !c.p.trans_b && element_a(c.p.precision) == element_c(c.p.precision));
     }},
    {"precision", weight_tile, "weight_tile multiplies packed weights only, not transposed", "",
     [](const Case& c) { return has_weights(c.p.precision) && !c.p.trans_b; }},
    {"precision", local_tile, "a product of bytes is not packed, exchanged or multiplied by pairs",
     "layout_a layout_b map exchange",
     [](const Case& c) {
       const bool plain = c.p.layout_a == Layout::row_major && c.p.layout_b == Layout::row_major;
       return !has_bytes(c.p) || (plain && !has_pairs(c.p) && !c.p.exchange);
     }},
    {"dots", register_tile,
     "dots multiply bytes of integers or bfloat16, in a driver that compiles with LLVM for x86 CPUs with AVX512-VNNI "
     "or AVX512-BF16, in vectors of 16, and a kl that is a multiple of 4 * ks",
     "vector_width kl ks",
     [](const Case& c) {
       return !c.p.dots || (has_dots(c.device, c.p.precision) && c.p.vector_width == 16 && c.p.kl % (4 * c.p.ks) == 0);
     }},
    {"lines", register_tile,
     "lines are multiplied in one type, by whole vectors: vector_width > 1, ns >= 8, kl >= 2 * vector_width",
     "vector_width ns kl",
     [](const Case& c) {
       return !c.p.lines ||
              (!is_mixed(c.p.precision) && c.p.vector_width > 1 && c.p.ns >= 8 && c.p.kl >= 2 * c.p.vector_width);
     }},
    {"vector-width", every, "vector_width must be 1, 2, 4, 8 or 16", "vector_width",
     [](const Case& c) { return is_width(c.p.vector_width); }},
    {"vector-width", local_tile, "load_width must be 1, 2, 4, 8 or 16", "load_width",
     [](const Case& c) { return is_width(c.p.load_width); }},
    {"divisibility", every, "ml must be a multiple of ms", "ml ms", [](const Case& c) { return c.p.ml % c.p.ms == 0; }},
    {"divisibility", every, "nl must be a multiple of ns", "nl ns", [](const Case& c) { return c.p.nl % c.p.ns == 0; }},
    {"divisibility", every, "ns must be a multiple of vector_width", "ns vector_width",
     [](const Case& c) { return c.p.ns % c.p.vector_width == 0; }},
    {"divisibility", register_tile | warp_tile | warpgroup_tile | stripe, "kl must be a multiple of ks * shares",
     "kl ks shares",
     [](const Case& c) { return c.p.family == Family::warpgroup_tile || c.p.kl % (c.p.ks * c.p.shares) == 0; }},
    {"divisibility", local_tile, "padding must be a multiple of vector_width", "padding vector_width",
     [](const Case& c) { return c.p.padding % c.p.vector_width == 0; }},
    {"divisibility", local_tile, "ml, nl and kl must be multiples of load_width", "ml nl kl load_width",
     [](const Case& c) {
       const std::uint32_t width = c.p.load_width;
       return c.p.ml % width == 0 && c.p.nl % width == 0 && c.p.kl % width == 0;
     }},
    {"divisibility", local_tile, "kl must be a multiple of shares", "kl shares",
     [](const Case& c) { return c.p.kl % c.p.shares == 0; }},
    {"family", local_tile | warp_tile, "shares must be a power of two, to add up sums", "shares",
     [](const Case& c) { return is_power(c.p.shares); }},
    {"family", direct | thin_tile | weight_tile, "kl must be a power of two, to add up sums", "kl",
     [](const Case& c) { return is_power(c.p.kl); }},
    {"family", every & ~(local_tile | warp_tile | warpgroup_tile), "split_k must not be 0: the tail cannot be cut",
     "split_k", [](const Case& c) { return c.p.split_k > 0; }},
    {"family", direct, "ns must equal vector_width: a work-item computes one vector of columns", "ns vector_width",
     [](const Case& c) { return c.p.ns == c.p.vector_width; }},
    {"weights", weight_tile, "nl must be a multiple of 16, ms a power of two up to 16, ks a multiple of 128",
     "nl ms ks",
     [](const Case& c) { return c.p.nl % 16 == 0 && is_power(c.p.ms) && c.p.ms <= 16 && c.p.ks % 128 == 0; }},
    {"weights", weight_tile, "map must be cyclic or mma", "map",
     [](const Case& c) { return c.p.map == Map::cyclic || c.p.map == Map::mma; }},
    {"weights", weight_tile, "without mma, ns must be nl with a kl of 1, else vector_width, and ml be ms",
     "ml nl ms ns kl vector_width",
     [](const Case& c) {
       return has_matrix_weights(c.p) ||
              (c.p.kl == 1 ? c.p.ns == c.p.nl : c.p.ns == c.p.vector_width && c.p.ml == c.p.ms);
     }},
    {"weights", weight_tile,
     "map mma needs an A of half or bfloat16, NVIDIA's sm_80 or later, an ml of 8 or 16, ms of ml / 4, nl of 8 * ns or "
     "a multiple, ns of 4 or 8, ks of 128 and vector_width of 4",
     "ml nl ms ns ks vector_width",
     [](const Case& c) {
       const Params& p = c.p;
       return !has_matrix_weights(p) || (bytes_of(element_a(p.precision)) == 2 && c.device.ptx >= 80 &&
                                         (p.ml == 8 || p.ml == 16) && 4 * p.ms == p.ml && (p.ns == 4 || p.ns == 8) &&
                                         p.nl % (8 * p.ns) == 0 && p.ks == 128 && p.vector_width == 4);
     }},
    {"weights", weight_tile, "kl must be at most 128, the least slice of k", "kl",
     [](const Case& c) { return c.p.kl <= 128; }},
    {"family", local_tile, "no layout may be image", "layout_a layout_b",
     [](const Case& c) { return !has_image(c.p); }},
    {"family", every & ~warpgroup_tile, "layout kmajor is warpgroup_tile's", "layout_a layout_b",
     [](const Case& c) { return !has_k_major(c.p); }},
    {"ring", local_tile, "3 to 6 buffers, a ring, need single precision and NVIDIA's sm_80 or later", "buffers",
     [](const Case& c) {
       const bool has_copies = multiplied(c.p) == Precision::single_precision && c.device.ptx >= 80;
       return !has_ring(c.p) || (c.p.buffers <= 6 && has_copies);
     }},
    {"ring", local_tile,
     "a ring needs load_width and vector_width 4, kl as ks, prefetch, no exchange, and operands as stored or padded",
     "load_width vector_width kl ks prefetch exchange layout_a layout_b",
     [](const Case& c) {
       return !has_ring(c.p) || (c.p.load_width == 4 && c.p.vector_width == 4 && c.p.ks == c.p.kl && c.p.prefetch &&
                                 !c.p.exchange && reads_rows(c));
     }},
    {"ring", local_tile,
     "a ring needs powers of two as ml, nl and kl, a kl of 2 * shares to 32, and 4 to 32 elements of each tile for "
     "each work-item",
     "ml nl kl ms ns shares",
     [](const Case& c) {
       const std::uint64_t least = std::uint64_t{c.p.kl} * std::min(c.p.ml, c.p.nl);
       const std::uint64_t most = std::uint64_t{c.p.kl} * std::max(c.p.ml, c.p.nl);
       return !has_ring(c.p) || (is_power(c.p.ml) && is_power(c.p.nl) && is_power(c.p.kl) && c.p.kl >= 2 * c.p.shares &&
                                 c.p.kl <= 32 && least >= 4 * c.items && most <= 32 * c.items);
     }},
    {"work-group-width", local_tile, "nl / ns must be 2 or more", "nl ns",
     [](const Case& c) { return c.group.x >= 2; }},
    {"work-group-width", stripe, "nl / ns must be 2 or more with an operand in local memory", "nl ns",
     [](const Case& c) { return c.group.x >= 2 || !(c.p.local_a || c.p.local_b); }},
    {"map", local_tile, "map mma8 is warp_tile's", "map", [](const Case& c) { return c.p.map != Map::mma8; }},
    {"map", local_tile, "map zigzag needs blocks of 8 x 4 work-items", "nl ns ml ms shares",
     [](const Case& c) { return c.p.map != Map::zigzag || (c.group.x % 8 == 0 && c.group.y / c.p.shares % 4 == 0); }},
    {"map", local_tile, "map mma needs blocks of 4 x 8 work-items", "nl ns ml ms shares",
     [](const Case& c) { return !has_pairs(c.p) || (c.group.x % 4 == 0 && c.group.y / c.p.shares % 8 == 0); }},
    {"map", local_tile,
     "map mma needs a load_width of 2 or more, an even ms, a vector_width of 2, and a multiple of 16 * shares as kl",
     "load_width ms vector_width kl shares",
     [](const Case& c) {
       return !has_pairs(c.p) || (c.p.load_width >= 2 && c.p.ms % 2 == 0 && c.p.vector_width == 2 &&
                                  c.p.kl % (pairs_depth * c.p.shares) == 0);
     }},
    {"map", local_tile, "map mma needs half or bfloat16, and NVIDIA's sm_80 or later", "",
     [](const Case& c) { return !has_pairs(c.p) || (has_16_bits(multiplied(c.p)) && c.device.ptx >= 80); }},
    {"thin", thin_tile, "thin_tile needs half or bfloat16, and NVIDIA's sm_80 or later", "",
     [](const Case& c) { return has_16_bits(multiplied(c.p)) && c.device.ptx >= 80; }},
    {"thin", thin_tile,
     "a warp computes 8 * ns columns by 4 * ms rows in vectors of ns, or 8 * ms rows by 4 * ns columns in vectors "
     "of 2, the factor of 8 being 2, 4 or 8 and the other side a multiple of 8",
     "ml nl ms ns vector_width", [](const Case& c) { return is_thin(c.p); }},
    {"warp", warp_tile, "warp_tile multiplies double precision only", "",
     [](const Case& c) { return c.p.precision == Precision::double_precision; }},
    {"warp", warp_tile, "map must be mma or mma8", "map",
     [](const Case& c) { return c.p.map == Map::mma || c.p.map == Map::mma8; }},
    {"warp", warp_tile, "map mma needs NVIDIA's sm_90 or later, mma8 sm_80", "map",
     [](const Case& c) { return c.device.ptx >= (c.p.map == Map::mma ? 90 : 80); }},
    {"warp", warp_tile, "ml and nl must be powers of two from 16 on, and kl 16 or 32", "ml nl kl",
     [](const Case& c) {
       return is_power(c.p.ml) && is_power(c.p.nl) && c.p.ml >= 16 && c.p.nl >= 16 && (c.p.kl == 16 || c.p.kl == 32);
     }},
    {"warp", warp_tile, "ms must be even, ks 4 or 8, vector_width 2, ml a multiple of 8 * ms, nl of 4 * ns",
     "ms ks vector_width ml nl ns",
     [](const Case& c) {
       return c.p.ms % 2 == 0 && c.p.ml % (8 * c.p.ms) == 0 && c.p.nl % (4 * c.p.ns) == 0 && c.p.vector_width == 2 &&
              (c.p.ks == 4 || c.p.ks == 8);
     }},
    {"warp", warp_tile, "buffers must be 2 to 6", "buffers",
     [](const Case& c) { return c.p.buffers >= 2 && c.p.buffers <= 6; }},
    {"warp", warp_tile, "operands must be read as stored or padded", "layout_a layout_b", reads_rows},
    {"warpgroup", warpgroup_tile, "warpgroup_tile needs half, bfloat16 or bytes, and NVIDIA's sm_90, no other", "",
     [](const Case& c) { return operand_bytes(c.p) <= 2 && c.device.warpgroups; }},
    {"warpgroup", warpgroup_tile,
     "ml and nl must be multiples of 64, nl at most 256, or each 32 or 64, and kl 128 or 256 bytes; with 16 bits and "
     "tensor_copies nl may be 160 or 224; with packed weights kl must be 128, and ml at most 256, 32, or 16 along k",
     "ml nl kl", [](const Case& c) { return is_warpgroup_tile(c.p); }},
    {"warpgroup", warpgroup_tile, "ms must be 2, ns nl / 4, ks 1 and vector_width 8", "ms ns nl ks vector_width",
     [](const Case& c) { return c.p.ms == 2 && 4 * c.p.ns == c.p.nl && c.p.vector_width == 8 && c.p.ks == 1; }},
    {"warpgroup", warpgroup_tile, "shares must be 1, of packed weights at most 3", "shares layout_b",
     [](const Case& c) { return c.p.shares == 1 || (c.p.shares <= 3 && reads_weights(c.p)); }},
    {"warpgroup", warpgroup_tile, "buffers must be 3 or more, and more than shares", "buffers shares",
     [](const Case& c) { return c.p.buffers >= 3 && c.p.buffers > c.p.shares; }},
    {"warpgroup", warpgroup_tile, "tensor_copies need 64 to 256 rows, 64 columns or more, and a kl of 128 bytes",
     "ml nl kl",
     [](const Case& c) {
       return !c.p.tensor_copies || (!is_narrow(c.p) && c.p.ml <= 256 && c.p.kl * operand_bytes(c.p) == 128);
     }},
    {"warpgroup", warpgroup_tile, "operands must be read as stored or padded; bytes along k, as stored or kmajor",
     "layout_a layout_b",
     [](const Case& c) { return has_bytes(c.p) ? a_is_along_k(c.p) && b_is_along_k(c.p) : reads_rows(c); }},
    {"group", direct | register_tile | local_tile,
     "group needs operands as stored, half, bfloat16, single or double, and a split_k of 1",
     "layout_a layout_b split_k",
     [](const Case& c) {
       const bool stored = c.p.layout_a == Layout::row_major && c.p.layout_b == Layout::row_major;
       return !c.p.group || (stored && !is_mixed(c.p.precision) && c.p.split_k == 1);
     }},
    {"image", stripe, "a layout of image needs a device with images", "layout_a layout_b",
     [](const Case& c) { return !has_image(c.p) || c.device.images; }},
    {"image", stripe, "ms of an A (ns of a B) in an image must be whole texels, of 4 elements, of 2 in double",
     "layout_a ms layout_b ns",
     [](const Case& c) {
       return (c.p.layout_a != Layout::image || c.p.ms % texel(c.p) == 0) &&
              (c.p.layout_b != Layout::image || c.p.ns % texel(c.p) == 0);
     }},
    {"image", stripe, "vector_width must not exceed a texel", "vector_width",
     [](const Case& c) { return !has_image(c.p) || c.p.vector_width <= texel(c.p); }},
    {"front-end", every, "clang compiles only for NVIDIA's devices", "",
     [](const Case& c) { return c.p.front_end == FrontEnd::driver || c.device.ptx > 0; }},
    {"front-end", every, "clang cannot compile kernels that read an image", "layout_a layout_b",
     [](const Case& c) { return c.p.front_end == FrontEnd::driver || !has_image(c.p); }},
    {"registers", register_tile | weight_tile, "at most 2048 bytes of accumulators for a work-item, ms * ns reals",
     "ms ns", nullptr, [](const Case& c) { return at_most(item_bytes(c.p), 2048); }},
    {"registers", every & ~(register_tile | weight_tile),
     "at most 512 bytes of accumulators for a work-item, ms * ns reals", "ms ns", nullptr,
     [](const Case& c) { return at_most(item_bytes(c.p), 512); }},
    {"private-memory", register_tile,
     "kl * nl reals of op(B), at least kl * 4 * ms, with dots elements, kl * (64 + ms) of a transposed op(A), 32 sums "
     "for each of ml or nl with lines, and ml * nl where C has 16 or 8 bits and split_k is 1 must fit the private "
     "memory of a work-item",
     "kl nl ml ms split_k", nullptr,
     [](const Case& c) {
       const bool keeps_sums = bytes_of(element_c(c.p.precision)) <= 2 && c.p.split_k == 1;
       const std::uint64_t sums =
           (keeps_sums ? std::uint64_t{4} * c.p.ml * c.p.nl : 0) +
           (c.p.lines ? std::uint64_t{32} * std::max(c.p.ml, c.p.nl) * real_bytes(c.p.precision) : 0);
       // A strip of op(A) takes a quarter at most.
       const std::uint64_t columns = std::max(c.p.nl + (c.p.trans_a ? 64 + c.p.ms : 0), 4 * c.p.ms);
       return at_most(
           sums + columns * c.p.kl * (c.p.dots ? bytes_of(element_b(c.p.precision)) : real_bytes(c.p.precision)),
           c.device.private_memory_bytes);
     }},
    {"private-memory", weight_tile, "ms * ks floats of A and the sums must fit the private memory of a work-item",
     "kl ms ns ks", nullptr,
     [](const Case& c) {
       return at_most(c.p.kl > 1 || has_matrix_weights(c.p) ? 0 : std::uint64_t{4} * c.p.ms * (c.p.ks + 16 + c.p.ns),
                      c.device.private_memory_bytes);
     }},
    // All that a work-item does in KS steps is unrolled, which costs compile time and instruction cache.
    {"unrolling", stripe, "at most 2048 vector multiply-adds may be unrolled: ks * ms * ns / vector_width",
     "ks ms ns vector_width", nullptr,
     [](const Case& c) { return at_most(std::uint64_t{c.p.ks} * c.p.ms * (c.p.ns / c.p.vector_width), 2048); }},
};

// Rules about the work-group of a point that obeys the others.
const Constraint kOfWorkGroup[] = {
    {"work-group-size", every, "a work-group has at most 1024 work-items, and as many as the device takes",
     "nl ns ml ms kl shares", nullptr,
     [](const Case& c) { return at_most(c.items, std::min(c.device.max_work_group_size, max_work_group)); }},
    {"work-group-size", every, "kernels that pack need work-groups of 256, those that reduce of 64", "", nullptr,
     [](const Case& c) { return at_most(other_items(c.p), c.device.max_work_group_size); }},
    {"work-item-sizes", every, "the device limits the work-items in dimension 0", "nl ns kl", nullptr,
     [](const Case& c) { return at_most(c.group.x, c.device.max_work_item_sizes[0]); }},
    {"work-item-sizes", every, "the device limits the work-items in dimension 1", "ml ms shares", nullptr,
     [](const Case& c) { return at_most(c.group.y, c.device.max_work_item_sizes[1]); }},
    {"registers", every, "at most 262144 bytes of accumulators for a work-group", "ms ns", nullptr,
     [](const Case& c) { return at_most(c.items * item_bytes(c.p), 262144); }},
    {"local-memory", every, "the tiles of A and B must fit local memory", "", nullptr,
     [](const Case& c) {
       return at_most(local_memory_bytes(c.p),
                      takes_sm_90_memory(c) ? sm_90_local_memory : c.device.local_memory_bytes);
     }},
    {"thin", thin_tile, "a work-item needs registers for sums, operands and 40 more", "ms ns kl ks", nullptr,
     [](const Case& c) -> Amount {
       const bool columns = has_long_columns(c.p);
       const std::uint32_t lines = columns ? c.p.ns : c.p.ms, thin = columns ? c.p.ml : c.p.nl;
       return {c.p.ms * c.p.ns + c.p.ks * (4 * lines + thin / 2) + thin_more_registers,
               registers(std::uint64_t{32} * c.p.kl)};
     }},
    // The copies of the next block are waited for in one step, and started in another.
    {"warp", warp_tile, "each share needs two steps of a block: a kl of 2 * ks * shares", "kl ks shares", nullptr,
     [](const Case& c) { return at_most(std::uint64_t{2} * c.p.ks * c.p.shares, c.p.kl); }},
    // A search sets `shares` last and tries 1 first, so that the least must hold without the other shares.
    {"warp", warp_tile, "the copies need max(ml, nl) / 2 work-items of a share", "ml nl ms ns", nullptr,
     [](const Case& c) { return at_most(std::max(c.p.ml, c.p.nl) / 2, c.items / c.p.shares); }},
    {"warp", warp_tile, "the copies employ no more than 8 * min(ml, nl) work-items", "ml nl ms ns shares", nullptr,
     [](const Case& c) { return at_most(c.items, std::uint64_t{8} * std::min(c.p.ml, c.p.nl)); }},
    {"warp", warp_tile, "a work-item needs registers for sums, fragments and 32 more", "ms ns ks fragments", nullptr,
     [](const Case& c) -> Amount {
       const std::uint32_t fragments = c.p.fragments * c.p.ks * (2 * c.p.ms + c.p.ns) / 4;
       return {2 * c.p.ms * c.p.ns + fragments + warp_more_registers, registers(c.items)};
     }},
    // wgmma cannot spill its sums.
    {"warpgroup", warpgroup_tile,
     "a work-item needs registers for nl / 2 sums, twice for e4m3 and e5m2, and 32 more; of packed weights for ml / 2 "
     "sums and 48",
     "ml nl", nullptr,
     [](const Case& c) {
       const bool adds_blocks = has_bytes(c.p) && !sums_integers(c.p.precision);
       const std::uint32_t sums = reads_weights(c.p) ? c.p.ml / 2 + 16 : c.p.nl / (adds_blocks ? 1 : 2);
       return at_most(sums + warpgroup_more_registers, registers(c.items, all_registers));
     }},
    {"exchange", local_tile, "exchange needs a device of NVIDIA's", "",
     [](const Case& c) { return !c.p.exchange || c.device.ptx > 0; }},
    {"exchange", local_tile, "exchange moves 32 bits, and double precision has 64", "",
     [](const Case& c) { return !c.p.exchange || c.p.precision != Precision::double_precision; }},
    {"exchange", local_tile, "exchange needs map blocked or cyclic", "map",
     [](const Case& c) { return !c.p.exchange || c.p.map <= Map::cyclic; }},
    {"exchange", local_tile,
     "exchange needs an ms of 1, 2, 4, 8 or 16 that divides nl / ns, and a multiple of 32 work-items", "ms nl ns ml",
     [](const Case& c) { return !c.p.exchange || (is_width(c.p.ms) && c.group.x % c.p.ms == 0 && c.items % 32 == 0); }},
};

constexpr Constraint kRange = {"range", every, "each parameter must be in its range", "", nullptr};
constexpr Constraint kHas = {"family", every, "parameters that the family lacks keep their standard values", "",
                             nullptr};

std::string shown(const Parameter& parameter, const Params& p) {
  const std::uint32_t value = parameter.get(p);
  return std::string(parameter.name) + " = " +
         (value < parameter.words.size() ? std::string(parameter.words[value]) : to_string(value));
}

// The values of the parameters that `c.shown` names.
std::string values(const Constraint& c, const Params& p) {
  std::string text;
  for (const Parameter& parameter : parameters()) {
    const std::string padded = " " + std::string(c.shown) + " ";
    if (padded.find(" " + std::string(parameter.name) + " ") == std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + shown(parameter, p);
  }
  return text;
}

std::string reason(const Constraint& c, const Case& point) {
  std::string text(c.rule);
  const std::string given = values(c, point.p);
  if (c.holds) return text + (given.empty() ? "" : ": " + given);
  const Amount amount = c.amount(point);
  return text + (given.empty() ? "" : " (" + given + ")") + ": " + to_string(amount.wanted) + ", limit " +
         to_string(amount.limit);
}

// Appends what a table's constraints say to `violations`; without a list stops at the first.
template <std::size_t count>
bool check_all(const Constraint (&table)[count], const Case& point, std::vector<Violation>* violations) {
  bool all = true;
  for (const Constraint& c : table) {
    if ((c.families & bit(point.p.family)) == 0) continue;
    const Amount amount = c.holds ? Amount{c.holds(point) ? 0U : 1U, 0} : c.amount(point);
    if (amount.wanted <= amount.limit) continue;
    if (!violations) return false;
    violations->push_back({c.name, reason(c, point)});
    all = false;
  }
  return all;
}

// The others divide by the factors, so factors must be in range first. A parameter that the family lacks keeps its
// standard value, so that a kernel has only one name.
bool check_parameters(const Params& p, std::vector<Violation>* violations) {
  static const Params standard;
  bool all = true;
  for (const Parameter& parameter : parameters()) {
    const std::uint32_t value = parameter.get(p);
    const bool lacks = !parameter.of(p.family) && value != parameter.get(standard);
    if (value >= parameter.least && value <= parameter.most && !lacks) continue;
    if (!violations) return false;
    all = false;
    if (lacks) {
      violations->push_back(
          {kHas.name, std::string(name(p.family)) + " has no such parameter: " + shown(parameter, p)});
    } else {
      violations->push_back({kRange.name, shown(parameter, p) + ", outside " + to_string(parameter.least) + " to " +
                                              to_string(parameter.most)});
    }
  }
  return all;
}

bool check(const Params& params, const DeviceLimits& device, std::vector<Violation>* violations) {
  if (!check_parameters(params, violations)) return false;
  const WorkGroup group = work_group_size(params);
  const Case point{params, device, group, std::uint64_t{group.x} * group.y};
  return check_all(kFirst, point, violations) && check_all(kOfWorkGroup, point, violations);
}

std::string families_of(const Constraint& c) {
  if (c.families == every) return "all";
  if (c.families == (every & ~weight_tile)) return "all but weight_tile";
  if (c.families == (every & ~(register_tile | weight_tile))) return "all others";
  std::string families;
  for (const Family family : all_families) {
    if ((c.families & bit(family)) != 0) families += (families.empty() ? "" : ", ") + std::string(name(family));
  }
  return families;
}

}  // namespace

// A line for each name and its families, with all their rules.
std::string constraints_list() {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const Constraint& c) {
    const std::string head = "- `" + std::string(c.name) + "`, " + families_of(c) + ": ";
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& r) { return r.first == head; });
    if (line == lines.end()) {
      lines.emplace_back(head, c.rule);
    } else {
      line->second.append("; ").append(c.rule);
    }
  };
  add(kRange);
  add(kHas);
  for (const Constraint& c : kFirst) add(c);
  for (const Constraint& c : kOfWorkGroup) add(c);
  std::string list;
  for (const auto& [head, rules] : lines) list += head + rules + "\n";
  return list;
}

bool has_dots(const DeviceLimits& device, Precision precision) {
  return precision == Precision::bfloat16 ? device.bfloat16_dots : sums_integers(precision) && device.byte_dots;
}

void set_nvidia_limits(DeviceLimits& limits, std::uint32_t ptx) {
  limits.ptx = ptx;
  limits.warpgroups = ptx == 90;
  limits.private_memory_bytes = 65536;
}

std::vector<Violation> check(const Params& params, const DeviceLimits& device) {
  std::vector<Violation> violations;
  check(params, device, &violations);
  return violations;
}

bool admits(const DeviceLimits& device, const Params& params) { return check(params, device, nullptr); }

}  // namespace clbake::kernels
