#include "constraint_checks.hpp"

#include <clbake/kernels/defaults.hpp>

#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

Params stripe() {
  Params p;
  p.family = Family::stripe;
  p.ml = p.nl = 64;
  p.kl = 16;
  p.ms = 4;
  p.ns = 8;
  p.ks = 4;
  p.vector_width = 4;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ValidParametersHaveNoViolation) {
  BOOST_TEST(check(Params(), smallest_device()).empty());
  BOOST_TEST(check(register_tile(), smallest_device()).empty());
  BOOST_TEST(check(local_tile(), smallest_device()).empty());
}

BOOST_AUTO_TEST_CASE(ZeroFactorIsOutOfRange) {
  Params p = register_tile();
  p.ns = 0;
  check_violated(p, smallest_device(), "range", {"ns", "0", "1", "32768"});
}

BOOST_AUTO_TEST_CASE(ClangNeedsADeviceThatTakesPtx) {
  Params p = local_tile();
  p.front_end = FrontEnd::clang;
  check_violated(p, smallest_device(), "front-end", {"clang", "PTX"});
  DeviceLimits nvidia = smallest_device();
  nvidia.ptx = 86;
  BOOST_TEST(check(p, nvidia).empty());
  BOOST_TEST(admits(nvidia, p));
}

BOOST_AUTO_TEST_CASE(ClangHasNoImages) {
  DeviceLimits nvidia = smallest_device();
  nvidia.ptx = 86;
  for (Layout Params::*layout : {&Params::layout_a, &Params::layout_b}) {
    Params p = stripe();
    p.*layout = Layout::image;
    BOOST_TEST(check(p, nvidia).empty());
    p.front_end = FrontEnd::clang;
    check_violated(p, nvidia, "front-end", {"image", "clang"});
  }
}

BOOST_AUTO_TEST_CASE(HugeFactorIsOutOfRange) {
  Params p = register_tile();
  p.ml = 4294967295U;
  check_violated(p, smallest_device(), "range", {"ml", "4294967295", "32768"});
}

BOOST_AUTO_TEST_CASE(EveryFactorOutOfRangeIsListed) {
  Params p;
  p.ml = p.nl = p.kl = p.ms = p.ns = p.ks = p.vector_width = 0;
  BOOST_TEST(check(p, smallest_device()).size() == 7U);
}

BOOST_AUTO_TEST_CASE(DoublePrecisionNeedsFp64) {
  Params p;
  p.precision = Precision::double_precision;
  DeviceLimits device = smallest_device();
  device.fp64 = false;
  check_violated(p, device, "precision", {"cl_khr_fp64"});
}

BOOST_AUTO_TEST_CASE(VectorWidthIsOneOfOpenClsVectors) {
  Params p = register_tile();
  p.vector_width = 32;
  check_violated(p, smallest_device(), "vector-width", {"32", "1, 2, 4, 8 and 16"});
}

BOOST_AUTO_TEST_CASE(TileRowsAreDealtOutWhole) {
  Params p = register_tile();
  p.ml = 61;
  check_violated(p, smallest_device(), "divisibility", {"ml is 61", "ms = 6"});
}

BOOST_AUTO_TEST_CASE(TileColumnsAreDealtOutWhole) {
  Params p = register_tile();
  p.nl = 100;
  check_violated(p, smallest_device(), "divisibility", {"nl is 100", "ns = 64"});
}

BOOST_AUTO_TEST_CASE(DepthIsUnrolledWhole) {
  Params p = register_tile();
  p.ks = 3;
  check_violated(p, smallest_device(), "divisibility", {"kl is 512", "ks = 3"});
}

BOOST_AUTO_TEST_CASE(ColumnsOfAWorkItemAreWholeVectors) {
  Params p = register_tile();
  p.ns = 8;
  check_violated(p, smallest_device(), "divisibility", {"ns is 8", "vector_width = 16"});
}

BOOST_AUTO_TEST_CASE(PaddingOfALocalTileIsWholeVectors) {
  Params p = local_tile();
  p.padding = 2;
  check_violated(p, smallest_device(), "divisibility", {"padding is 2", "vector_width = 4"});
}

BOOST_AUTO_TEST_CASE(PaddingDoesNotOverflow) {
  Params p = local_tile();
  p.padding = 4294967232U;
  check_violated(p, smallest_device(), "range", {"padding is 4294967232", "32768"});
}

