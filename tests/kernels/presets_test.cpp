// Presets have the work-groups, local memory and factors that the tutorial and the paper state.
#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/presets.hpp>

#include <boost/test/unit_test.hpp>
#include <set>

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
    BOOST_TEST(std::holds_alternative<std::string>(parse(preset.name)), "looks like a variant: " << preset.name);
  }
  BOOST_TEST(!find_preset("tutorial-11"));
  BOOST_TEST(!find_preset(""));
}

// The tutorial's device runs its kernels; the device that the paper measured on offered at least the second.
BOOST_AUTO_TEST_CASE(TheirDevicesRunThem) {
  const DeviceLimits smallest{true, 256, {256, 256, 64}, 32768, true};
  std::size_t of_tutorial = 0;
  for (const Preset& preset : presets()) {
    const bool tutorial = preset.name.rfind("tutorial-", 0) == 0;
    of_tutorial += tutorial ? 1 : 0;
    for (const Violation& violation : check(preset.params, tutorial ? kepler() : smallest)) {
      BOOST_ERROR(preset.name << ": " << violation.reason);
    }
  }
  BOOST_TEST(of_tutorial == 13U);
  BOOST_TEST(presets().size() == 21U);
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

BOOST_AUTO_TEST_SUITE_END()
