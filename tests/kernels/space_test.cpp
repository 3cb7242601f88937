// Counting and drawing agree with calling `check` on every point.
#include <clbake/kernels/defaults.hpp>
#include <clbake/kernels/presets.hpp>
#include <clbake/kernels/space.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

struct NamedLimits {
  const char* name;
  DeviceLimits limits;
};

// Between them, these devices break every constraint: few work-items, little local memory, no images, no doubles.
const std::vector<NamedLimits> kDevices = {
    {"PoCL", {true, 4096, {4096, 4096, 4096}, 1048576, true}},
    {"small GPU", {true, 256, {256, 256, 64}, 32768, true}},
    {"no images", {true, 64, {64, 64, 64}, 1024, false}},
    {"flat groups", {true, 128, {128, 4, 1}, 16384, true}},
    {"few work-items", {true, 32, {32, 32, 32}, 65536, true}},
    {"one work-item", {true, 1, {1, 1, 1}, 32768, true}},
    {"matrix units", {true, 1024, {1024, 1024, 64}, 49152, true, 90, false, true, 65536}},
    {"no double", {false, 256, {256, 256, 64}, 32768, false}},
};

// All but thin_tile, warp_tile and warpgroup_tile, which only some devices of NVIDIA's can run.
constexpr Family kForAllDevices[] = {Family::direct, Family::register_tile, Family::local_tile, Family::stripe};

// Up to `most` values of each axis, spread over all of them and different for each seed.
Space thinned(const Space& full, std::size_t most, unsigned seed) {
  Space thin = full;
  std::mt19937 random(seed);
  for (Axis& axis : thin.axes) {
    while (axis.values.size() > most) {
      axis.values.erase(axis.values.begin() + static_cast<std::ptrdiff_t>(random() % axis.values.size()));
    }
  }
  return thin;
}

// The space with one value for each of the named axes, which keeps the number of points small.
Space without(Space space, const std::set<std::string_view>& names) {
  for (Axis& axis : space.axes) {
    if (names.count(axis.parameter.name) > 0) axis.values.resize(1);
  }
  return space;
}

using Fallen = std::map<std::string_view, std::uint64_t>;

struct BruteForce {
  std::uint64_t points = 0;
  std::uint64_t admitted = 0;
  Fallen fallen;
};

void visit(const Space& space, std::size_t level, Params& p, const DeviceLimits& device, BruteForce& result) {
  if (level == space.axes.size()) {
    const std::vector<Violation> violations = check(p, device);
    ++result.points;
    if (violations.empty()) {
      ++result.admitted;
    } else {
      ++result.fallen[violations.front().constraint];
    }
    return;
  }
  for (const std::uint32_t value : space.axes[level].values) {
    space.axes[level].parameter.set(p, value);
    visit(space, level + 1, p, device, result);
  }
}

