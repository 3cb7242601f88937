// Winners, cost models and exceptions from measurements that a known cost model made, with noise.
#include <clbake/builder/tuning_file.hpp>

#include "profile/coverage.hpp"
#include "profile/imagined_gpu.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::test {
using namespace profile;
namespace {

// A tuning to which measurements are added by name.
class Notes {
 public:
  Notes& time(const std::string& variant, const std::string& shape, double us, std::uint32_t runs = kRuns,
              double spread = 0.01, bool final = true) {
    tuning.measurements.push_back(
        {index(tuning.variants, variant), index(tuning.shapes, *parse_shape(shape)), us, spread, runs, final});
    return *this;
  }

  // As often and as it was timed in the first stages.
  Notes& glance(const std::string& variant, const std::string& shape, double us, std::uint32_t runs = 3) {
    return time(variant, shape, us, runs, 0.01, false);
  }

  const Tuning& fitted() {
    fit(tuning);
    return tuning;
  }

  Tuning tuning;

 private:
  template <typename T>
  static std::uint32_t index(std::vector<T>& list, const T& item) {
    const auto at = std::find(list.begin(), list.end(), item);
    const auto index = static_cast<std::uint32_t>(at - list.begin());
    if (at == list.end()) list.push_back(item);
    return index;
  }
};

// The variant that wins a shape; empty when none does.
std::string winner(const Tuning& tuning, const std::string& shape) {
  for (const Measurement& w : winners(tuning)) {
    if (tuning.shapes[w.shape] == *parse_shape(shape)) return tuning.variants[w.variant];
  }
  return {};
}

// The variant that an exception names for a shape; empty without one.
std::string exception(const Tuning& tuning, const std::string& shape) {
  const Problem problem = problem_of(*parse_shape(shape));
  for (const cache::Rule& rule : tuning.exceptions) {
    if (rule.kind() == problem.kind() && fits(rule, problem)) return tuning.variants.at(rule.variant);
  }
  return {};
}

// All that the fit found, and the variants by name.
std::string text_of(const Tuning& tuning) { return tuning_text(brief(tuning)); }

const std::string kDefault = "register_tile-s-nn-256x128x512-8x32x1-v16-lines";

}  // namespace

// ---- The choice ----

BOOST_AUTO_TEST_CASE(TheChoiceOnShapesNeverTimedIsAsGoodAsTheTrueTimesAllow) {
  const Device device = imagined_gpu();
  const std::vector<Shape> shapes = shapes_never_timed();
  const Chooser untuned(measured(device, {}, 0));
  BOOST_TEST(against_best(device, untuned, shapes).mean > 1.1);  // there is something to gain
  for (const double noise : {0.0, 0.03}) {
    const Tuning tuning = fitted(measured(device, table(), noise));
    BOOST_TEST(tuning.models.size() >= 5U);
    const Ratio ratio = against_best(device, Chooser(tuning), shapes);
    BOOST_TEST_CONTEXT("noise " << noise) {
      BOOST_TEST(ratio.mean <= 1.01);
      BOOST_TEST(ratio.worst <= (noise > 0 ? 1.15 : 1.05));
      BOOST_TEST(against_untuned(device, Chooser(tuning), shapes).worst <= (noise > 0 ? 1.1 : 1.01));
    }
  }
}

// Devices of one class with fewer or more compute units than the one that was measured.
BOOST_AUTO_TEST_CASE(AProfileServesADeviceOfItsClassWithOtherUnits) {
  const Device device = imagined_gpu();
  const std::vector<Shape> shapes = shapes_never_timed();
  const Tuning tuning = fitted(measured(device, table(), 0.03));
  for (const std::uint32_t units : {kUnits / 4, kUnits / 2, 3 * kUnits / 2, 4 * kUnits}) {
    const Ratio with_units = against_best(device, Chooser(tuning, units), shapes, units);
    const Ratio without = against_best(device, Chooser(tuning), shapes, units);
    BOOST_TEST_CONTEXT(units << " units") {
      BOOST_TEST(with_units.mean <= 1.02);
      BOOST_TEST(with_units.worst <= 1.25);
      BOOST_TEST(with_units.mean < without.mean);  // the number of units is what the choice needs to know
    }
  }
}

