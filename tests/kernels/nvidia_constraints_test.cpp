// The constraints of what only NVIDIA's devices have: matrix units.
#include "constraint_checks.hpp"

#include <string>
#include <utility>

using clbake::Precision;
using namespace clbake::kernels;

namespace {

Params thin_tile() {
  Params p;
  p.family = Family::thin_tile;
  p.precision = Precision::half_precision;
  p.ml = 16;
  p.nl = 32;
  p.kl = 16;
  p.ms = p.ns = p.vector_width = 4;
  p.ks = 2;
  return p;
}

Params warp_tile() {
  Params p;
  p.family = Family::warp_tile;
  p.precision = Precision::double_precision;
  p.ml = p.nl = 64;
  p.kl = 16;
  p.ms = p.ns = 4;
  p.ks = 8;
  p.vector_width = 2;
  p.buffers = 2;
  p.map = Map::mma;
  return p;
}

Params warpgroup_tile() {
  Params p;
  p.family = Family::warpgroup_tile;
  p.precision = Precision::half_precision;
  p.ml = 128;
  p.nl = 256;
  p.kl = 64;
  p.ms = 2;
  p.ns = 64;
  p.vector_width = 8;
  p.buffers = 4;
  return p;
}

DeviceLimits device_with_large_groups() {
  DeviceLimits device = smallest_device();
  device.max_work_group_size = 1024;
  device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = 1024;
  return device;
}

Params changed(Params p, std::uint32_t Params::*factor, std::uint32_t value) {
  p.*factor = value;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_CASE(LimitsFollowFromTheArchitecture) {
  for (const std::uint32_t ptx : {80U, 90U, 100U}) {
    DeviceLimits limits = smallest_device();
    set_nvidia_limits(limits, ptx);
    BOOST_TEST(limits.ptx == ptx);
    BOOST_TEST(limits.warpgroups == (ptx == 90));
    BOOST_TEST(limits.private_memory_bytes < smallest_device().private_memory_bytes);
  }
}

BOOST_AUTO_TEST_CASE(WarpgroupTilesNeedTheirDeviceAndTheShapesOfItsInstruction) {
  DeviceLimits device = device_with_large_groups();
  const Params good = warpgroup_tile();
  check_violated(good, device, "warpgroup", {"sm_90"});
  device.warpgroups = true;
  BOOST_TEST(check(good, device).empty());
  const auto with = [&](std::uint32_t Params::*factor, std::uint32_t value) { return changed(good, factor, value); };
  check_violated(with(&Params::ml, 96), device, "warpgroup", {"multiples of 64", "96"});
  check_violated(with(&Params::kl, 32), device, "warpgroup", {"kl = 64 or 128", "32"});
  check_violated(with(&Params::ms, 1), device, "warpgroup", {"ms = 2", "ms = 1"});
  check_violated(with(&Params::vector_width, 4), device, "warpgroup", {"vector_width = 8"});
  check_violated(with(&Params::buffers, 2), device, "warpgroup", {"3 buffers"});
  check_violated(with(&Params::buffers, 5), device, "local-memory", {"245840", "232416"});
  check_violated(with(&Params::ml, 192), device, "warpgroup", {"512 work-items", "128 registers", "160"});
  BOOST_TEST(check(with(&Params::split_k, 0), device).empty());
  Params p = good;
  p.precision = Precision::single_precision;
  check_violated(p, device, "warpgroup", {"half and bfloat16"});
  p = good;
  p.ml = 320;
  p.nl = 64;
  p.ns = 16;
  p.buffers = 3;
  BOOST_TEST(check(p, device).empty());
  p.tensor_copies = true;
  check_violated(p, device, "warpgroup", {"256 rows", "320"});
  p.ml = 64;
  BOOST_TEST(check(p, device).empty());
  p.kl = 128;
  check_violated(p, device, "warpgroup", {"kl = 64", "64 x 64 x 128"});
  p.tensor_copies = false;
  BOOST_TEST(check(p, device).empty());
  p = good;
  p.layout_b = Layout::row_block;
  check_violated(p, device, "warpgroup", {"padded"});
}

// Of 32 rows or columns: what is too much for a tile, and what its lines take of local memory.
BOOST_AUTO_TEST_CASE(NarrowWarpgroupTiles) {
  DeviceLimits device = device_with_large_groups();
  device.warpgroups = true;
  Params p = warpgroup_tile();
  p.ml = p.nl = 32;
  p.ns = 8;
  p.buffers = 3;
  BOOST_TEST(check(p, device).empty());
  const WorkGroup group = work_group_size(p);
  BOOST_TEST(group.x * group.y == 256U);
  BOOST_TEST(local_memory_bytes(p) == 3 * (32 + 64) * 128 + 48U);  // op(B) has lines of 32 elements and room for 64
  p.trans_a = true;
  BOOST_TEST(local_memory_bytes(p) == 3 * (64 + 64) * 128 + 48U);
  p.trans_a = false;
  p.trans_b = true;
  BOOST_TEST(local_memory_bytes(p) == 3 * (32 + 32) * 128 + 48U);
  p.layout_a = p.layout_b = Layout::padded;  // as if across k, whatever the transposes
  BOOST_TEST(local_memory_bytes(p) == 3 * (64 + 64) * 128 + 48U);
  p.layout_a = p.layout_b = Layout::row_major;
  BOOST_TEST(check(changed(p, &Params::ml, 64), device).empty());
  BOOST_TEST(check(changed(p, &Params::kl, 128), device).empty());
  check_violated(changed(p, &Params::kl, 256), device, "warpgroup", {"64 or 128", "256"});
  check_violated(changed(p, &Params::ml, 128), device, "warpgroup", {"64 x 32", "128 x 32"});
  check_violated(changed(p, &Params::ml, 48), device, "warpgroup", {"64 x 32", "48 x 32"});
  BOOST_TEST(check(changed(p, &Params::split_k, 0), device).empty());
  p.tensor_copies = true;
  check_violated(p, device, "warpgroup", {"64 to 256 rows", "32 x 32"});
}

BOOST_AUTO_TEST_CASE(ThinTilesNeedMatrixUnitsAndWholeWarps) {
  DeviceLimits device = device_with_large_groups();
  const Params good = thin_tile();
  check_violated(good, device, "thin", {"sm_80"});
  device.ptx = 80;
  BOOST_TEST(check(good, device).empty());
  const auto with = [&](std::uint32_t Params::*factor, std::uint32_t value) { return changed(good, factor, value); };
  check_violated(with(&Params::kl, 3), device, "family", {"kl is 3", "power of two"});
  check_violated(with(&Params::ml, 8), device, "thin", {"8 x 32", "4 x 4"});
  check_violated(with(&Params::vector_width, 2), device, "thin", {"vectors of 2"});
  check_violated(with(&Params::ks, 8), device, "thin", {"512 work-items", "128 registers", "248"});
  Params p = good;
  p.precision = Precision::single_precision;
  check_violated(p, device, "thin", {"half and bfloat16"});
  p = good;  // the same with rows on the long side
  std::swap(p.ml, p.nl);
  std::swap(p.ms, p.ns);
  p.vector_width = 2;
  BOOST_TEST(check(p, device).empty());
  check_violated(with(&Params::kl, 64), device, "thin", {"2048 work-items", "32 registers"});
}

BOOST_AUTO_TEST_CASE(WarpTilesNeedMatrixUnitsForDoubles) {
  DeviceLimits device = smallest_device();
  const Params good = warp_tile();
  check_violated(good, device, "warp", {"map mma ", "sm_90"});
  device.ptx = 80;
  check_violated(good, device, "warp", {"sm_90"});
  const auto with = [&](std::uint32_t Params::*factor, std::uint32_t value) { return changed(good, factor, value); };
  Params p = good;
  p.map = Map::mma8;
  BOOST_TEST(check(p, device).empty());
  device.ptx = 90;
  BOOST_TEST(check(good, device).empty());
  check_violated(with(&Params::ml, 96), device, "warp", {"powers of two", "96 x 64"});
  check_violated(with(&Params::kl, 8), device, "warp", {"kl = 16 or 32", "x 8"});
  check_violated(with(&Params::ks, 2), device, "warp", {"ks = 4 or 8", "ks = 2"});
  check_violated(with(&Params::shares, 2), device, "warp", {"two steps", "kl = 16", "shares = 32"});
  check_violated(with(&Params::ms, 16), device, "warp", {"8 x 4 work-items", "ms = 16"});
  check_violated(with(&Params::vector_width, 1), device, "warp", {"vector_width = 1"});
  check_violated(with(&Params::buffers, 1), device, "warp", {"2 to 6 buffers", "not 1"});
  check_violated(with(&Params::buffers, 3), device, "local-memory", {"49152", "32768"});
  device.warpgroups = true;
  BOOST_TEST(check(with(&Params::buffers, 3), device).empty());
  p = good;
  p.nl = 512;
  p.ml = 16;
  p.ms = 2;
  p.ns = 16;
  check_violated(p, device, "warp", {"16 x 512", "256 to 128 work-items"});
  p = good;
  p.ml = p.nl = 128;
  p.ms = p.ns = 4;
  p.fragments = 2;
  device.max_work_group_size = device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = 1024;
  check_violated(p, device, "warp", {"1024 work-items", "64 registers"});
  p = good;
  p.precision = Precision::single_precision;
  check_violated(p, device, "warp", {"double precision only"});
  p = good;
  p.map = Map::cyclic;
  check_violated(p, device, "warp", {"map mma or mma8"});
  p = good;
  p.layout_a = Layout::column_block;
  check_violated(p, device, "warp", {"padded"});
}

BOOST_AUTO_TEST_CASE(MatrixUnitsTakeSixteenBitsInPairs) {
  DeviceLimits ampere = smallest_device();
  ampere.ptx = 80;
  Params p = local_tile();
  p.precision = Precision::half_precision;
  p.vector_width = p.load_width = 2;
  p.kl = 16;
  p.map = Map::mma;
  BOOST_TEST(check(p, ampere).empty());
  const std::uint64_t bytes = local_memory_bytes(p);
  p.map = Map::cyclic;
  BOOST_TEST(2 * bytes == local_memory_bytes(p));  // there halves become floats
  p.map = Map::mma;
  DeviceLimits turing = ampere;
  turing.ptx = 75;
  check_violated(p, turing, "map", {"sm_80"});
  p.load_width = 1;
  check_violated(p, ampere, "map", {"load_width must be at least 2"});
  p.load_width = 2;
  p.kl = 24;
  check_violated(p, ampere, "map", {"16 steps", "kl is 24"});
  p.precision = Precision::bfloat16;
  check_violated(p, ampere, "map", {"16 steps"});
  p.kl = 16;
  p.vector_width = 1;
  check_violated(p, ampere, "map", {"vector_width = 1"});
  p.vector_width = 2;
  p.map = Map::mma8;
  check_violated(p, ampere, "map", {"mma8 is warp_tile's"});
  p.map = Map::mma;
  BOOST_TEST(check(p, ampere).empty());
  BOOST_TEST(bytes == local_memory_bytes(p));
}
