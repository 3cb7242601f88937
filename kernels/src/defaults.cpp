#include <clbake/kernels/defaults.hpp>

#include <string_view>
#include <variant>

namespace clbake::kernels {

namespace {

Params point(std::string_view name, Precision precision) {
  Params p = std::get<Params>(parse(name));
  p.precision = precision;
  return p;
}

Params direct(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  if (type == DeviceType::gpu) return point("direct-s-nn-16x16x1-1x1x4-v1", precision);
  // One vector register wide; six rows hide the latency of the multiply-add. Not unrolled, because the compiler warns
  // that it cannot.
  Params p;
  p.precision = precision;
  p.nl = p.ns = p.vector_width = (vector_bytes >= 64 ? 64 : 32) / real_bytes(precision);
  p.ml = p.ms = 6;
  return p;
}

Params register_tile(Precision precision, std::uint32_t vector_bytes) {
  Params p;
  p.family = Family::register_tile;
  p.precision = precision;
  // 16 or 12 accumulators hide the latency of the multiply-add; AVX2 has only 16 registers. Of NEON's 32, which are
  // half as long, the same tile takes 24. 8 rows of a transposed op(A) never straddle a cache line.
  const bool wide = vector_bytes >= 64;
  p.vector_width = (wide ? 64 : vector_bytes == 16 ? 16 : 32) / real_bytes(precision);
  p.ms = wide ? 8 : 6;
  p.ns = (wide ? 128 : 64) / real_bytes(precision);
  p.ml = wide ? 256 : 252;
  p.nl = 128;
  p.kl = wide ? 512 : 256;
  p.ks = vector_bytes == 32 && !is_mixed(precision) ? 4 : 1;  // 4 to 14 % on Zen 3
  p.lines = !is_mixed(precision);
  return p;
}

// For some dozen columns, or problems with too few large tiles for all cores.
Params narrow_register_tile(Precision precision, std::uint32_t vector_bytes) {
  Params p = register_tile(precision, vector_bytes);
  p.ml = vector_bytes >= 64 ? 128 : 120;
  p.nl = p.ns = vector_bytes >= 64 ? 16 : p.ns;
  p.kl = 512;
  p.lines = false;
  return p;
}

// With AVX512-BF16, and AVX512-VNNI: a large tile packs op(A) and op(B) less often.
Params dots_tile(Precision precision, bool narrow) {
  if (precision == Precision::bfloat16) {
    return point(narrow ? "register_tile-b-nn-128x32x512-8x32x1-v16-dots"
                        : "register_tile-b-nn-256x128x512-8x32x2-v16-dots-lines",
                 precision);
  }
  return point(
      narrow ? "register_tile-iiw-nn-128x64x1024-8x32x1-v16-dots" : "register_tile-iiw-nn-512x256x1024-8x32x1-v16-dots",
      precision);
}

// For few rows or columns, read in long pieces; for large products, with op(A) packed; for a few dozen columns.
std::vector<Params> cpu_specialists(Precision precision, std::uint32_t vector_bytes) {
  const bool wide = real_bytes(precision) == 8;
  Params thin = register_tile(precision, vector_bytes), large = thin;
  const bool keeps_sums = bytes_of(element_c(precision)) <= 2;
  // Rounded up for short vectors: 2048 rows are to be cut into tiles of 512, which begin with a cache line.
  const std::uint32_t longest = keeps_sums ? 256 : 512, up = thin.lines && vector_bytes < 64 ? thin.ms - 1 : 0;
  thin.ml = (longest + up) / thin.ms * thin.ms;
  thin.nl = 512;
  thin.kl = 512 / real_bytes(precision);
  large.ml = keeps_sums ? 252 : 504;
  large.nl = 2048 / real_bytes(precision);
  large.lines = false;
  if (vector_bytes < 64) return {thin, large};
  return {
      thin,
      point(wide ? "register_tile-d-nn-252x256x256-14x16x1-v8" : "register_tile-s-nn-252x512x256-14x32x1-v16",
            precision),
      point(wide ? "register_tile-d-nn-126x32x512-6x32x1-v8" : "register_tile-s-nn-128x32x512-8x32x1-v16", precision)};
}

// For GPUs: work-groups of 128 work-items, on an H200 half as fast again as tiles of 64 x 64.
Params local_tile(Precision precision) {
  return point(precision == Precision::double_precision
                   ? "local_tile-d-nn-64x128x8-8x8x8-v2-load2-padding2-mapzigzag-fragments2"
                   : "local_tile-s-nn-64x128x16-8x8x16-v4-buffers2-load4-padding4-mapzigzag-fragments2",
               precision);
}

// For up to a few hundred rows and columns, where large tiles leave units idle; faster than cuBLAS on an H200.
Params small_local_tile(Precision precision) {
  return point(precision == Precision::double_precision
                   ? "local_tile-d-nn-32x32x16-4x4x16-v2-load2-padding2-mapzigzag-fragments2"
                   : "local_tile-s-nn-32x32x16-4x4x16-v4-buffers2-load4-padding4-mapzigzag-fragments2",
               precision);
}

// For packed weights: a CPU's for any number of rows; a GPU's for few, and one that has them unpacked for more.
std::vector<Params> weight_tiles(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  if (type == DeviceType::gpu) {
    std::vector<Params> points = {point("weight_tile-hqh-nn-8x16x32-8x4x256-v4", precision)};
    if (element_a(precision) == element_c(precision)) {
      points.push_back(local_tile(precision));
      points.back().layout_b = Layout::padded;
    }
    return points;
  }
  Params p = point("weight_tile-hqh-nn-64x64x1-8x64x1024-v16", precision);
  p.vector_width = (vector_bytes >= 64 ? 64 : vector_bytes) / 4;
  Params narrow = p;
  narrow.nl = narrow.ns = 16;  // for so few columns that they are to be dealt out to all cores
  return {p, narrow};
}

// ---- Points at which a search on a GPU starts, in this order ----

// Up to 8 rows or columns. Work-items share a column of op(B), stored as rows (the first five) or columns (the next
// four), or a row of op(A), stored as rows (two) or columns (two).
constexpr std::string_view kDirect[] = {
    "direct-s-nn-1x32x32-1x1x16-v1", "direct-s-nn-2x32x32-2x1x8-v1", "direct-s-nn-4x32x16-4x1x8-v1",
    "direct-s-nn-4x64x16-4x2x8-v2",  "direct-s-nn-8x32x16-8x1x4-v1", "direct-s-nn-1x8x64-1x2x8-v2",
    "direct-s-nn-2x8x32-2x2x8-v2",   "direct-s-nn-4x8x32-4x2x4-v2",  "direct-s-nn-4x16x32-4x4x4-v4",
    "direct-s-nn-8x1x64-2x1x8-v1",   "direct-s-nn-8x4x64-2x4x4-v4",  "direct-s-nn-32x1x32-1x1x16-v1",
    "direct-s-nn-32x4x32-1x4x8-v4"};

// Between the sizes for which the default tiles make as many work-groups as there are units, other tiles do; slices of
// k make more of them, for few rows or columns. Each gained 2 % or more on some class of shapes on an H200.
constexpr std::string_view kTiles[] = {
    "local_tile-s-nn-64x128x16-8x8x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-64x64x16-8x4x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-32x64x16-4x8x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-96x128x16-8x8x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-128x128x16-8x8x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-128x192x16-8x8x16-v4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-64x128x16-8x8x16-v4-split4-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-64x128x16-8x8x16-v4-split16-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-64x64x16-8x8x16-v4-split8-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-32x32x16-4x4x16-v4-split16-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-8x64x32-2x4x8-v4-split8-buffers2-load4-padding4",
    "local_tile-s-nn-16x128x32-4x4x8-v4-split8-buffers2-load4-padding4",
    "local_tile-s-nn-16x128x16-4x4x16-v4-split16-buffers2-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-32x128x16-4x8x16-v4-split8-buffers2-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-32x128x16-4x8x16-v4-split16-buffers2-load4-padding4-mapzigzag-fragments2",
    "local_tile-s-nn-128x16x16-4x2x16-v2-load2-padding2-mapzigzag-fragments2",
    "local_tile-s-nn-128x16x16-4x2x16-v2-split16-load2-padding2-mapzigzag-fragments2"};

// 16 bits on NVIDIA's matrix units.
constexpr std::string_view kPairTiles[] = {"local_tile-h-nn-128x128x32-8x16x16-v2-buffers2-load8-padding4-mapmma",
                                           "local_tile-h-nn-64x128x32-8x8x16-v2-buffers2-load8-padding4-mapmma",
                                           "local_tile-h-nn-64x64x32-4x8x16-v2-buffers2-load8-padding4-mapmma",
                                           "local_tile-h-nn-32x64x32-4x8x16-v2-buffers2-load8-padding4-mapmma",
                                           "local_tile-h-nn-64x64x32-4x8x16-v2-split8-buffers2-load8-padding4-mapmma"};

// Doubles on those before sm_90. The shipped profile has what later ones take, and thin tiles: a search starts from it.
constexpr std::string_view kWarpTiles[] = {"warp_tile-d-nn-64x64x16-4x8x8-v2-buffers3-mapmma8-fragments2",
                                           "warp_tile-d-nn-64x64x16-4x8x4-v2-buffers4-mapmma8-fragments2",
                                           "warp_tile-d-nn-64x16x16-2x4x8-v2-buffers6-mapmma8-fragments2"};

template <std::size_t count>
void append(std::vector<Params>& list, const std::string_view (&names)[count], Precision precision) {
  for (const std::string_view name : names) list.push_back(point(name, precision));
}

std::vector<Params> gpu_specialists(Precision precision) {
  std::vector<Params> list;
  append(list, kDirect, precision);
  if (precision == Precision::double_precision) {
    append(list, kWarpTiles, precision);
    return list;
  }
  if (has_16_bits(precision)) append(list, kPairTiles, precision);
  append(list, kTiles, precision);
  return list;
}

std::vector<Params> with_all_transposes(std::vector<Params> points) {
  std::vector<Params> variants;
  for (Params& p : points) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        p.trans_a = trans_a;
        p.trans_b = trans_b;
        variants.push_back(p);
      }
    }
  }
  return variants;
}

}  // namespace

