// Families x precisions x transposes x layouts at edge sizes: a small point of the space for each way through a
// family's code, compiled from source. The family stripe is in stripe_test.cpp, which is slow, and in
// contract_test.cpp.
#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/kernels/constraints.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

namespace {

Params point(const std::string& name) {
  const auto parsed = kernels::parse(name);
  if (const std::string* refusal = std::get_if<std::string>(&parsed)) throw std::runtime_error(*refusal);
  return std::get<Params>(parsed);
}

// Checks the point if the device admits it.
void check(const Params& p) {
  if (!kernels::admits(devices()->front().limits, p)) return;
  const Result<FromSource> compiled = from_source(devices()->front(), p);
  BOOST_REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const std::string failures = failures_at_edges(compiled->where, compiled->variant);
  BOOST_TEST(failures.empty(), failures);
}

void check(const std::string& name) { check(point(name)); }

// Checks the point in every precision that the device has; in single with all transposes.
void check_everywhere(const std::string& name) {
  Params p = point(name);
  for (const Precision precision : all_precisions) {
    for (const int transposes : {0, 1, 2, 3}) {
      p.precision = precision;
      p.trans_a = (transposes & 1) != 0;
      p.trans_b = (transposes & 2) != 0;
      const bool all = precision == Precision::single_precision;
      if (!all && transposes != 0) continue;  // transposes work alike in all precisions
      check(p);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(DirectIsRight) {
  check_everywhere("direct-s-nn-6x8x1-3x4x2-v4");
  check_everywhere("direct-s-nn-4x4x1-2x4x1-v4-split3");
  // Work-items that share columns, one column, and a tile of both.
  check_everywhere("direct-s-nn-1x8x16-1x1x4-v1");
  check_everywhere("direct-s-nn-8x1x4-2x1x8-v1-split3");
  check_everywhere("direct-s-nn-4x8x8-2x4x1-v4");
}

BOOST_AUTO_TEST_CASE(RegisterTileIsRight) {
  check_everywhere("register_tile-s-nn-15x16x12-5x8x2-v4");
  check_everywhere("register_tile-s-nn-8x8x16-4x8x1-v8-split2");
}

// On NVIDIA's sm_90 only.
BOOST_AUTO_TEST_CASE(WarpgroupTileIsRight) {
  for (const char* precision : {"h", "b"}) {
    for (const char* transposes : {"nn", "nt", "tn", "tt"}) {
      const std::string kind = std::string("warpgroup_tile-") + precision + "-" + transposes + "-";
      for (const char* tile :
           {"64x64x64-2x16x1-v8-buffers3", "128x192x64-2x48x1-v8-split2-buffers4", "64x128x64-2x32x1-v8-buffers8",
            "64x128x64-2x32x1-v8-buffers3-tensor", "64x128x64-2x32x1-v8-split0-buffers4",
            "64x128x64-2x32x1-v8-split0-buffers4-tensor", "32x32x128-2x8x1-v8-buffers4",
            "64x32x64-2x8x1-v8-split2-buffers3", "64x128x128-2x32x1-v8-buffers3", "128x64x128-2x16x1-v8-buffers3",
            "32x32x64-2x8x1-v8-split0-buffers4", "32x64x128-2x16x1-v8-buffers3"}) {
        check(kind + tile);
      }
    }
  }
  check("warpgroup_tile-h-nn-128x256x64-2x64x1-v8-buffers4");
  check("warpgroup_tile-h-nn-192x192x64-2x48x1-v8-buffers3");  // its sums take more local memory than its tiles
  check("warpgroup_tile-h-tt-256x128x64-2x32x1-v8-apad-bpad-buffers4");
  check("warpgroup_tile-h-nn-192x192x64-2x48x1-v8-buffers4-tensor");
  check("warpgroup_tile-b-tn-64x64x64-2x16x1-v8-apad-split2-buffers4-tensor");
  check("warpgroup_tile-h-nt-32x64x128-2x16x1-v8-apad-bpad-buffers3");
}

// On NVIDIA's devices from sm_80 on only.
BOOST_AUTO_TEST_CASE(ThinTileIsRight) {
  for (const char* precision : {"h", "b"}) {
    for (const char* transposes : {"nn", "nt", "tn", "tt"}) {
      const std::string kind = std::string(precision) + "-" + transposes;
      check("thin_tile-" + kind + "-16x32x4-4x4x2-v4");
      check("thin_tile-" + kind + "-32x8x2-4x2x1-v2");
      check("thin_tile-" + kind + "-64x16x8-8x4x2-v2-split2");
    }
  }
  check("thin_tile-h-nn-8x16x1-2x2x4-v2");
  check("thin_tile-h-tt-32x64x8-8x8x1-v8");
}

// On NVIDIA's devices with matrix units for doubles only.
BOOST_AUTO_TEST_CASE(WarpTileIsRight) {
  for (const char* transposes : {"nn", "nt", "tn", "tt"}) {
    const std::string kind = std::string("d-") + transposes;
    check("warp_tile-" + kind + "-32x32x16-2x4x8-v2-buffers2-mapmma");
    check("warp_tile-" + kind + "-64x32x32-4x4x4-v2-split2-buffers3-mapmma-fragments2");
    check("warp_tile-" + kind + "-32x64x16-4x4x8-v2-buffers6-mapmma8-fragments2");
    check("warp_tile-" + kind + "-32x32x32-2x4x8-v2-split2-buffers3-mapmma-fragments2-shares2");
    check("warp_tile-" + kind + "-32x32x16-2x4x8-v2-split0-buffers3-mapmma-fragments2");
  }
  check("warp_tile-d-nn-128x128x16-8x8x4-v2-buffers4-mapmma-fragments2");
  check("warp_tile-d-tt-64x128x16-4x16x8-v2-apad-bpad-buffers4-mapmma");
}

BOOST_AUTO_TEST_CASE(LocalTileIsRight) {
  check_everywhere("local_tile-s-nn-12x24x8-3x6x2-v1-noprefetch");
  check_everywhere("local_tile-s-nn-16x32x8-4x4x4-v4-split2-buffers2-load4-padding4-mapzigzag-fragments2");
  check_everywhere("local_tile-s-nn-16x32x8-4x4x8-v2-apad-bcbl-buffers2-noprefetch-load2-mapblocked");
  check_everywhere("local_tile-s-nn-16x16x4-1x4x3-v2-arbl-brbl-padding2");
  check_everywhere("local_tile-s-nn-32x32x16-4x4x4-v4-buffers2-load4-padding4-mapzigzag-fragments2-shares4");
  check_everywhere("local_tile-s-nn-12x16x8-3x4x2-v2-split2-noprefetch-mapblocked-shares2");
  check_everywhere("local_tile-s-nn-16x32x8-4x4x4-v4-split0-buffers2-load4-padding4-mapzigzag-fragments2");
  check_everywhere("local_tile-s-nn-12x16x4-3x4x2-v2-arbl-bpad-split0-noprefetch-mapblocked-shares2");
  // Only on devices with an exchange in sub-groups.
  check_everywhere("local_tile-s-nn-32x16x8-4x4x4-v2-padding2-exchange");
  check_everywhere(
      "local_tile-s-nn-32x64x8-8x4x4-v4-apad-split2-buffers2-load4-padding4-mapblocked-fragments2-exchange");
  // Only on devices with matrix units for 16 bits.
  check_everywhere("local_tile-h-nn-16x32x16-2x4x8-v2-load2-mapmma");
  check_everywhere(
      "local_tile-h-nn-32x24x32-4x2x8-v2-acbl-bpad-split2-buffers2-noprefetch-load4-padding4-mapmma-fragments2");
}