BOOST_AUTO_TEST_CASE(LinesOfALocalTileAreWholeLoads) {
  Params p = local_tile();
  p.load_width = 8;
  p.kl = 12;
  check_violated(p, smallest_device(), "divisibility", {"kl is 12", "load_width = 8"});
}

BOOST_AUTO_TEST_CASE(WorkGroupsOfALocalTileAreTwoWide) {
  Params p = local_tile();
  p.nl = p.ns;
  check_violated(p, smallest_device(), "work-group-width", {"nl / ns is 1", "at least 2"});
  p = stripe();
  p.nl = p.ns;
  BOOST_TEST(admits(smallest_device(), p));  // no barriers
  p.local_b = true;
  check_violated(p, smallest_device(), "work-group-width", {"nl / ns is 1"});
}

BOOST_AUTO_TEST_CASE(TheZigZagMapNeedsWholeBlocks) {
  Params p = local_tile();
  p.map = Map::zigzag;
  BOOST_TEST(check(p, smallest_device()).empty());
  p.nl = 48;
  check_violated(p, smallest_device(), "map", {"map zigzag", "8 x 4", "12 x 16"});
}

BOOST_AUTO_TEST_CASE(NeighboursExchangeWhereTheDeviceCan) {
  Params p = local_tile();
  p.exchange = true;
  check_violated(p, smallest_device(), "exchange", {"cl_khr_subgroup_shuffle"});
  DeviceLimits device = smallest_device();
  device.shuffle = true;
  BOOST_TEST(check(p, device).empty());
  DeviceLimits nvidia = smallest_device();
  nvidia.ptx = 30;
  BOOST_TEST(check(p, nvidia).empty());
  p.precision = Precision::double_precision;
  check_violated(p, device, "exchange", {"32 bits"});
  p.precision = Precision::half_precision;
  p.map = Map::zigzag;
  check_violated(p, device, "exchange", {"map blocked or cyclic"});
  p.map = Map::cyclic;
  p.ml = 48;
  p.ms = 3;
  check_violated(p, device, "exchange", {"ms = 3"});
}

BOOST_AUTO_TEST_CASE(LocalTilesHaveNoImages) {
  Params p = local_tile();
  p.layout_a = Layout::image;
  check_violated(p, smallest_device(), "family", {"image", "local_tile"});
}

BOOST_AUTO_TEST_CASE(ImagesNeedADeviceThatHasThem) {
  Params p = stripe();
  p.layout_b = Layout::image;
  BOOST_TEST(check(p, smallest_device()).empty());
  DeviceLimits device = smallest_device();
  device.images = false;
  check_violated(p, device, "image", {"B", "the device has none"});
}

BOOST_AUTO_TEST_CASE(TexelsBelongToOneWorkItem) {
  DeviceLimits device = smallest_device();
  device.images = true;
  Params p = stripe();
  p.layout_a = Layout::image;
  p.ms = 2;
  check_violated(p, device, "image", {"ms is 2", "4 elements"});
}

BOOST_AUTO_TEST_CASE(VectorsAreNotWiderThanATexel) {
  DeviceLimits device = smallest_device();
  device.images = true;
  Params p = stripe();
  p.layout_a = Layout::image;
  p.vector_width = 8;
  check_violated(p, device, "image", {"vector_width is 8", "4 elements"});
  p.precision = Precision::double_precision;
  p.vector_width = 4;
  check_violated(p, device, "image", {"vector_width is 4", "2 elements"});
}

BOOST_AUTO_TEST_CASE(UnrolledStepsAreLimited) {
  Params p = stripe();
  p.kl = p.ks = 512;
  check_violated(p, smallest_device(), "unrolling", {"512 * 4 * 8 / 4 = 4096", "limit 2048"});
}

BOOST_AUTO_TEST_CASE(SharedBlocksFitIntoLocalMemory) {
  Params p = stripe();
  p.local_a = p.local_b = true;
  DeviceLimits device = smallest_device();
  device.local_memory_bytes = 8191;
  check_violated(p, device, "local-memory", {"8192 bytes", "limit 8191"});
  p.local_a = false;
  BOOST_TEST(check(p, device).empty());
}