std::vector<Params> default_variants(DeviceType type, Precision precision, std::uint32_t vector_bytes, bool dots) {
  if (has_weights(precision)) {
    std::vector<Params> variants = weight_tiles(type, precision, vector_bytes);
    for (std::size_t i = 0, count = variants.size(); i < count; ++i) {
      variants.push_back(variants[i]);
      variants.back().trans_a = true;
    }
    return variants;
  }
  std::vector<Params> points = {direct(type, precision, vector_bytes)};
  if (type == DeviceType::cpu && dots) {
    points.push_back(dots_tile(precision, false));
    points.push_back(dots_tile(precision, true));
  } else if (type == DeviceType::cpu) {
    points.push_back(register_tile(precision, vector_bytes));
    points.push_back(narrow_register_tile(precision, vector_bytes));
  } else {
    points.push_back(local_tile(precision));
    points.push_back(small_local_tile(precision));
  }
  return with_all_transposes(points);
}

std::vector<Params> group_variants(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  if (is_mixed(precision)) return {};
  std::vector<Params> points;
  if (type == DeviceType::gpu) {
    points = {local_tile(precision), small_local_tile(precision)};
  } else {
    points = {register_tile(precision, vector_bytes)};
  }
  for (Params& p : points) p.group = true;
  return with_all_transposes(points);
}

std::vector<Params> specialists(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  if (type != DeviceType::cpu) return gpu_specialists(precision);
  return cpu_specialists(precision, vector_bytes);
}

}  // namespace clbake::kernels