void check_count(const Space& space, Precision precision, const NamedLimits& device) {
  BruteForce expected;
  Params p;
  p.family = space.family;
  p.precision = precision;
  visit(space, 0, p, device.limits, expected);
  const Census census = count(space, precision, device.limits);
  BOOST_TEST_CONTEXT(name(space.family) << " on " << device.name) {
    BOOST_TEST(census.points == expected.points);
    BOOST_TEST(census.admitted == expected.admitted);
    BOOST_TEST((Fallen(census.fallen.begin(), census.fallen.end()) == expected.fallen));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spaces)

BOOST_AUTO_TEST_CASE(EveryParameterOfAFamilyIsAnAxisOnce) {
  for (const Family family : all_families) {
    std::set<std::string_view> expected = {"trans_a", "trans_b"};
    for (const Parameter& parameter : parameters()) {
      if (parameter.of(family) && !parameter.macro.empty()) expected.insert(parameter.name);  // of the kernels
    }
    std::set<std::string_view> names;
    for (const Axis& axis : space(family).axes) {
      names.insert(axis.parameter.name);
      BOOST_TEST((std::set<std::uint32_t>(axis.values.begin(), axis.values.end()).size() == axis.values.size()));
      BOOST_TEST(!axis.values.empty());
    }
    BOOST_TEST((names == expected), name(family));
    BOOST_TEST(space(family).axes.size() == expected.size());
  }
}

// Options vary, blocking factors hardly.
BOOST_AUTO_TEST_CASE(CountsAreThoseOfEveryPointAndItsFirstViolation) {
  unsigned seed = 0;
  for (const NamedLimits& device : kDevices) {
    ++seed;  // other values for each device
    for (const Family family : all_families) {
      const std::size_t most = family == Family::direct ? 4 : family == Family::register_tile ? 3 : 2;
      check_count(thinned(space(family), most, seed), Precision::single_precision, device);
    }
  }
}

// Blocking factors vary, options do not.
BOOST_AUTO_TEST_CASE(CountsOfBlockingFactorsAreThoseOfEveryPoint) {
  const std::set<std::string_view> options = {"trans_a", "trans_b", "split_k",  "layout_a", "layout_b",
                                              "local_a", "map",     "prefetch", "fragments"};
  for (const NamedLimits& device : kDevices) {
    for (const Precision precision : {Precision::half_precision, Precision::double_precision}) {
      for (const Family family : all_families) {
        const std::size_t most = family == Family::direct ? 6 : family == Family::local_tile ? 3 : 4;
        check_count(thinned(without(space(family), options), most, 7), precision, device);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(PointsFallOrAreAdmitted) {
  for (const Family family : kForAllDevices) {
    const Census census = count(family, Precision::single_precision, kDevices[1].limits);
    std::uint64_t sum = census.admitted;
    for (const auto& [constraint, points] : census.fallen) sum += points;
    BOOST_TEST(sum == census.points, name(family));
    BOOST_TEST(census.admitted > 1000U, name(family));
  }
}

BOOST_AUTO_TEST_CASE(WithoutDoublePrecisionNothingIsAdmitted) {
  const Census census = count(Family::direct, Precision::double_precision, kDevices.back().limits);
  BOOST_TEST(census.admitted == 0U);
  BOOST_REQUIRE(census.fallen.size() == 1U);
  BOOST_TEST(census.fallen[0].first == "precision");
}

BOOST_AUTO_TEST_CASE(DrawnPointsAreAdmittedPointsOfTheSpace) {
  std::mt19937 random(11);
  for (const NamedLimits& device : kDevices) {
    if (device.limits.max_work_group_size < 32) continue;  // one point in a million
    for (const Family family : kForAllDevices) {
      for (int i = 0; i < 50; ++i) {
        const std::optional<Params> p = draw(family, Precision::single_precision, random, device.limits);
        BOOST_REQUIRE_MESSAGE(p.has_value(), name(family) << " on " << device.name);
        BOOST_TEST(check(*p, device.limits).empty(), name(*p));
        BOOST_TEST(contains(space(family), *p), name(*p));
        const auto read = parse(name(*p));
        BOOST_REQUIRE(std::holds_alternative<Params>(read));
        BOOST_TEST((std::get<Params>(read) == *p));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(FamiliesForMatrixUnitsAreDrawnWhereTheDeviceHasThem) {
  const DeviceLimits& device = kDevices[6].limits;
  BOOST_REQUIRE(device.warpgroups);
  const std::pair<Family, Precision> families[] = {{Family::warpgroup_tile, Precision::bfloat16},
                                                   {Family::thin_tile, Precision::half_precision},
                                                   {Family::warp_tile, Precision::double_precision}};
  for (const auto& [family, precision] : families) {
    std::mt19937 random(11);
    for (int i = 0; i < 50; ++i) {
      const std::optional<Params> p = draw(family, precision, random, device);
      BOOST_REQUIRE(p.has_value());
      BOOST_TEST(check(*p, device).empty(), name(*p));
      BOOST_TEST(contains(space(family), *p), name(*p));
    }
    BOOST_TEST(count(family, Precision::single_precision, device).admitted == 0U);
  }
}

BOOST_AUTO_TEST_CASE(EqualStatesDrawEqualPoints) {
  std::mt19937 one(5), two(5);
  for (int i = 0; i < 20; ++i) {
    BOOST_TEST((draw(Family::local_tile, Precision::single_precision, one, kDevices[0].limits) ==
                draw(Family::local_tile, Precision::single_precision, two, kDevices[0].limits)));
  }
}

BOOST_AUTO_TEST_CASE(EveryPointIsDrawnEquallyOften) {
  Space small = thinned(without(space(Family::direct), {"trans_a", "trans_b", "split_k", "kl", "ks"}), 3, 1);
  const std::uint64_t admitted = count(small, Precision::single_precision, kDevices[0].limits).admitted;
  BOOST_REQUIRE(admitted > 3U);
  std::map<std::string, int> drawn;
  std::mt19937 random(3);
  constexpr int each = 200;
  for (std::uint64_t i = 0; i < admitted * each; ++i) {
    ++drawn[name(*draw(small, Precision::single_precision, random, kDevices[0].limits))];
  }
  BOOST_TEST(drawn.size() == admitted);
  for (const auto& [point, times] : drawn) BOOST_TEST((times > each / 2 && times < each * 2), point << ": " << times);
}

BOOST_AUTO_TEST_CASE(NothingIsDrawnWhereNothingIsAdmitted) {
  std::mt19937 random(1);
  BOOST_TEST(!draw(Family::direct, Precision::double_precision, random, kDevices.back().limits).has_value());
}

BOOST_AUTO_TEST_CASE(DefaultsAndPresetsArePointsOfTheSpace) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const auto& points : {default_variants(kind, precision), specialists(kind, precision)}) {
        for (const Params& p : points) BOOST_TEST(contains(space(p.family), p), name(p));
      }
    }
  }
  for (const Preset& preset : presets()) BOOST_TEST(contains(space(preset.params.family), preset.params), preset.name);
}

BOOST_AUTO_TEST_CASE(AParameterThatTheFamilyHasNotIsNoPointOfTheSpace) {
  Params p;
  BOOST_TEST(contains(space(Family::direct), p));
  p.buffers = 2;
  BOOST_TEST(!contains(space(Family::direct), p));
}

BOOST_AUTO_TEST_SUITE_END()
