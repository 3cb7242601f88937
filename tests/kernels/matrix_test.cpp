// Each way through a family's code, compiled from source, at edge sizes: a point of the space for each way, and its
// precision and transposes so that, over the points of a family, each meets the others. The slow cases have every
// precision with every transpose, and the published families: ctest -L slow.
#include "kernels/edge_checks.hpp"

#include <clbake/kernels/defaults.hpp>
#include <clbake/kernels/presets.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

namespace {

void check_with_every_transpose(Params p) {
  for (const int transposes : {0, 1, 2, 3}) {
    p.trans_a = (transposes & 1) != 0;
    p.trans_b = (transposes & 2) != 0;
    check_at_edges(p);
  }
}

constexpr const char* kPoints[] = {
    // Work-items that share columns, and a tile of columns and rows.
    "direct-b-tt-8x1x4-2x1x8-v1-split3",
    "direct-s-nn-4x8x8-2x4x1-v4",
    "register_tile-s-nn-15x16x12-5x8x2-v4",
    "register_tile-h-tt-8x8x16-4x8x1-v8-split2",
    "local_tile-d-nt-12x24x8-3x6x2-v1-noprefetch",
    "local_tile-h-tn-16x32x8-4x4x8-v2-apad-bcbl-buffers2-noprefetch-load2-mapblocked",
    "local_tile-s-nn-32x32x16-4x4x4-v4-buffers2-load4-padding4-mapzigzag-fragments2-shares4",
    "local_tile-b-nn-16x32x8-4x4x4-v4-split0-buffers2-load4-padding4-mapzigzag-fragments2"};

// More ways, which the contract's test runs in any case.
constexpr const char* kMorePoints[] = {
    "direct-s-nt-6x8x1-3x4x2-v4",
    "direct-d-nn-4x4x1-2x4x1-v4-split3",
    "direct-h-tn-1x8x16-1x1x4-v1",
    "register_tile-d-tt-15x16x12-5x8x2-v4",
    "register_tile-b-nt-8x8x16-4x8x1-v8-split2",
    "local_tile-s-nt-16x32x8-4x4x4-v4-split2-buffers2-load4-padding4-mapzigzag-fragments2",
    "local_tile-b-tt-16x16x4-1x4x3-v2-arbl-brbl-padding2",
    "local_tile-d-tn-12x16x8-3x4x2-v2-split2-noprefetch-mapblocked-shares2",
    "local_tile-h-tt-12x16x4-3x4x2-v2-arbl-bpad-split0-noprefetch-mapblocked-shares2"};

// Only on devices with an exchange in sub-groups, or with matrix units for 16 bits.
constexpr const char* kPointsOfGpus[] = {
    "local_tile-s-nn-32x16x8-4x4x4-v2-padding2-exchange",
    "local_tile-s-nn-32x64x8-8x4x4-v4-apad-split2-buffers2-load4-padding4-mapblocked-fragments2-exchange",
    "local_tile-h-nn-16x32x16-2x4x8-v2-load2-mapmma",
    "local_tile-b-nn-32x24x32-4x2x8-v2-acbl-bpad-split2-buffers2-noprefetch-load4-padding4-mapmma-fragments2"};

constexpr const char* kStripes[] = {
    "stripe-s-nn-16x24x8-4x8x4-v4", "stripe-s-nn-16x24x8-4x8x4-v4-alocal", "stripe-s-nn-16x24x8-4x8x4-v4-blocal",
    "stripe-s-nn-16x24x8-4x8x4-v4-alocal-blocal", "stripe-s-nn-16x24x8-4x8x4-v4-apad-brbl-alocal",
    "stripe-s-nn-16x24x8-4x8x4-v4-arbl-bimage-blocal", "stripe-s-nn-16x24x8-4x8x4-v4-aimage-bcbl",
    "stripe-d-nn-3x32x8-3x8x1-v1", "stripe-d-nn-8x32x8-8x8x1-v8-apad-bcbl-alocal-blocal",
    "stripe-s-nn-3x32x8-3x16x4-v16-alocal",
    // Factors that are no powers of two, pieces of two rows.
    "stripe-s-nn-18x36x15-6x12x5-v4-alocal-blocal", "stripe-s-nn-18x36x15-6x12x5-v4-arbl-brbl",
    // A texel has two doubles; a vector may be narrower than a texel.
    "stripe-d-nn-16x24x8-4x8x4-v2-aimage-bimage", "stripe-s-nn-16x24x8-4x8x4-v1-acbl-bimage-alocal-blocal",
    "stripe-h-nn-16x24x8-4x8x4-v4-alocal-blocal", "stripe-h-nn-16x24x8-4x8x4-v4-apad-bpad-split2",
    "stripe-b-nn-16x24x8-4x8x4-v4-arbl-brbl-alocal", "stripe-b-nn-16x24x8-4x8x4-v4-aimage-bimage",
    "stripe-d-nn-16x24x8-4x8x4-v2-acbl-bpad-split2", "stripe-b-nn-16x24x8-4x8x4-v2-arbl-bimage-split3"};

// Few rows or columns are multiplied by other loops; tall register tiles pack op(A).
constexpr const char* kForLines[] = {"register_tile-s-nn-48x16x8-4x16x2-v4-lines",
                                     "register_tile-h-tn-40x64x16-2x32x1-v8-lines",
                                     "register_tile-d-nt-64x8x8-4x8x1-v2-split3-lines",
                                     "register_tile-s-tt-30x32x8-10x8x2-v4",
                                     "register_tile-b-tt-16x64x32-4x16x1-v16-lines",
                                     "register_tile-s-tn-150x32x8-10x8x2-v4",
                                     "register_tile-h-nn-24x32x16-4x8x1-v8",
                                     "register_tile-h-tn-4x8x16-4x8x1-v8-lines",
                                     "register_tile-d-nn-20x64x16-4x16x1-v8-lines"};

}  // namespace

