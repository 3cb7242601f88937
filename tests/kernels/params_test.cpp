#include <clbake/kernels/params.hpp>

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

using namespace clbake::kernels;

namespace {

// OpenCL 1.2's smallest local memory, and the work-group size that every GPU and CPU driver of today reaches.
DeviceLimits smallest_device() { return {true, 256, {256, 256, 64}, 32768}; }

Params register_tile() {
  Params p;
  p.family = Family::register_tile;
  p.ml = 60;
  p.nl = 128;
  p.kl = 512;
  p.ms = 6;
  p.ns = 64;
  p.vector_width = 16;
  return p;
}

Params local_tile() {
  Params p;
  p.family = Family::local_tile;
  p.ml = p.nl = 64;
  p.kl = 16;
  p.ms = p.ns = 4;
  p.vector_width = 4;
  return p;
}

// The one violation of p; its reason holds every one of the texts.
void check_violated(const Params& p, const DeviceLimits& device, std::string_view constraint,
                    std::initializer_list<const char*> texts) {
  const std::vector<Violation> violations = check(p, device);
  BOOST_REQUIRE_EQUAL(violations.size(), 1U);
  BOOST_TEST(violations[0].constraint == constraint);
  for (const char* text : texts) {
    BOOST_TEST(violations[0].reason.find(text) != std::string::npos, violations[0].reason << " lacks " << text);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(NameHoldsEveryParameter) {
  Params p = register_tile();
  BOOST_TEST(name(p) == "register_tile-s-nn-60x128x512-6x64x1-v16");
  p.precision = Precision::double_precision;
  p.trans_a = true;
  p.ks = 2;
  BOOST_TEST(name(p) == "register_tile-d-tn-60x128x512-6x64x2-v16");
  p.trans_a = false;
  p.trans_b = true;
  p.family = Family::direct;
  BOOST_TEST(name(p) == "direct-d-nt-60x128x512-6x64x2-v16");
}

BOOST_AUTO_TEST_CASE(NameIsAFileName) {
  for (const Params& p : default_variants(DeviceKind::gpu, Precision::double_precision)) {
    BOOST_TEST(name(p).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(constraints)

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

BOOST_AUTO_TEST_CASE(RowsOfALocalTileWorkItemAreWholeVectors) {
  Params p = local_tile();
  p.ms = 2;
  p.ml = 32;
  check_violated(p, smallest_device(), "divisibility", {"ms is 2", "vector_width = 4"});
}

BOOST_AUTO_TEST_CASE(LocalTilesAreCopiedInEqualShares) {
  Params p = local_tile();
  p.kl = 6;
  p.ml = 32;
  check_violated(p, smallest_device(), "divisibility", {"ml * kl is 192", "work-group size = 128"});
}

BOOST_AUTO_TEST_CASE(DirectHasNoDepthBlock) {
  Params p;
  p.kl = 8;
  check_violated(p, smallest_device(), "family-direct", {"kl is 8"});
}

BOOST_AUTO_TEST_CASE(DirectHasOneVectorOfColumns) {
  Params p;
  p.nl = p.ns = 8;
  p.vector_width = 4;
  check_violated(p, smallest_device(), "family-direct", {"ns is 8", "4 columns"});
}

BOOST_AUTO_TEST_CASE(AccumulatorsFitIntoRegisters) {
  Params p = register_tile();
  p.ms = p.ml = 9;
  check_violated(p, smallest_device(), "registers", {"9 * 64", "2304 bytes", "limit 2048"});
  p = local_tile();
  p.ms = p.ns = 16;
  check_violated(p, smallest_device(), "registers", {"16 * 16", "1024 bytes", "limit 512"});
}

BOOST_AUTO_TEST_CASE(PackedOperandsFitIntoPrivateMemory) {
  Params p = register_tile();
  p.kl = 4096;
  check_violated(p, smallest_device(), "private-memory", {"limit 1048576"});
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
  device.local_memory_bytes = 8703;
  check_violated(local_tile(), device, "local-memory", {"8704 bytes", "limit 8703"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(defaults)

BOOST_AUTO_TEST_CASE(DefaultVariantsFitTheSmallestDevice) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      for (const Params& p : default_variants(kind, precision)) {
        for (const Violation& violation : check(p, smallest_device())) {
          BOOST_ERROR(name(p) << ": " << violation.reason);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsCoverEveryFamilyAndTransposeOnce) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu}) {
    std::set<std::string> names;
    std::set<std::string> kinds;
    const std::vector<Params> variants = default_variants(kind, Precision::double_precision);
    for (const Params& p : variants) {
      BOOST_TEST((p.precision == Precision::double_precision));
      names.insert(name(p));
      kinds.insert(std::string(name(p.family)) + (p.trans_a ? "-t" : "-n") + (p.trans_b ? "t" : "n"));
    }
    BOOST_TEST(variants.size() == 12U);
    BOOST_TEST(names.size() == 12U);
    BOOST_TEST(kinds.size() == 12U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
