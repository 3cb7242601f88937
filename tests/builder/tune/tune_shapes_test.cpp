// Shapes to tune for, of each kind.
#include <clbake/builder/tune.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

namespace clbake::builder::test {
namespace {

using namespace tune;

using kernels::DeviceType;

std::vector<std::string> names(const std::vector<Shape>& shapes) {
  std::vector<std::string> list;
  for (const Shape& shape : shapes) list.push_back(name(shape));
  return list;
}

std::set<std::string> classes(const std::vector<Shape>& shapes) {
  std::set<std::string> list;
  for (const Shape& shape : shapes) list.insert(shape_class(shape));
  return list;
}

const std::vector<GemmKind> kSingleNN = {{}};

}  // namespace

BOOST_AUTO_TEST_CASE(EveryPresetHasItsClassesAndProbesOfItsList) {
  const std::map<std::string, std::set<std::string>> wanted = {
      {"square", {"square"}},
      {"thin", {"thin-m", "thin-n", "thin-k", "thin-mn", "thin-mk", "thin-nk"}},
      {"small", {"small"}},
      {"batched", {"batched"}},
      {"all", {"square", "thin-m", "thin-n", "thin-k", "thin-mn", "thin-mk", "thin-nk", "small", "batched"}}};
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const auto& [preset, has] : wanted) {
      const std::optional<TuneShapes> shapes = preset_shapes(preset, kind, kSingleNN);
      BOOST_REQUIRE(shapes.has_value());
      BOOST_TEST((classes(shapes->list) == has), preset);
      BOOST_TEST((shapes->probes.size() == 1 || shapes->probes.size() == 2), preset);
      for (const std::size_t probe : shapes->probes) BOOST_TEST(probe < shapes->list.size(), preset);
      BOOST_TEST(shapes->grid.size() >= 100U, preset);
      std::vector<std::string> all = names(shapes->list);
      for (const Shape& shape : shapes->grid) all.push_back(name(shape));
      BOOST_TEST((std::set<std::string>(all.begin(), all.end()).size() == all.size()), preset);
    }
  }
}

// Shapes with a short side alone would not teach a race which tiles long, thin and deep ones want.
BOOST_AUTO_TEST_CASE(AQuarterOfTheShapesInARaceHaveNoShortSide) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    const TuneShapes all = *preset_shapes("all", kind, kSingleNN);
    const auto large = std::count_if(all.grid.begin(), all.grid.end(), [](const Shape& shape) {
      return std::min({shape.m, shape.n, shape.k}) >= 64 && shape_class(shape) != "square";
    });
    BOOST_TEST(4 * static_cast<std::size_t>(large) >= all.grid.size());
  }
}

BOOST_AUTO_TEST_CASE(OtherNamesAreNoPresets) {
  for (const char* name : {"", "al", "ALL", "all ", "shapes.txt"}) {
    BOOST_TEST(!preset_shapes(name, DeviceType::cpu, kSingleNN).has_value(), name);
  }
}

BOOST_AUTO_TEST_CASE(APresetIsTheSameForEachKind) {
  const std::vector<GemmKind> kinds = {{Precision::double_precision, true, false}, {}};
  const TuneShapes both = *preset_shapes("thin", DeviceType::cpu, kinds);
  const TuneShapes one = *preset_shapes("thin", DeviceType::cpu, kSingleNN);
  const std::size_t count = one.list.size();
  BOOST_REQUIRE_EQUAL(both.list.size(), 2 * count);
  BOOST_TEST(both.grid.size() == 2 * one.grid.size());
  BOOST_TEST((std::vector<Shape>(both.list.begin() + static_cast<std::ptrdiff_t>(count), both.list.end()) == one.list));
  for (std::size_t i = 0; i < count; ++i) {
    BOOST_TEST((both.list[i].kind() == kinds[0] && both.list[i].m == one.list[i].m));
  }
  BOOST_REQUIRE_EQUAL(both.probes.size(), 4U);
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(both.probes[i] == one.probes[i]);
    BOOST_TEST(both.probes[2 + i] == count + one.probes[i]);
  }
}

// A medium and a large amount of work, by what the shapes weigh.
BOOST_AUTO_TEST_CASE(EachKindHasItsOwnShapesTheHeaviestFirstAndItsOwnProbes) {
  std::vector<Shape> given;
  for (const char* text : {"single nn 10x10x10", "single tn 5x5x5", "single nn 20x20x20 weight 7", "double nn 9x9x9",
                           "single nn 30x30x30", "single nn 40x40x40"}) {
    given.push_back(*parse_shape(text));
  }
  const TuneShapes shapes = shapes_to_tune(given, {{Precision::single_precision, true, false}, {}});
  BOOST_TEST(
      (names(shapes.list) == std::vector<std::string>{"single tn 5x5x5", "single nn 20x20x20", "single nn 10x10x10",
                                                      "single nn 30x30x30", "single nn 40x40x40"}));
  BOOST_TEST(shapes.list[1].weight == 7);
  BOOST_TEST(shapes.grid.empty());
  BOOST_TEST((shapes.probes == std::vector<std::size_t>{0, 1, 3}));  // 8 of 10 weigh less than 30x30x30
}

}  // namespace clbake::builder::test