BOOST_AUTO_TEST_CASE(PointsAreRight) {
  for (const char* name : kPoints) check_at_edges(point(name));
  for (const char* name : kForLines) check_at_edges(point(name));
  for (const char* name : kPointsOfGpus) check_with_every_transpose(point(name));
}

// Short vectors: panels of up to 32 lines, groups and blocks of k that are not whole, an odd number of vectors.
BOOST_AUTO_TEST_CASE(PanelsOfLinesAreRight) {
  std::vector<Size> sizes;
  for (const std::size_t few : {5, 9, 27, 32, 33}) {
    for (const Size& size : {Size{few, 8, 66}, {few, 23, 1}, {few, 130, 64}, {few, 77, 200}}) {
      sizes.push_back(size);
      sizes.push_back({size.n, size.m, size.k});
    }
  }
  for (const char* name :
       {"register_tile-s-nn-48x64x64-6x16x4-v8-lines", "register_tile-s-tt-48x64x64-6x16x4-v8-lines",
        "register_tile-s-tn-12x8x16-6x8x1-v8-split2-lines", "register_tile-d-tn-36x32x96-6x8x4-v4-lines",
        "register_tile-h-nn-36x64x32-6x16x1-v8-lines", "register_tile-b-tn-60x32x16-6x16x1-v8-lines"}) {
    const FromSource made = compiled(point(name));
    const std::string failures = failures_at(sizes, made.where, made.variant);
    BOOST_TEST(failures.empty(), failures);
  }
}

// On NVIDIA's sm_90 only.
BOOST_AUTO_TEST_CASE(WarpgroupTileIsRight) {
  for (const char* precision : {"h", "b"}) {
    for (const char* tile :
         {"64x64x64-2x16x1-v8-buffers3", "128x192x64-2x48x1-v8-split2-buffers4", "64x128x64-2x32x1-v8-buffers8",
          "64x128x64-2x32x1-v8-buffers3-tensor", "64x128x64-2x32x1-v8-split0-buffers4",
          "64x128x64-2x32x1-v8-split0-buffers4-tensor", "32x32x128-2x8x1-v8-buffers4",
          "64x32x64-2x8x1-v8-split2-buffers3", "64x128x128-2x32x1-v8-buffers3", "128x64x128-2x16x1-v8-buffers3",
          "32x32x64-2x8x1-v8-split0-buffers4", "32x64x128-2x16x1-v8-buffers3"}) {
      check_with_every_transpose(point(std::string("warpgroup_tile-") + precision + "-nn-" + tile));
    }
  }
  check_at_edges(point("warpgroup_tile-h-nn-128x256x64-2x64x1-v8-buffers4"));
  check_at_edges(
      point("warpgroup_tile-h-nn-192x192x64-2x48x1-v8-buffers3"));  // its sums take more local memory than its tiles
  check_at_edges(point("warpgroup_tile-h-tt-256x128x64-2x32x1-v8-apad-bpad-buffers4"));
  check_at_edges(point("warpgroup_tile-h-nn-192x192x64-2x48x1-v8-buffers4-tensor"));
  check_at_edges(point("warpgroup_tile-b-tn-64x64x64-2x16x1-v8-apad-split2-buffers4-tensor"));
  check_at_edges(point("warpgroup_tile-h-nt-32x64x128-2x16x1-v8-apad-bpad-buffers3"));
}