BOOST_AUTO_TEST_CASE(AParameterThatTheFamilyLacksKeepsItsStandardValue) {
  Params p = register_tile();
  p.buffers = 2;
  check_violated(p, smallest_device(), "family", {"buffers is 2", "register_tile has no such parameter"});
  p = register_tile();
  p.layout_b = Layout::padded;
  check_violated(p, smallest_device(), "family", {"layout_b is 1", "register_tile"});
}

BOOST_AUTO_TEST_CASE(WorkItemsOfDirectThatShareSumsAreAPowerOfTwo) {
  Params p;
  p.kl = 8;
  BOOST_TEST(check(p, smallest_device()).empty());
  p.kl = 12;
  check_violated(p, smallest_device(), "family", {"kl is 12", "power of two"});
  p.kl = 8;
  DeviceLimits device = smallest_device();
  device.local_memory_bytes = 15;  // four sums of 4 bytes
  check_violated(p, device, "local-memory", {"16 bytes", "limit 15"});
}

BOOST_AUTO_TEST_CASE(SlicesOfKAreFew) {
  Params p;
  p.split_k = 65;
  check_violated(p, smallest_device(), "range", {"split_k is 65", "1 to 64"});
}

BOOST_AUTO_TEST_CASE(PackAndReduceKernelsNeedTheirWorkGroup) {
  DeviceLimits device = smallest_device();
  device.max_work_group_size = 32;
  Params p;
  p.split_k = 2;
  check_violated(p, device, "work-group-size", {"64 work-items", "limit 32"});
  device.max_work_group_size = 128;
  Params packed = local_tile();
  packed.ml = packed.nl = 32;
  packed.layout_a = Layout::padded;
  check_violated(packed, device, "work-group-size", {"256 work-items", "limit 128"});
}

BOOST_AUTO_TEST_CASE(SharesDivideTheTilesAndHalve) {
  Params p = local_tile();
  p.shares = 3;
  p.kl = 12;
  check_violated(p, smallest_device(), "family", {"shares is 3", "power of two"});
  p.shares = 2;
  p.kl = 5;
  check_violated(p, smallest_device(), "divisibility", {"kl is 5", "shares = 2"});
  p.shares = 0;
  check_violated(p, smallest_device(), "range", {"shares is 0"});
}

BOOST_AUTO_TEST_CASE(AdmitsSaysTheSameAsCheck) {
  Params p = local_tile();
  for (const std::uint32_t ml : {1U, 16U, 60U, 64U, 128U, 4096U, 0U}) {
    for (const std::uint32_t ms : {1U, 3U, 4U, 8U, 64U}) {
      p.ml = ml;
      p.ms = ms;
      BOOST_TEST(admits(smallest_device(), p) == check(p, smallest_device()).empty(), name(p));
    }
  }
}

BOOST_AUTO_TEST_CASE(OnlyTilesInLocalMemoryCutTheirTail) {
  Params p = local_tile();
  p.split_k = 0;
  BOOST_TEST(admits(smallest_device(), p));
  p = register_tile();
  p.split_k = 0;
  check_violated(p, smallest_device(), "family", {"split_k is 0", "register_tile"});
}

BOOST_AUTO_TEST_CASE(DirectHasOneVectorOfColumns) {
  Params p;
  p.nl = p.ns = 8;
  p.vector_width = 4;
  check_violated(p, smallest_device(), "family", {"ns is 8", "4 columns"});
}

BOOST_AUTO_TEST_CASE(AccumulatorsFitIntoRegisters) {
  Params p = register_tile();
  p.ms = p.ml = 9;
  check_violated(p, smallest_device(), "registers", {"9 * 64", "2304 bytes", "limit 2048"});
  p = local_tile();
  p.ms = p.ns = 16;
  check_violated(p, smallest_device(), "registers", {"16 * 16", "1024 bytes", "limit 512"});
}

// What PoCL reports of a CPU with an L2 cache of 1 MiB.
static DeviceLimits pocl_device() {
  DeviceLimits device = smallest_device();
  device.max_work_group_size = device.max_work_item_sizes[0] = 4096;
  device.local_memory_bytes = 1 << 20;
  return device;
}

