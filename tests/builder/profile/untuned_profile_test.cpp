// The untuned profile: every problem has a variant, whatever could be baked.
#include "build_fixture.hpp"

#include "profile/untuned_profile.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>

namespace clbake::builder::test {
namespace {

using kernels::DeviceType;
using Families = std::vector<std::string>;

const Families kAll = {"direct", "register_tile", "local_tile"};

// A variant and an entry of each family for both precisions and all transposes, for target 1 of two.
cache::Contents contents_with(const Families& families) {
  cache::Contents contents;
  contents.targets = {made_up_device("Other").target, made_up_device().target};
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const std::string& family : families) {
      for (const int trans : {0, 1, 2, 3}) {
        cache::Variant variant;
        variant.name = family + std::to_string(static_cast<int>(precision)) + std::to_string(trans);
        variant.family = family;
        variant.precision = precision;
        variant.trans_a = trans % 2 == 1;
        variant.trans_b = trans / 2 == 1;
        cache::Entry entry;
        entry.target = 1;
        entry.variant = static_cast<std::uint32_t>(contents.variants.size());
        contents.variants.push_back(variant);
        contents.entries.push_back(entry);
      }
    }
  }
  return contents;
}

const cache::Rule* rule_for(const cache::Profile& profile, Precision precision, bool trans_a, bool trans_b,
                            std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  for (const cache::Rule& r : profile.defaults) {
    if (r.precision == precision && r.trans_a == trans_a && r.trans_b == trans_b && r.m_min <= m && m <= r.m_max &&
        r.n_min <= n && n <= r.n_max && r.k_min <= k && k <= r.k_max) {
      return &r;
    }
  }
  return nullptr;
}

// The family that serves a single-precision problem without transposes.
std::string family_for(const cache::Contents& contents, DeviceType kind, std::uint32_t m, std::uint32_t n,
                       std::uint32_t k) {
  const cache::Profile profile = untuned_profile(contents, 1, kind);
  const cache::Rule* rule = rule_for(profile, Precision::single_precision, false, false, m, n, k);
  return rule ? contents.variants[rule->variant].family : "none";
}

const std::vector<Families> kSubsets = {{"direct"},
                                        {"register_tile"},
                                        {"local_tile"},
                                        {"direct", "register_tile"},
                                        {"direct", "local_tile"},
                                        {"register_tile", "local_tile"},
                                        kAll};

}  // namespace

