// Parts of a profile, kind by kind.
#include "profile/kind_choice.hpp"
#include "profile/relatives.hpp"

#include <clbake/builder/tuning_file.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace clbake::builder::test {
using namespace profile;
namespace {

constexpr GemmKind kPlain = {};
constexpr GemmKind kTransposed = {Precision::single_precision, true, false};
constexpr GemmKind kDouble = {Precision::double_precision, false, false};

template <typename T>
T item(const GemmKind& kind, std::uint32_t variant) {
  T t;
  t.kind() = kind;
  t.variant = variant;
  return t;
}

// Measured: plain and transposed; double has defaults only.
cache::Profile small_profile() {
  cache::Profile profile;
  profile.exceptions = {item<cache::Rule>(kPlain, 1), item<cache::Rule>(kTransposed, 4)};
  profile.models = {item<cache::CostModel>(kPlain, 0), item<cache::CostModel>(kPlain, 1)};
  profile.defaults = {item<cache::Rule>(kPlain, 0), item<cache::Rule>(kDouble, 7)};
  return profile;
}

}  // namespace

BOOST_AUTO_TEST_CASE(KindsAreThoseOfAllThreeLists) {
  BOOST_TEST((kinds_of(small_profile()) == std::set<GemmKind>{kPlain, kTransposed, kDouble}));
  BOOST_TEST(kinds_of({}).empty());
}

BOOST_AUTO_TEST_CASE(MeasuredVariantsAreThoseOfExceptionsAndModels) {
  using Variants = std::set<std::uint32_t>;
  BOOST_TEST((measured_variants(small_profile(), kPlain) == Variants{0, 1}));
  BOOST_TEST((measured_variants(small_profile(), kTransposed) == Variants{4}));
  BOOST_TEST(measured_variants(small_profile(), kDouble).empty());
}

BOOST_AUTO_TEST_CASE(AKindIsAddedWithAllThatIsSaidOfIt) {
  cache::Profile all;
  for (const GemmKind& kind : {kDouble, kPlain, kTransposed}) add_kind(small_profile(), kind, all);
  BOOST_TEST(all.exceptions.size() == 2U);
  BOOST_TEST(all.models.size() == 2U);
  BOOST_REQUIRE_EQUAL(all.defaults.size(), 2U);
  BOOST_TEST(all.defaults[0].variant == 7U);  // in the order in which kinds were added
  cache::Profile one;
  add_kind(small_profile(), kTransposed, one);
  BOOST_TEST((one.exceptions.size() == 1U && one.models.empty() && one.defaults.empty()));
}

BOOST_AUTO_TEST_CASE(VariantsAreRenumberedEverywhere) {
  cache::Profile profile = small_profile();
  for_each_variant(profile, [](std::uint32_t& variant) { variant += 10; });
  BOOST_TEST(profile.exceptions[1].variant == 14U);
  BOOST_TEST(profile.models[1].variant == 11U);
  BOOST_TEST(profile.defaults[1].variant == 17U);
}

BOOST_AUTO_TEST_CASE(WhatIsNotWantedGoes) {
  cache::Profile profile = small_profile();
  keep_if(profile, [](const GemmKind& kind, std::uint32_t variant) { return kind == kPlain && variant == 0; });
  BOOST_TEST(profile.exceptions.empty());
  BOOST_TEST(profile.models.size() == 1U);
  BOOST_TEST(profile.defaults.size() == 1U);
}

// The class nvidia has models of int8-int8-int32 in all transposes, e4m3-e4m3-half in nt.
BOOST_AUTO_TEST_CASE(ProductsOfBytesTakeTheModelsOfARelative) {
  const auto& shipped = shipped_profiles();
  const auto nvidia = std::find_if(shipped.begin(), shipped.end(), [](const auto& p) { return p.file == "nvidia"; });
  BOOST_REQUIRE((nvidia != shipped.end()));
  const Precision integers = mixed(Element::uint8, Element::int8, Element::half);
  const Precision reals = mixed(Element::e5m2, Element::e4m3, Element::bfloat16);
  const Tuning tuning = with_relatives(nvidia->tuning, {Precision::single_precision, integers, reals});
  const auto names = [&](const GemmKind& kind, const std::string& letters) {
    std::set<std::string> all;
    for (const cache::CostModel& model : tuning.models) {
      if (!(model.kind() == kind)) continue;
      std::string name = tuning.variants[model.variant];
      all.insert(name.replace(name.find('-') + 1, 3, letters));
    }
    return all;
  };
  const auto of = [](Precision precision, int transposes) {
    return GemmKind{precision, (transposes & 2) != 0, (transposes & 1) != 0};
  };
  const Precision timed = mixed(Element::int8, Element::int8, Element::int32);
  for (const int transposes : {0, 1, 2, 3}) {
    BOOST_TEST(!names(of(timed, transposes), "iiw").empty());
    BOOST_TEST((names(of(integers, transposes), "iiw") == names(of(timed, transposes), "iiw")));
    const bool of_own = transposes == 1;
    const Precision other = of_own ? mixed(Element::e4m3, Element::e4m3, Element::half) : timed;
    BOOST_TEST((names(of(reals, transposes), "iiw") == names(of(other, transposes), "iiw")));
  }
  const Precision weights = mixed(Element::bfloat16, Element::q8, Element::bfloat16);
  const Precision to_single = mixed(Element::half, Element::q4, Element::single);
  const Tuning more = with_relatives(nvidia->tuning, {weights, to_single});
  std::set<std::string> of_weights, of_single;
  for (const cache::CostModel& model : more.models) {
    if (model.precision == weights) of_weights.insert(more.variants[model.variant].substr(0, 10));
    if (model.precision == to_single) of_single.insert(more.variants[model.variant].substr(0, 10));
  }
  BOOST_TEST((of_weights == std::set<std::string>{"warpgroup_", "weight_til"}));
  BOOST_TEST((of_single == std::set<std::string>{"weight_til"}));
  const auto singles = [](const Tuning& t) {
    return std::count_if(t.models.begin(), t.models.end(),
                         [](const auto& model) { return model.precision == Precision::single_precision; });
  };
  BOOST_TEST(singles(tuning) == singles(nvidia->tuning));
}

}  // namespace clbake::builder::test