BOOST_AUTO_TEST_CASE(AccumulatorsOfAWorkGroupFitIntoAMultiprocessor) {
  const DeviceLimits device = pocl_device();
  Params p;
  p.ns = p.vector_width = 16;
  p.ms = 4;
  p.nl = 64;
  p.ml = 16;
  p.kl = 64;
  BOOST_TEST(admits(device, p));  // 1024 work-items
  p.ms = 8;
  p.ml = 32;
  check_violated(p, device, "registers", {"8 * 16", "1024 work-items", "524288 bytes", "limit 262144"});
}

BOOST_AUTO_TEST_CASE(AWorkGroupHasNoMoreWorkItemsThanGpusHave) {
  const DeviceLimits device = pocl_device();
  Params p;
  p.ml = p.nl = 32;
  BOOST_TEST(admits(device, p));
  p.nl = 64;
  check_violated(p, device, "work-group-size", {"2048 work-items", "limit 1024"});
}

BOOST_AUTO_TEST_CASE(PackedOperandsFitIntoPrivateMemory) {
  Params p = register_tile();
  p.kl = 4096;
  check_violated(p, smallest_device(), "private-memory", {"4096 * 128", "2097152 bytes", "limit 1048576"});
  DeviceLimits nvidia = smallest_device();
  set_nvidia_limits(nvidia, 80);
  p.kl = 128;
  BOOST_TEST(admits(nvidia, p));
  p.kl = 256;
  check_violated(p, nvidia, "private-memory", {"256 * 128", "131072 bytes", "limit 65536"});
}

BOOST_AUTO_TEST_CASE(RegisterTilesRoundSixteenBitsOnce) {
  Params p = register_tile();
  p.precision = Precision::half_precision;
  check_violated(p, smallest_device(), "rounding", {"split_k of at least 2 for half"});
  p.precision = Precision::bfloat16;
  check_violated(p, smallest_device(), "rounding", {"split_k of at least 2 for bfloat16"});
  p.split_k = 2;
  BOOST_TEST(check(p, smallest_device()).empty());
}

BOOST_AUTO_TEST_CASE(WorkGroupFitsTheDevice) {
  DeviceLimits device = smallest_device();
  device.max_work_group_size = 128;
  check_violated(local_tile(), device, "work-group-size", {"16 * 16 = 256", "limit 128"});
}

BOOST_AUTO_TEST_CASE(WorkGroupFitsEachDimension) {
  DeviceLimits device = smallest_device();
  device.max_work_item_sizes[1] = 8;
  check_violated(local_tile(), device, "work-item-sizes", {"16 work-items", "dimension 1", "limit 8"});
}

BOOST_AUTO_TEST_CASE(TilesFitIntoLocalMemory) {
  DeviceLimits device = smallest_device();
  device.local_memory_bytes = 8191;
  check_violated(local_tile(), device, "local-memory", {"8192 bytes", "limit 8191"});
}

BOOST_AUTO_TEST_CASE(DefaultVariantsFitTheSmallestDevice) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const std::uint32_t vector_bytes : {16U, 32U, 64U}) {
        for (const Params& p : default_variants(kind, precision, vector_bytes)) {
          for (const Violation& violation : check(p, smallest_device())) {
            BOOST_ERROR(name(p) << ": " << violation.reason);
          }
        }
      }
    }
  }
}

// The others are left out where they do not fit.
BOOST_AUTO_TEST_CASE(SpecialistsFitALargeDevice) {
  DeviceLimits large = smallest_device();
  large.max_work_group_size = 1024;
  for (auto& size : large.max_work_item_sizes) size = 1024;
  large.local_memory_bytes = 49152;
  large.ptx = 90;
  large.warpgroups = true;
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const Params& p : specialists(kind, precision)) {
        for (const Violation& violation : check(p, large)) BOOST_ERROR(name(p) << ": " << violation.reason);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsCoverTwoFamiliesAndEveryTranspose) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      std::set<std::string> names;
      std::set<std::string> kinds;
      const std::vector<Params> variants = default_variants(kind, precision);
      for (const Params& p : variants) {
        BOOST_TEST((p.precision == precision));
        names.insert(name(p));
        kinds.insert(std::string(name(p.family)) + (p.trans_a ? "-t" : "-n") + (p.trans_b ? "t" : "n"));
      }
      BOOST_TEST(variants.size() == 12U);  // direct, and two of the family made for the device type
      BOOST_TEST(names.size() == 12U);
      BOOST_TEST(kinds.size() == 8U);
    }
  }
}
