#include <clbake/kernels/defaults.hpp>

#include <utility>

namespace clbake::kernels {

namespace {

Params direct(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  Params p;
  p.family = Family::direct;
  p.precision = precision;
  if (type == DeviceType::cpu) {
    // One vector register wide; six rows hide the latency of the multiply-add. Not unrolled, because the compiler warns
    // that it cannot.
    p.vector_width = (vector_bytes >= 64 ? 64 : 32) / real_bytes(precision);
    p.ml = p.ms = 6;
    p.nl = p.ns = p.vector_width;
  } else {
    p.ml = p.nl = 16;
    p.ks = 4;
  }
  return p;
}

Params register_tile(Precision precision, std::uint32_t vector_bytes) {
  Params p;
  p.family = Family::register_tile;
  p.precision = precision;
  p.split_k = has_16_bits(precision) ? 2 : 1;
  // 16 or 12 accumulators hide the latency of the multiply-add; AVX2 has only 16 registers. 8 rows of a transposed
  // op(A) never straddle a cache line.
  const bool wide = vector_bytes >= 64;
  p.vector_width = (wide ? 64 : 32) / real_bytes(precision);
  p.ms = wide ? 8 : 6;
  p.ns = 2 * p.vector_width;
  p.ml = wide ? 256 : 252;
  p.nl = 128;
  p.kl = wide ? 512 : 256;
  return p;
}

// For few columns, or problems with too few large tiles for all cores.
Params narrow_register_tile(Precision precision, std::uint32_t vector_bytes) {
  Params p = register_tile(precision, vector_bytes);
  p.ml = vector_bytes >= 64 ? 128 : 120;
  p.nl = p.ns = vector_bytes >= 64 ? 16 : 2 * p.vector_width;
  p.kl = 512;
  return p;
}

// For one or two rows. op(B) is read once and hardly reused, so long runs of it count: accumulators are eight vectors
// wide.
Params two_row_register_tile(Precision precision, std::uint32_t vector_bytes) {
  Params p = register_tile(precision, vector_bytes);
  p.ml = 128;
  p.ms = 2;
  p.ns = (vector_bytes >= 64 ? 8 : 4) * p.vector_width;
  p.nl = 2 * p.ns;
  p.kl = 256;
  return p;
}

// Work-groups of 128 work-items; on an H200 half as fast again as tiles of 64 x 64.
Params local_tile(Precision precision) {
  Params p;
  p.family = Family::local_tile;
  p.precision = precision;
  p.vector_width = p.load_width = p.padding = precision == Precision::double_precision ? 2 : 4;
  p.ml = 64;
  p.nl = 128;
  p.kl = p.ks = precision == Precision::double_precision ? 8 : 16;
  p.ms = p.ns = 8;
  p.buffers = precision == Precision::double_precision ? 1 : 2;
  p.map = Map::zigzag;
  p.fragments = 2;
  return p;
}

// For up to a few hundred rows and columns, where large tiles leave units idle; faster than cuBLAS on an H200.
Params small_local_tile(Precision precision) {
  Params p = local_tile(precision);
  p.ml = p.nl = 32;
  p.kl = p.ks = 16;
  p.ms = p.ns = 4;
  return p;
}

struct Tile {
  std::uint32_t ml, nl, ms, ns, split_k;
};

Params with_tile(Params p, const Tile& tile) {
  p.ml = tile.ml;
  p.nl = tile.nl;
  p.ms = tile.ms;
  p.ns = tile.ns;
  p.split_k = tile.split_k;
  p.buffers = 1;
  return p;
}

// Between the sizes for which the default tiles make as many work-groups as there are units, other tiles do; slices of
// k make more of them, for few rows or columns. Each gained 2 % or more on some class of shapes on an H200.
constexpr Tile kSingleTiles[] = {{64, 128, 8, 8, 1},  {64, 64, 8, 4, 1},   {32, 64, 4, 8, 1},  {96, 128, 8, 8, 1},
                                 {128, 128, 8, 8, 1}, {128, 192, 8, 8, 1}, {64, 128, 8, 8, 4}, {64, 128, 8, 8, 16},
                                 {64, 64, 8, 8, 8},   {32, 32, 4, 4, 16}};
constexpr Tile kPairTiles[] = {
    {128, 128, 8, 16, 1}, {64, 128, 8, 8, 1}, {64, 64, 4, 8, 1}, {32, 64, 4, 8, 1}, {64, 64, 4, 8, 8}};
// On sm_90; ms and ns follow from the family.
struct WarpgroupTile {
  std::uint32_t ml, nl, buffers, split_k;
  Layout layout = Layout::row_major;
};
// The last ones pack both operands first: of large ones whose rows are not aligned to 16 bytes, a third of the time.
constexpr WarpgroupTile kWarpgroupTiles[] = {{128, 256, 4, 1},
                                             {128, 128, 6, 1},
                                             {128, 192, 5, 1},
                                             {64, 256, 5, 1},
                                             {64, 128, 8, 1},
                                             {64, 64, 8, 1},
                                             {256, 128, 4, 1},
                                             {128, 128, 6, 4},
                                             {64, 128, 8, 8},
                                             {64, 64, 8, 16},
                                             {128, 256, 4, 1, Layout::padded},
                                             {128, 128, 6, 1, Layout::padded},
                                             {64, 128, 8, 1, Layout::padded}};
// For doubles on NVIDIA's matrix units; ks is that of the instruction.
struct WarpTile {
  std::uint32_t ml, nl, ms, ns, ks, buffers, split_k;
};
constexpr WarpTile kWarpTiles[] = {{128, 128, 8, 8, 4, 4, 1}, {64, 64, 4, 8, 8, 3, 1},  {64, 64, 4, 8, 4, 4, 1},
                                   {32, 64, 4, 4, 8, 4, 1},   {128, 64, 4, 8, 8, 4, 1}, {32, 32, 2, 4, 8, 4, 1},
                                   {128, 128, 8, 8, 4, 4, 4}, {64, 64, 4, 8, 8, 3, 4},  {64, 64, 4, 8, 8, 3, 16},
                                   {32, 64, 4, 4, 8, 6, 16},  {32, 32, 2, 4, 8, 4, 16}, {16, 64, 2, 4, 8, 6, 1},
                                   {16, 64, 2, 4, 8, 6, 16},  {64, 16, 2, 4, 8, 6, 1},  {64, 16, 2, 4, 8, 6, 16}};
// 8 to 32 rows or columns: all of the other operand is read once, as fast as memory gives it.
constexpr Tile kThinTiles[] = {{8, 64, 2, 4, 8}, {16, 128, 4, 4, 8}};
constexpr Tile kDeepTiles[] = {{16, 128, 4, 4, 16}, {32, 128, 4, 8, 8}, {32, 128, 4, 8, 16}};
// Up to 8 rows or columns. Work-items share a column of op(B), stored as rows (the first five) or columns (the next
// four), or a row of op(A), stored as rows (two) or columns (two).
struct DirectTile {
  std::uint32_t ml, nl, kl, ms, ns, ks;
};
constexpr DirectTile kDirectTiles[] = {
    {1, 32, 32, 1, 1, 16}, {2, 32, 32, 2, 1, 8},  {4, 32, 16, 4, 1, 8}, {4, 64, 16, 4, 2, 8}, {8, 32, 16, 8, 1, 4},
    {1, 8, 64, 1, 2, 8},   {2, 8, 32, 2, 2, 8},   {4, 8, 32, 4, 2, 4},  {4, 16, 32, 4, 4, 4}, {8, 1, 64, 2, 1, 8},
    {8, 4, 64, 2, 4, 4},   {32, 1, 32, 1, 1, 16}, {32, 4, 32, 1, 4, 8}};
// Up to 32 rows or columns of 16 bits: lines of the thin side, of the long side, warps that share k, pieces of k.
struct ThinTile {
  std::uint32_t thin, lines, kl, ks;
};
constexpr ThinTile kPairThinTiles[] = {{8, 32, 16, 2},  {8, 32, 16, 4}, {8, 16, 8, 8},
                                       {16, 32, 16, 2}, {16, 32, 8, 4}, {32, 32, 8, 2}};
constexpr Tile kNarrowTiles[] = {{128, 16, 4, 2, 1}, {128, 16, 4, 2, 16}};

// For NVIDIA's matrix units, which take elements of 16 bits in pairs.
std::vector<Params> pair_specialists(Precision precision) {
  std::vector<Params> list;
  Params p = local_tile(precision);
  p.map = Map::mma;
  p.vector_width = 2;
  p.kl = 32;
  p.load_width = 8;
  p.fragments = 1;
  for (const Tile& tile : kPairTiles) {
    list.push_back(with_tile(p, tile));
    list.back().buffers = 2;
  }
  return list;
}

std::vector<Params> direct_specialists(Precision precision) {
  std::vector<Params> list;
  for (const DirectTile& tile : kDirectTiles) {
    Params p;
    p.precision = precision;
    p.ml = tile.ml;
    p.nl = tile.nl;
    p.kl = tile.kl;
    p.ms = tile.ms;
    p.ns = p.vector_width = tile.ns;
    p.ks = tile.ks;
    list.push_back(p);
  }
  return list;
}

std::vector<Params> thin_specialists(Precision precision) {
  std::vector<Params> list;
  for (const ThinTile& tile : kPairThinTiles) {
    Params p;
    p.family = Family::thin_tile;
    p.precision = precision;
    p.kl = tile.kl;
    p.ks = tile.ks;
    p.ml = tile.thin;
    p.ms = tile.thin / 4;
    p.nl = tile.lines;
    p.ns = p.vector_width = tile.lines / 8;
    list.push_back(p);
    std::swap(p.ml, p.nl);
    std::swap(p.ms, p.ns);
    p.vector_width = 2;
    list.push_back(p);
  }
  return list;
}

std::vector<Params> warpgroup_specialists(Precision precision) {
  std::vector<Params> list;
  for (const WarpgroupTile& tile : kWarpgroupTiles) {
    Params p;
    p.family = Family::warpgroup_tile;
    p.precision = precision;
    p.ml = tile.ml;
    p.nl = tile.nl;
    p.kl = 64;
    p.ms = 2;
    p.ns = tile.nl / 4;
    p.vector_width = 8;
    p.buffers = tile.buffers;
    p.split_k = tile.split_k;
    p.layout_a = p.layout_b = tile.layout;
    list.push_back(p);
  }
  return list;
}

std::vector<Params> warp_specialists(Map map) {
  std::vector<Params> list;
  for (const WarpTile& tile : kWarpTiles) {
    Params p;
    p.family = Family::warp_tile;
    p.precision = Precision::double_precision;
    p.ml = tile.ml;
    p.nl = tile.nl;
    p.kl = 16;
    p.ks = tile.ks;
    p.fragments = 2;
    p.ms = tile.ms;
    p.ns = tile.ns;
    p.vector_width = 2;
    p.buffers = tile.buffers;
    p.split_k = tile.split_k;
    p.map = map;
    list.push_back(p);
  }
  return list;
}

std::vector<Params> gpu_specialists(Precision precision) {
  std::vector<Params> list = direct_specialists(precision);
  const auto append = [&](const std::vector<Params>& more) { list.insert(list.end(), more.begin(), more.end()); };
  if (has_16_bits(precision)) {
    append(warpgroup_specialists(precision));
    append(pair_specialists(precision));
    append(thin_specialists(precision));
  }
  if (precision == Precision::double_precision) {
    append(warp_specialists(Map::mma));
    // Where a search on a device without those of mma begins.
    for (Params& p : warp_specialists(Map::mma8)) {
      if (p.split_k == 1 && p.ml == 64) list.push_back(p);
    }
    return list;
  }
  Params p = local_tile(precision);
  for (const Tile& tile : kSingleTiles) list.push_back(with_tile(p, tile));
  Params thin = p;
  thin.kl = 32;
  thin.ks = 8;
  thin.map = Map::cyclic;
  thin.fragments = 1;
  for (const Tile& tile : kThinTiles) {
    list.push_back(with_tile(thin, tile));
    list.back().buffers = 2;
  }
  for (const Tile& tile : kDeepTiles) {
    list.push_back(with_tile(p, tile));
    list.back().buffers = 2;
  }
  p.vector_width = p.load_width = p.padding = 2;
  for (const Tile& tile : kNarrowTiles) list.push_back(with_tile(p, tile));
  return list;
}

}  // namespace

std::vector<Params> default_variants(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  std::vector<Params> points = {direct(type, precision, vector_bytes)};
  if (type == DeviceType::cpu) {
    points.push_back(register_tile(precision, vector_bytes));
    points.push_back(narrow_register_tile(precision, vector_bytes));
  } else {
    points.push_back(local_tile(precision));
    points.push_back(small_local_tile(precision));
  }
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

std::vector<Params> specialists(DeviceType type, Precision precision, std::uint32_t vector_bytes) {
  if (type != DeviceType::cpu) return gpu_specialists(precision);
  return {two_row_register_tile(precision, vector_bytes)};
}

}  // namespace clbake::kernels