// Columns that do not fill whole lines of 128 bytes.
BOOST_AUTO_TEST_CASE(WarpgroupTileOf160And224ColumnsIsRight) {
  check_with_every_transpose(point("warpgroup_tile-h-nn-128x224x64-2x56x1-v8-buffers4-tensor"));
  check_with_every_transpose(point("warpgroup_tile-b-nn-192x160x64-2x40x1-v8-buffers4-tensor"));
  check_at_edges(point("warpgroup_tile-h-nt-64x160x64-2x40x1-v8-split2-buffers5-tensor"));
}

// Bytes: integers and floating point, each type of C, operands as stored and packed.
BOOST_AUTO_TEST_CASE(WarpgroupTileOfBytesIsRight) {
  for (const char* name :
       {"iiw-nt-64x64x128-2x16x1-v8-buffers3", "uii-nt-128x192x128-2x48x1-v8-split2-buffers4",
        "iuh-nt-64x128x128-2x32x1-v8-buffers4-tensor", "uus-nt-64x128x256-2x32x1-v8-split0-buffers3",
        "iib-tn-64x128x128-2x32x1-v8-akmajor-bkmajor-split0-buffers4-tensor",
        "iiu-nn-32x32x256-2x8x1-v8-bkmajor-buffers4", "iiw-tt-64x32x128-2x8x1-v8-akmajor-split2-buffers3",
        "iis-nt-128x256x128-2x64x1-v8-akmajor-bkmajor-buffers4-tensor", "eeh-nt-64x64x128-2x16x1-v8-buffers3",
        "efs-nt-128x128x128-2x32x1-v8-buffers4-tensor", "feb-tn-64x128x256-2x32x1-v8-akmajor-bkmajor-split2-buffers3",
        "eee-nt-32x64x128-2x16x1-v8-split0-buffers4", "fff-nn-128x192x128-2x48x1-v8-bkmajor-buffers4-tensor"}) {
    check_at_edges(point(std::string("warpgroup_tile-") + name));
  }
}

// On NVIDIA's devices from sm_80 on only.
BOOST_AUTO_TEST_CASE(ThinTileIsRight) {
  for (const char* precision : {"h", "b"}) {
    for (const char* tile : {"16x32x4-4x4x2-v4", "32x8x2-4x2x1-v2", "64x16x8-8x4x2-v2-split2"}) {
      check_with_every_transpose(point(std::string("thin_tile-") + precision + "-nn-" + tile));
    }
  }
  check_at_edges(point("thin_tile-h-nn-8x16x1-2x2x4-v2"));
  check_at_edges(point("thin_tile-h-tt-32x64x8-8x8x1-v8"));
}

// Weights that the consumers unpack.
BOOST_AUTO_TEST_CASE(WarpgroupTileOfWeightsIsRight) {
  for (const char* name :
       {"hqh-nn-64x128x128-2x32x1-v8-buffers4", "hqh-nn-16x64x128-2x16x1-v8-buffers3",
        "hqh-tn-128x128x128-2x32x1-v8-split2-buffers4-shares2", "hvh-nn-64x64x128-2x16x1-v8-buffers4-shares3",
        "bqb-nn-256x64x128-2x16x1-v8-split0-buffers3", "bvb-tn-192x128x128-2x32x1-v8-apad-buffers3"}) {
    check_at_edges(point(std::string("warpgroup_tile-") + name));
  }
}

