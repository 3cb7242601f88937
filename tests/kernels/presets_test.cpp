// Presets have the work-groups, local memory and factors that the tutorial and the paper state.
#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/presets.hpp>

#include <boost/test/unit_test.hpp>
#include <set>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

// A GPU like the tutorial's: work-groups of 1024 work-items, 48 KiB of local memory.
DeviceLimits kepler() { return {true, 1024, {1024, 1024, 64}, 49152, true, 35}; }

const Params& tutorial(const std::string& number) {
  const Preset* preset = find_preset("tutorial-" + number);
  BOOST_REQUIRE_MESSAGE(preset, number);
  return preset->params;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(named_points)

BOOST_AUTO_TEST_CASE(NamesAreFoundAndUnique) {
  std::set<std::string> names;
  for (const Preset& preset : presets()) {
    BOOST_TEST(names.insert(preset.name).second, preset.name);
    BOOST_TEST(find_preset(preset.name) == &preset);
    BOOST_TEST(!preset.origin.empty());
    BOOST_TEST(std::holds_alternative<std::string>(parse(preset.name)), "looks like a variant: " << preset.name);
  }
  BOOST_TEST(!find_preset("tutorial-11"));
  BOOST_TEST(!find_preset(""));
}

BOOST_AUTO_TEST_CASE(TheTutorialIsThereInItsOrder) {
  const char* numbers[] = {"1", "2", "3", "4", "4-w1", "4-w2", "4-w4", "5", "6", "7", "8", "9", "10"};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    BOOST_TEST(presets()[i].name == std::string("tutorial-") + numbers[i]);
  }
}

BOOST_AUTO_TEST_CASE(TheTutorialsDeviceRunsAllOfItsKernels) {
  for (const Preset& preset : presets()) {
    if (preset.name.rfind("tutorial-", 0) != 0) continue;
    for (const Violation& violation : check(preset.params, kepler())) {
      BOOST_ERROR(preset.name << ": " << violation.reason);
    }
    BOOST_TEST((preset.params.precision == Precision::single_precision));
    BOOST_TEST((!preset.params.trans_a && !preset.params.trans_b));
  }
}

// The tutorial's launch parameters, first dimension along its M, our n.
BOOST_AUTO_TEST_CASE(WorkGroupsAreTheTutorials) {
  struct Case {
    const char* number;
    std::uint32_t x, y;
  };
  for (const Case& c : {Case{"1", 32, 32},
                        {"2", 32, 32},
                        {"3", 32, 4},
                        {"4", 4, 32},
                        {"4-w2", 16, 32},
                        {"4-w4", 8, 32},
                        {"5", 32, 4},
                        {"6", 16, 16},
                        {"7", 16, 16},
                        {"9", 16, 16},
                        {"10", 16, 16}}) {
    const WorkGroup group = work_group_size(tutorial(c.number));
    BOOST_TEST(group.x == c.x, c.number);
    BOOST_TEST(group.y == c.y, c.number);
  }
}

BOOST_AUTO_TEST_CASE(LocalMemoryIsTheTutorials) {
  BOOST_TEST(local_memory_bytes(tutorial("2")) == 2 * 32 * 32 * 4U);
  BOOST_TEST(local_memory_bytes(tutorial("7")) == 2 * 16 * 128 * 4U);
  BOOST_TEST(local_memory_bytes(tutorial("9")) == 32768U);  // "giving us the same 32KB as cuBLAS"
}

BOOST_AUTO_TEST_CASE(WhatCannotBeSaidHereIsNoted) {
  Params eighth = tutorial("8");
  BOOST_TEST(eighth.exchange);
  eighth.exchange = false;
  BOOST_TEST((eighth == tutorial("7")));
  BOOST_TEST(find_preset("tutorial-8")->note.find("__ldg") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ThePapersSetsAreAsPublished) {
  const auto name_of = [](const char* preset) { return name(find_preset(preset)->params); };
  BOOST_TEST(name_of("paper-dgemm-cbl") == "stripe-d-nn-64x16x16-4x4x2-v2-acbl-bcbl-blocal");
  BOOST_TEST(name_of("paper-dgemm-rbl") == "stripe-d-nn-64x16x16-4x4x2-v2-arbl-brbl-blocal");
  BOOST_TEST(name_of("paper-dgemm-row-tn") == "stripe-d-tn-256x8x16-4x4x2-v2");
  BOOST_TEST(name_of("paper-dgemm-row-nn") == "stripe-d-nn-32x128x128-4x4x4-v4-alocal");
  BOOST_TEST(name_of("paper-sgemm-cbl") == "stripe-s-nn-128x128x256-16x8x4-v4-acbl-bcbl");
  BOOST_TEST(name_of("paper-sgemm-rbl") == "stripe-s-nn-128x32x8-8x8x8-v2-arbl-brbl-blocal");
  BOOST_TEST(name_of("paper-sgemm-row-tn") == "stripe-s-tn-128x64x4-8x4x4-v4");
  BOOST_TEST(name_of("paper-sgemm-row-nn") == "stripe-s-nn-128x64x256-8x4x4-v4-aimage");
}

// The device that the paper measured on offered at least this much.
BOOST_AUTO_TEST_CASE(ThePapersSetsFitTheSmallestDeviceWithImages) {
  const DeviceLimits device{true, 256, {256, 256, 64}, 32768, true};
  for (const Preset& preset : presets()) {
    if (preset.name.rfind("paper-", 0) != 0) continue;
    for (const Violation& violation : check(preset.params, device)) {
      BOOST_ERROR(preset.name << ": " << violation.constraint << ": " << violation.reason);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