// As where a budget ends in the middle of a race. Without models the default variants would serve most shapes.
BOOST_AUTO_TEST_CASE(AFewShapesAreEnoughForModels) {
  const Device device = imagined_gpu();
  const std::vector<Shape> shapes = shapes_never_timed();
  const double untuned = against_best(device, Chooser(measured(device, {}, 0)), shapes).mean;
  std::vector<Shape> few;
  for (std::size_t i = 0; i < 16; ++i) few.push_back(table()[i * table().size() / 16]);
  const Tuning tuning = fitted(measured(device, few, 0.01));
  BOOST_TEST(tuning.models.size() >= 2U);
  const double tuned = against_best(device, Chooser(tuning), shapes).mean;
  BOOST_TEST(tuned - 1 < (untuned - 1) / 2);
  BOOST_TEST(against_untuned(device, Chooser(tuning), shapes).worst < 2);
}

BOOST_AUTO_TEST_CASE(WhatIsSlowerThanTheDefaultVariantsIsNeverChosenHoweverNoisyTheDevice) {
  const Device defaults = default_variants_only();
  Device device = imagined_gpu();
  for (auto& [name, model] : device) {
    if (defaults.count(name) == 0) model = truth(params_of(name), 0.1);
  }
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Chooser chooser(fitted(measured(device, table(), 0.3, seed)));
    std::size_t others = 0;
    for (const std::vector<Shape>& shapes : {shapes_never_timed(), table()}) {
      for (const Shape& shape : shapes) others += defaults.count(chooser.of(shape)) == 0 ? 1 : 0;
    }
    BOOST_TEST(others == 0U);
    BOOST_TEST(against_untuned(device, chooser, shapes_never_timed()).mean <= 1.0);
  }
}

BOOST_AUTO_TEST_CASE(FewRowsAreFittedApartWhereTheyTakeAnotherLoop) {
  Notes notes;
  for (int k = 100; k <= 1200; k += 100) {
    notes.time(kDefault, "single nn 4x512x" + std::to_string(k), 0.1 * k);
    notes.time(kDefault, "single nn 64x512x" + std::to_string(k), 5.0 * k);
  }
  const std::vector<cache::CostModel> models = notes.fitted().models;
  BOOST_REQUIRE_EQUAL(models.size(), 2U);
  BOOST_TEST((models[0].regime == 1U && models[1].regime == 2U && models[1].few_m == 8U));
  for (const cache::CostModel& model : models) BOOST_TEST(model.error < 1e-3F);
}

// ---- The prior ----

BOOST_AUTO_TEST_CASE(APriorOfTheSameDeviceStaysAsItIs) {
  const Device device = imagined_gpu();
  for (const std::size_t shapes : {1U, 20U}) {
    const Tuning before = with_prior(device, device, shapes, 0);
    const Tuning tuning = fitted(before);
    BOOST_REQUIRE_EQUAL(tuning.models.size(), before.prior.size());
    for (std::size_t i = 0; i < before.prior.size(); ++i) {
      BOOST_TEST(tuning.models[i].variant == before.prior[i].variant);
      BOOST_TEST(tuning.models[i].step_us == before.prior[i].step_us, boost::test_tools::tolerance(1e-3F));
    }
  }
}

// The device does everything in half of the prior's time.
BOOST_AUTO_TEST_CASE(FewShapesScaleAPrior) {
  Device fast = imagined_gpu();
  for (auto& [name, model] : fast) {
    for (const auto& [key, number] : cache::kCostModelNumbers) model.*number /= 2;
  }
  const Tuning before = with_prior(fast, imagined_gpu(), 5, 0.01);
  const Tuning tuning = fitted(before);
  BOOST_REQUIRE_EQUAL(tuning.models.size(), before.prior.size());
  for (std::size_t i = 0; i < before.prior.size(); ++i) {
    BOOST_TEST(tuning.models[i].step_us == before.prior[i].step_us / 2, boost::test_tools::tolerance(0.05F));
  }
}

BOOST_AUTO_TEST_CASE(ManyShapesReplaceAPrior) {
  Device wrong = imagined_gpu();
  for (auto& [name, model] : wrong) model.c_us *= 50;
  const Tuning tuning = fitted(with_prior(imagined_gpu(), wrong, 100, 0));
  BOOST_TEST(against_best(imagined_gpu(), Chooser(tuning), shapes_never_timed()).mean < 1.01);
}