// On NVIDIA's devices from sm_80 on only.
BOOST_AUTO_TEST_CASE(WeightsByMatrixUnitsAreRight) {
  for (const char* name : {"hqh-nn-8x32x1-2x4x128-v4", "hqs-tn-16x64x2-4x4x128-v4", "hvh-nn-16x64x4-4x8x128-v4-split2",
                           "bqb-nn-16x128x1-4x8x128-v4", "bvb-nn-8x32x8-2x4x128-v4", "bvs-tn-8x64x4-2x8x128-v4-split3",
                           "hqh-nn-8x32x16-2x4x128-v4"}) {
    check_at_edges(point(std::string("weight_tile-") + name + "-mapmma"));
  }
}

// On NVIDIA's devices with matrix units for doubles only.
BOOST_AUTO_TEST_CASE(WarpTileIsRight) {
  for (const char* tile :
       {"32x32x16-2x4x8-v2-buffers2-mapmma", "64x32x32-4x4x4-v2-split2-buffers3-mapmma-fragments2",
        "32x64x16-4x4x8-v2-buffers6-mapmma8-fragments2", "32x32x32-2x4x8-v2-split2-buffers3-mapmma-fragments2-shares2",
        "32x32x16-2x4x8-v2-split0-buffers3-mapmma-fragments2"}) {
    check_with_every_transpose(point(std::string("warp_tile-d-nn-") + tile));
  }
  check_at_edges(point("warp_tile-d-nn-128x128x16-8x8x4-v2-buffers4-mapmma-fragments2"));
  check_at_edges(point("warp_tile-d-tt-64x128x16-4x16x8-v2-apad-bpad-buffers4-mapmma"));
}

// A ring of tiles that asynchronous copies fill, on NVIDIA's devices from sm_80 on only.
BOOST_AUTO_TEST_CASE(LocalTileWithRingIsRight) {
  for (const char* tile :
       {"32x64x8-4x8x8-v4-buffers3-load4-padding4-mapzigzag-fragments2", "64x32x16-4x4x16-v4-split2-buffers6-load4",
        "32x32x16-4x4x16-v4-split0-buffers4-load4-padding4-mapzigzag-fragments2-shares2",
        "64x64x8-16x8x8-v4-buffers3-load4-fragments2",  // lines longer than the work-group
        "16x32x32-4x4x32-v4-apad-buffers3-load4-padding4",
        "16x16x8-4x4x8-v4-apad-bpad-buffers3-load4-fragments2-shares2",
        "64x64x8-8x8x8-v4-bpad-buffers4-load4-mapblocked-fragments2"}) {
    check_with_every_transpose(point(std::string("local_tile-s-nn-") + tile));
  }
  check_at_edges(point("local_tile-s-nn-256x128x8-16x8x8-v4-buffers3-load4-padding4-mapzigzag-fragments2"));
  check_at_edges(point("local_tile-s-tt-128x256x16-16x8x16-v4-buffers3-load4-padding4-mapzigzag-fragments2"));
}

BOOST_AUTO_TEST_CASE(PointsAreRightInEveryPrecision, *boost::unit_test::label("slow")) {
  std::set<std::string> names;  // of points, each once: any precision and transposes stand for all
  const auto add = [&](const auto& points) {
    for (const char* name : points) {
      Params p = point(name);
      p.precision = Precision::single_precision;
      p.trans_a = p.trans_b = false;
      names.insert(kernels::name(p));
    }
  };
  add(kPoints);
  add(kMorePoints);
  add(kForLines);
  for (const std::string& name : names) {
    Params p = point(name);
    for (const Precision precision : all_precisions) {
      p.precision = precision;
      check_with_every_transpose(p);
    }
  }
}

// The default variants of the device type that this machine lacks: a CPU runs a GPU's kernels, slowly.
BOOST_AUTO_TEST_CASE(DefaultVariantsOfTheOtherDeviceTypeAreRight, *boost::unit_test::label("slow")) {
  const bool cpu = devices()->front().type == kernels::DeviceType::cpu;
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const Params& p :
         kernels::default_variants(cpu ? kernels::DeviceType::gpu : kernels::DeviceType::cpu, precision)) {
      check_at_edges(p);
    }
  }
}

BOOST_AUTO_TEST_CASE(StripeIsRight, *boost::unit_test::label("slow")) {
  for (const char* name : kStripes) check_with_every_transpose(point(name));
}

BOOST_AUTO_TEST_CASE(PresetsAreRight, *boost::unit_test::label("slow")) {
  for (const kernels::Preset& preset : kernels::presets()) {
    if (preset.params.family == kernels::Family::stripe) check_with_every_transpose(preset.params);
  }
}
