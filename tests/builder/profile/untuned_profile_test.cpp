// Rules where nothing was tuned: every problem has a variant, whatever could be baked; and what a tuning has to beat.
#include "build_fixture.hpp"

#include <clbake/choice.hpp>

#include "profile/untuned_profile.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace profile;
namespace {

using kernels::DeviceType;
using Names = std::vector<std::string>;

// One small point of each family, not among the default ones.
const std::map<std::string, std::string> kPoints = {{"direct", "direct-s-nn-4x4x1-2x2x1-v2"},
                                                    {"register_tile", "register_tile-s-nn-60x128x512-6x32x1-v16"},
                                                    {"local_tile", "local_tile-s-nn-32x64x16-8x8x16-v4-load4-padding4"},
                                                    {"stripe", "stripe-s-nn-64x16x8-4x4x2-v2-acbl-bcbl-blocal"}};

// An entry of each variant, for target 1 of two.
cache::Contents contents_with(const Names& variants) {
  cache::Contents contents;
  contents.targets = {made_up_device("Other").target, made_up_device().target};
  for (const std::string& name : variants) {
    cache::Entry entry;
    entry.target = 1;
    entry.variant = static_cast<std::uint32_t>(contents.variants.size());
    contents.variants.emplace_back().name = name;
    contents.entries.push_back(entry);
  }
  return contents;
}

std::string choice(const cache::Profile& profile, const cache::Contents& contents, const std::string& text) {
  const Shape shape = *parse_shape(text);
  for (const cache::Rule& rule : profile.defaults) {
    if (rule.kind() == shape.kind() && fits(rule, problem_of(shape))) return contents.variants[rule.variant].name;
  }
  return "none";
}

// The variant that serves the shape of those that are baked.
std::string served(const Names& baked, DeviceType type, const std::string& shape) {
  const cache::Contents contents = contents_with(baked);
  return choice(untuned_profile(contents, 1, type), contents, shape);
}

Names defaults_of(DeviceType type, std::uint32_t vector_bytes, const GemmKind& kind = {}) {
  Names names;
  for (const kernels::Params& p : kernels::default_variants(type, kind.precision, vector_bytes)) {
    if (p.kind() == kind) names.push_back(kernels::name(p));
  }
  return names;
}

Tuning timed(const Names& variants) {
  Tuning tuning;
  tuning.variants = variants;
  return tuning;
}

std::string to_beat(const Tuning& tuning, const std::string& shape) {
  const std::optional<std::uint32_t> variant = DefaultChoice(tuning).of(*parse_shape(shape));
  return variant ? tuning.variants.at(*variant) : "none";
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheFamilyMadeForTheDeviceServesOrElseTheNextBest) {
  struct Case {
    DeviceType type;
    Names families;
    std::string small, large;
  };
  for (const Case& c :
       {Case{DeviceType::cpu, {"direct", "register_tile", "local_tile"}, "register_tile", "register_tile"},
        Case{DeviceType::cpu, {"direct", "local_tile"}, "local_tile", "local_tile"},
        Case{DeviceType::cpu, {"stripe", "direct"}, "stripe", "stripe"},
        Case{DeviceType::gpu, {"direct", "register_tile", "local_tile"}, "direct", "local_tile"},
        Case{DeviceType::gpu, {"direct", "register_tile"}, "direct", "direct"},
        Case{DeviceType::gpu, {"register_tile"}, "register_tile", "register_tile"}}) {
    Names baked;
    for (const std::string& family : c.families) baked.push_back(kPoints.at(family));
    for (const char* small : {"single nn 4x4x4", "single nn 16x16x16"}) {
      BOOST_TEST(served(baked, c.type, small) == kPoints.at(c.small));
    }
    for (const char* large : {"single nn 17x1x1", "single nn 1x2000x1", "single nn 2147483647x2147483647x2147483647"}) {
      BOOST_TEST(served(baked, c.type, large) == kPoints.at(c.large));
    }
  }
}

constexpr const char* kLarge = "register_tile-s-nn-256x128x512-8x32x1-v16-lines";
constexpr const char* kNarrow = "register_tile-s-nn-128x16x512-8x16x1-v16";

BOOST_AUTO_TEST_CASE(DozensOfColumnsOnCpusGoToTheSmallTile) {
  const Names baked = defaults_of(DeviceType::cpu, 64);
  for (const char* small : {"single nn 1x9x1", "single nn 5000x128x5000"}) {
    BOOST_TEST(served(baked, DeviceType::cpu, small) == kNarrow, small);
  }
  for (const char* large :
       {"single nn 1x1x1", "single nn 5000x8x5000", "single nn 1x129x5000", "single nn 384x384x384"}) {
    BOOST_TEST(served(baked, DeviceType::cpu, large) == kLarge, large);
  }
}

BOOST_AUTO_TEST_CASE(KindsWithoutAnEntryOnTheTargetGetNoRule) {
  BOOST_TEST(served({kPoints.at("direct")}, DeviceType::cpu, "single tn 4x4x4") == "none");
  BOOST_TEST(untuned_profile(contents_with({kPoints.at("direct")}), 0, DeviceType::cpu).defaults.empty());
  const cache::Profile profile = untuned_profile(contents_with({kPoints.at("direct")}), 1, DeviceType::cpu);
  BOOST_TEST(profile.defaults.size() == 1U);  // one for all sizes
  BOOST_TEST((profile.exceptions.empty() && profile.models.empty()));
}

BOOST_AUTO_TEST_CASE(ATunedVariantIsNoDefaultWhateverItsTile) {
  Names baked = defaults_of(DeviceType::gpu, 32);
  baked.push_back("local_tile-s-nn-256x256x16-8x8x16-v4-load4-padding4");
  BOOST_TEST(served(baked, DeviceType::gpu, "single nn 4096x4096x4096").rfind("local_tile-s-nn-64x128", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(ATuningHasToBeatWhatAnUntunedBundleTakes) {
  const Tuning cpu = timed(defaults_of(DeviceType::cpu, 64)), gpu = timed(defaults_of(DeviceType::gpu, 4));
  BOOST_TEST(to_beat(cpu, "single nn 64x64x64") == kNarrow);
  BOOST_TEST(to_beat(cpu, "single nn 1024x1024x1024") == kLarge);
  BOOST_TEST(to_beat(gpu, "single nn 16x16x16") == "direct-s-nn-16x16x1-1x1x4-v1");
  BOOST_TEST(to_beat(gpu, "single nn 1024x1024x1024 batch 3").rfind("local_tile-s-nn-64x128", 0) == 0U);
  BOOST_TEST(to_beat(cpu, "single tn 64x64x64") == "none");
  BOOST_TEST(to_beat(timed({}), "single nn 64x64x64") == "none");
}

// A search may have tried them: they are points of the same space.
BOOST_AUTO_TEST_CASE(DefaultVariantsOfOtherDevicesDoNotCount) {
  Tuning t = timed(defaults_of(DeviceType::cpu, 64));
  const std::string narrow = to_beat(t, "single nn 64x64x64");
  const Names others = defaults_of(DeviceType::cpu, 32);
  t.variants.insert(t.variants.begin(), others[2]);  // smaller than the device's own
  t.variants.push_back(defaults_of(DeviceType::gpu, 4)[0]);
  BOOST_TEST(others[2] != narrow);
  BOOST_TEST(to_beat(t, "single nn 64x64x64") == narrow);
  BOOST_TEST((DefaultChoice(t).variants() == std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace clbake::builder::test