// On this device one variant is slower than on the prior's.
BOOST_AUTO_TEST_CASE(FewShapesCorrectAPrior) {
  const Device known = imagined_gpu();
  Device device = known;
  const Chooser of_known(fitted(measured(known, table(), 0)));
  Shape large;
  large.m = large.n = large.k = 2048;
  cache::CostModel& slower = device.at(of_known.of(large));
  for (const auto& [name, number] : cache::kCostModelNumbers) slower.*number *= 2;
  const Tuning before = with_prior(device, known, 24, 0.02);
  Tuning as_known = before;
  as_known.models = before.prior;
  const double uncorrected = against_best(device, Chooser(as_known), shapes_never_timed()).mean;
  const double corrected = against_best(device, Chooser(fitted(before)), shapes_never_timed()).mean;
  BOOST_TEST(uncorrected > 1.1);
  BOOST_TEST(corrected < 1.03);
}

BOOST_AUTO_TEST_CASE(VariantsThatFailedLeaveThePrior) {
  const Device device = imagined_gpu();
  Tuning tuning = with_prior(device, device, 5, 0);
  const std::uint32_t failed = tuning.prior.back().variant;
  const std::size_t before = tuning.prior.size();
  tuning.failures = {{tuning.variants[failed], "wrong result"}};
  fit(tuning);
  BOOST_TEST(tuning.models.size() == before - 1);
  for (const cache::CostModel& model : tuning.models) BOOST_TEST(model.variant != failed);
}

// A fit is no prior of the next one.
BOOST_AUTO_TEST_CASE(FittingAgainForgetsTheEarlierFit) {
  Tuning tuning = fitted(with_prior(imagined_gpu(), imagined_gpu(), 20, 0.02));
  const std::string once = text_of(tuning);
  for (cache::CostModel& model : tuning.models) model.call_us = 1000;
  BOOST_TEST(text_of(fitted(tuning)) == once);
}

// ---- Exceptions ----

// Two shapes give no models: a rule for the exact shape needs 3 % beyond twice a tie.
BOOST_AUTO_TEST_CASE(AnExceptionNeedsAGainBeyondTheNoise) {
  struct Case {
    double other_us, spread;
    bool wins;
  };
  for (const Case& c : {Case{98, 0.01, false}, Case{80, 0.01, true}, Case{80, 0.3, false}}) {
    Notes notes;
    notes.time("other", "single nn 512x512x512", c.other_us, kRuns, c.spread);
    notes.time(kDefault, "single nn 512x512x512", 100, kRuns, c.spread);
    notes.time(kDefault, "single nn 513x512x512", 100).time("other", "single nn 513x512x512", 105);
    const Tuning& tuning = notes.fitted();
    BOOST_TEST_CONTEXT(c.other_us << " us, spread " << c.spread) {
      BOOST_TEST(tuning.models.empty());
      BOOST_TEST(exception(tuning, "single nn 512x512x512") == (c.wins ? "other" : ""));
      BOOST_TEST(exception(tuning, "single nn 513x512x512").empty());
      BOOST_TEST(wanted_variants(tuning).size() == (c.wins ? 1U : 0U));
    }
  }
}