BOOST_AUTO_TEST_CASE(EveryProblemHasAVariantThatComputesIt) {
  const std::uint32_t sizes[] = {0, 1, 16, 17, 64, 65, 4096, std::numeric_limits<std::int32_t>::max()};
  for (const Families& families : kSubsets) {
    const cache::Contents contents = contents_with(families);
    for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
      const cache::Profile profile = untuned_profile(contents, 1, kind);
      BOOST_TEST(profile.target == 1U);
      BOOST_TEST(profile.units == 1U);
      BOOST_TEST((profile.exceptions.empty() && profile.models.empty()));
      std::size_t without = 0;
      for (const cache::Variant& v : contents.variants) {
        for (const std::uint32_t m : sizes) {
          for (const std::uint32_t n : sizes) {
            for (const std::uint32_t k : sizes) {
              const cache::Rule* rule = rule_for(profile, v.precision, v.trans_a, v.trans_b, m, n, k);
              const bool served = rule && contents.variants[rule->variant].precision == v.precision &&
                                  contents.variants[rule->variant].trans_a == v.trans_a &&
                                  contents.variants[rule->variant].trans_b == v.trans_b;
              without += served ? 0 : 1;
            }
          }
        }
      }
      BOOST_TEST(without == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(SmallProblemsOfGpusGoToTheDirectFamily) {
  const cache::Contents contents = contents_with(kAll);
  BOOST_TEST(family_for(contents, DeviceType::gpu, 16, 16, 16) == "direct");
  BOOST_TEST(family_for(contents, DeviceType::gpu, 0, 0, 0) == "direct");
}

BOOST_AUTO_TEST_CASE(SmallAndThinProblemsOfCpusGoToTheSmallTile) {
  cache::Contents contents = contents_with({"register_tile", "register_tile", "direct"});
  for (std::size_t v = 0; v < contents.variants.size(); ++v) {
    cache::Launch launch;
    launch.tile_m = 128;
    launch.tile_n = v % 12 < 4 ? 128 : 16;
    contents.variants[v].launches = {launch};
  }
  const auto width_for = [&](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    const cache::Profile profile = untuned_profile(contents, 1, DeviceType::cpu);
    const cache::Rule* rule = rule_for(profile, Precision::double_precision, true, false, m, n, k);
    BOOST_TEST(contents.variants[rule->variant].family == "register_tile");
    return contents.variants[rule->variant].launches.front().tile_n;
  };
  BOOST_TEST(width_for(0, 0, 0) == 16U);
  BOOST_TEST(width_for(5000, 128, 5000) == 16U);
  BOOST_TEST(width_for(192, 5000, 5000) == 16U);
  BOOST_TEST(width_for(384, 384, 384) == 16U);
  BOOST_TEST(width_for(193, 129, 5000) == 128U);
  BOOST_TEST(width_for(385, 384, 384) == 128U);
}

BOOST_AUTO_TEST_CASE(OthersGoToTheFamilyMadeForTheKindOfDevice) {
  const cache::Contents contents = contents_with(kAll);
  for (const int large : {0, 1, 2}) {
    const std::uint32_t m = large == 0 ? 1000 : 1, n = large == 1 ? 1000 : 1, k = large == 2 ? 1000 : 1;
    BOOST_TEST(family_for(contents, DeviceType::cpu, m, n, k) == "register_tile");
    BOOST_TEST(family_for(contents, DeviceType::gpu, m, n, k) == "local_tile");
  }
}

BOOST_AUTO_TEST_CASE(AMissingFamilyIsReplacedByTheNextBest) {
  struct Case {
    DeviceType kind;
    Families baked;
    std::string small, large;
  };
  for (const Case& c : {Case{DeviceType::cpu, {"direct", "local_tile"}, "local_tile", "local_tile"},
                        Case{DeviceType::cpu, {"register_tile", "local_tile"}, "register_tile", "register_tile"},
                        Case{DeviceType::cpu, {"direct"}, "direct", "direct"},
                        Case{DeviceType::gpu, {"direct", "register_tile"}, "direct", "direct"},
                        Case{DeviceType::gpu, {"register_tile"}, "register_tile", "register_tile"},
                        Case{DeviceType::gpu, {"local_tile"}, "local_tile", "local_tile"}}) {
    const cache::Contents contents = contents_with(c.baked);
    BOOST_TEST(family_for(contents, c.kind, 4, 4, 4) == c.small);
    BOOST_TEST(family_for(contents, c.kind, 500, 500, 500) == c.large);
  }
}

BOOST_AUTO_TEST_CASE(TransposesWithoutAnEntryGetNoRule) {
  cache::Contents contents = contents_with(kAll);
  contents.entries.erase(contents.entries.begin());  // direct, single, nn
  const cache::Profile profile = untuned_profile(contents, 1, DeviceType::cpu);
  BOOST_TEST(contents.variants[rule_for(profile, Precision::single_precision, false, false, 4, 4, 4)->variant].family ==
             "register_tile");

  cache::Contents only_one = contents_with({"direct"});
  only_one.entries.resize(1);
  const cache::Profile small = untuned_profile(only_one, 1, DeviceType::cpu);
  BOOST_TEST(small.defaults.size() == 1U);
  BOOST_TEST(rule_for(small, Precision::single_precision, true, false, 4, 4, 4) == nullptr);
}

BOOST_AUTO_TEST_CASE(AFamilyThatIsTheOnlyOneServesEverything) {
  for (const std::string family : {"stripe", "of a later version"}) {
    const cache::Contents contents = contents_with({family});
    BOOST_TEST(family_for(contents, DeviceType::cpu, 4, 4, 4) == family);
    BOOST_TEST(family_for(contents, DeviceType::gpu, 500, 500, 500) == family);
  }
}

BOOST_AUTO_TEST_CASE(EntriesOfAnotherTargetDoNotCount) {
  const cache::Profile profile = untuned_profile(contents_with(kAll), 0, DeviceType::cpu);
  BOOST_TEST(profile.target == 0U);
  BOOST_TEST(profile.defaults.empty());
}

BOOST_AUTO_TEST_CASE(AClassThatTheLastOneWouldServeAlikeNeedsNoRule) {
  BOOST_TEST(untuned_profile(contents_with({"direct"}), 1, DeviceType::cpu).defaults.size() ==
             8U);  // one for each kind
  BOOST_TEST(untuned_profile(contents_with(kAll), 1, DeviceType::gpu).defaults.size() == 16U);
}

}  // namespace clbake::builder::test
