// From the times of one variant to its cost model.
#include "profile/cost_fit.hpp"

#include <clbake/choice.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

namespace clbake::builder::test {
using namespace profile;
namespace {

namespace tt = boost::test_tools;

constexpr std::uint32_t kUnits = 20;

kernels::Params params_of(const std::string& name) { return std::get<kernels::Params>(kernels::parse(name)); }

const std::string kTile = "local_tile-s-nn-64x128x16-8x8x16-v4-load4-padding4";

cache::CostModel known_model() {
  cache::CostModel model = geometry_of(params_of(kTile));
  model.resident = 3;
  model.call_us = 5;
  model.start_us = 3;
  model.wave_us = 2;
  model.latency_us = 0.25F;
  model.step_us = 0.5F;
  model.unaligned_us = 0.125F;
  model.a_us = 20;
  model.b_us = 30;
  model.c_us = 40;
  return model;
}

// Measurements of the model on 150 shapes, as far from it as `noise` says; the variant is the best one on all of them.
std::vector<TimedShape> timed(const cache::CostModel& model, double noise) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> bits(4, 12);
  std::normal_distribution<double> normal;
  std::vector<TimedShape> shapes(150);
  for (TimedShape& s : shapes) {
    Shape shape;
    for (std::size_t* size : {&shape.m, &shape.n, &shape.k}) *size = static_cast<std::size_t>(std::exp2(bits(random)));
    s.problem = problem_of(shape);
    s.us = s.best_us = expected_us(model, s.problem, kUnits) * std::exp(noise * normal(random));
  }
  return shapes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachFamilyHasItsGeometry) {
  struct Case {
    const char* variant;
    std::uint32_t tile_m, tile_n, item_m, item_n, step_k, slices;
  };
  for (const Case& c : {Case{"direct-s-nn-16x32x1-1x2x4-v1", 16, 32, 16, 32, 1, 1},
                        Case{"direct-s-tt-16x32x1-1x2x4-v1-split8", 16, 32, 16, 32, 1, 8},
                        Case{"register_tile-d-nt-256x128x512-8x16x1-v8", 256, 128, 8, 16, 1, 1},
                        Case{"local_tile-s-nn-64x128x16-8x8x16-v4-load4-padding4", 64, 128, 64, 128, 16, 1},
                        Case{"local_tile-s-nn-64x128x16-8x8x16-v4-split4-load4-padding4", 64, 128, 64, 128, 16, 4},
                        Case{"stripe-d-tn-64x16x8-4x4x2-v2-acbl-bcbl-blocal", 64, 16, 64, 16, 8, 1}}) {
    const kernels::Params params = params_of(c.variant);
    const cache::CostModel model = geometry_of(params);
    BOOST_TEST_CONTEXT(c.variant) {
      BOOST_TEST((model.kind() == params.kind()));
      BOOST_TEST(model.tile_m == c.tile_m);
      BOOST_TEST(model.tile_n == c.tile_n);
      BOOST_TEST(model.item_m == c.item_m);
      BOOST_TEST(model.item_n == c.item_n);
      BOOST_TEST(model.step_k == c.step_k);
      BOOST_TEST(model.slices == c.slices);
      for (const auto& [name, number] : cache::kCostModelNumbers) BOOST_TEST((model.*number) == 0, name);
    }
  }
}

BOOST_AUTO_TEST_CASE(TheNumbersOfAKnownModelAreFoundAgain) {
  const cache::CostModel known = known_model();
  const cache::CostModel found = fit_cost_model(params_of(kTile), timed(known, 0), kUnits);
  BOOST_TEST(found.resident == known.resident);
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto& [name, number] = cache::kCostModelNumbers[i];
    BOOST_TEST((found.*number) == (known.*number), tt::tolerance(1e-3F));
  }
  BOOST_TEST(found.error < 1e-4F);
  BOOST_TEST(found.tile_n == 128U);
  BOOST_TEST(found.margin == 0);
}

BOOST_AUTO_TEST_CASE(TheErrorIsTheNoiseAndNoTimeIsNegative) {
  for (const double noise : {0.02, 0.1}) {
    const cache::CostModel found = fit_cost_model(params_of(kTile), timed(known_model(), noise), kUnits);
    BOOST_TEST(found.error > 0.7 * noise);
    BOOST_TEST(found.error < 1.3 * noise);
    for (const auto& [name, number] : cache::kCostModelNumbers) BOOST_TEST((found.*number) >= 0, name);
  }
}

// The time of a variant that is three times slower than the best one does not matter.
BOOST_AUTO_TEST_CASE(ShapesOnWhichTheVariantIsFarFromTheBestSayLittle) {
  std::vector<TimedShape> shapes = timed(known_model(), 0);
  for (std::size_t i = 0; i < shapes.size(); i += 3) {
    shapes[i].us *= 3;
    shapes[i].best_us = shapes[i].us / 30;
  }
  const cache::CostModel found = fit_cost_model(params_of(kTile), shapes, kUnits);
  BOOST_TEST(found.error < 0.15F);
  for (TimedShape& shape : shapes) shape.best_us = shape.us;
  BOOST_TEST(fit_cost_model(params_of(kTile), shapes, kUnits).error > 0.3F);
}

// The geometric mean: half a time weighs as much as twice the time.
BOOST_AUTO_TEST_CASE(TimesThatAreTooShortCountAsMuchAsTooLongOnes) {
  TimedShape quick = timed(known_model(), 0)[0], slow = quick;
  quick.us = quick.best_us = 10;
  slow.us = slow.best_us = 40;
  const cache::CostModel model = fit_cost_model(params_of(kTile), {quick, slow}, kUnits);
  BOOST_TEST(expected_us(model, quick.problem, kUnits) == 20, tt::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(AScaledModelExpectsSoManyTimesAsLong) {
  const std::vector<TimedShape> shapes = timed(known_model(), 0);
  for (const double error : errors_of(scaled_cost_model(known_model(), 3), shapes, kUnits)) {
    BOOST_TEST(error == -std::log(3), tt::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(OneShapeIsEnough) {
  std::vector<TimedShape> shapes = timed(known_model(), 0);
  shapes.resize(1);
  const cache::CostModel found = fit_cost_model(params_of(kTile), shapes, kUnits);
  BOOST_TEST(expected_us(found, shapes[0].problem, kUnits) == shapes[0].us, tt::tolerance(1e-5));
  BOOST_TEST(found.error < 1e-4F);
  shapes[0].best_us = shapes[0].us / 10;  // competitive nowhere
  BOOST_TEST(fit_cost_model(params_of(kTile), shapes, kUnits).error < 1e-4F);
}

}  // namespace clbake::builder::test