BOOST_AUTO_TEST_CASE(ATieIsTwoStandardErrorsAndAtLeastTheNoise) {
  Tuning tuning;
  const Measurement steady = {0, 0, 100, 0, 9, true};
  const Measurement wild = {1, 0, 100, 0.3, 9, true};
  BOOST_TEST(tie(tuning, steady, steady) == 0);
  BOOST_TEST(tie(tuning, steady, wild) == 2 * 0.93 * 0.3 / 3, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(tie(tuning, wild, wild) == std::sqrt(2) * tie(tuning, steady, wild), boost::test_tools::tolerance(1e-9));
  const Measurement once = {2, 0, 100, 0, 1, true};
  BOOST_TEST(tie(tuning, once, wild) > tie(tuning, wild, wild));
  tuning.noise = 0.5;
  BOOST_TEST(tie(tuning, steady, wild) == 0.5);
}

BOOST_AUTO_TEST_CASE(ExceptionsOfAKindHaveABound) {
  Tuning tuning = measured(imagined_gpu(), table(), 0.5);
  for (Measurement& m : tuning.measurements) m.spread = 0.001;  // as if it were no noise
  fit(tuning);
  BOOST_TEST(tuning.exceptions.size() == kMaxExceptionsOfKind);
  // The heaviest of the shapes that would gain less than these get one.
  const auto reached = [&](const Shape& shape) { return !exception(tuning, name(shape)).empty(); };
  for (Shape& shape : tuning.shapes) shape.weight = reached(shape) ? 1e-6 : 1;
  std::vector<Shape> others;
  std::copy_if(tuning.shapes.begin(), tuning.shapes.end(), std::back_inserter(others),
               [&](const Shape& shape) { return !reached(shape); });
  fit(tuning);
  BOOST_TEST(std::count_if(others.begin(), others.end(), reached) > 0);
}

// ---- What counts ----

BOOST_AUTO_TEST_CASE(NothingMeasuredGivesNothing) {
  Tuning empty;
  fit(empty);
  BOOST_TEST((winners(empty).empty() && empty.exceptions.empty() && empty.models.empty()));
  Notes notes;
  notes.tuning.shapes = {*parse_shape("single nn 5x5x5")};
  notes.tuning.variants = {"a"};
  BOOST_TEST(winners(notes.fitted()).empty());
  BOOST_TEST((notes.tuning.exceptions.empty() && notes.tuning.models.empty()));
}

BOOST_AUTO_TEST_CASE(EachKindIsFittedAlone) {
  Tuning tuning = measured(imagined_gpu(), table(), 0);
  const Tuning alone = fitted(tuning);
  const auto first_variant = static_cast<std::uint32_t>(tuning.variants.size());
  const auto first_shape = static_cast<std::uint32_t>(tuning.shapes.size());
  kernels::Params transposed = params_of(tuning.variants[0]);
  transposed.trans_b = true;
  tuning.variants.push_back(kernels::name(transposed));
  tuning.shapes.push_back(*parse_shape("single nt 64x64x64"));
  tuning.measurements.push_back({first_variant, first_shape, 10, 0.01, kRuns, true});
  fit(tuning);
  BOOST_REQUIRE_EQUAL(tuning.models.size(), alone.models.size());
  for (std::size_t i = 0; i < alone.models.size(); ++i) {
    BOOST_TEST(tuning.models[i].variant == alone.models[i].variant);
    BOOST_TEST(tuning.models[i].step_us == alone.models[i].step_us);
    BOOST_TEST((tuning.models[i].kind() == GemmKind{}));
  }
  BOOST_TEST(exception(tuning, "single nn 64x64x64") == exception(alone, "single nn 64x64x64"));
}

BOOST_AUTO_TEST_CASE(WhatWasStoppedEarlyNeverWins) {
  Notes notes;
  notes.glance("hasty", "single nn 512x512x512", 10, 1).glance("steady", "single nn 512x512x512", 100);
  notes.glance("hasty", "single nn 64x64x64", 10, 1);
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(winner(tuning, "single nn 512x512x512") == "steady");
  BOOST_TEST(winner(tuning, "single nn 64x64x64").empty());
  BOOST_TEST((wanted_variants(tuning) == std::vector<std::string>{"steady"}));
}

BOOST_AUTO_TEST_CASE(WhereThereWasARaceOnlyRacersCompete) {
  Notes notes;
  notes.glance("lucky", "single nn 512x512x512", 50).time("sound", "single nn 512x512x512", 100);
  notes.time("second", "single nn 512x512x512", 110);
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(winner(tuning, "single nn 512x512x512") == "sound");
  BOOST_TEST(exception(tuning, "single nn 512x512x512") == "sound");
  BOOST_TEST(winners(tuning).at(0).final);
}

BOOST_AUTO_TEST_CASE(TheOrderOfMeasurementsDoesNotMatter) {
  Tuning tuning = measured(imagined_gpu(), table(), 0.1);
  const std::string once = text_of(fitted(tuning));
  std::mt19937 random(1);
  for (int i = 0; i < 3; ++i) {
    std::shuffle(tuning.measurements.begin(), tuning.measurements.end(), random);
    BOOST_TEST(text_of(fitted(tuning)) == once);
  }
}

}  // namespace clbake::builder::test
