#include "tune/prior_exceptions.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

// A prior with an exception for one row, and a tuning that raced two variants there.
struct Scene {
  Scene() {
    tuning.compute_units = prior.compute_units = 2;
    tuning.target.platform_name = prior.target.platform_name = "P";
    prior.variants = {"unused", "wide"};
    cache::Rule rule;
    rule.m_max = 1;
    rule.n_min = 2000;
    rule.variant = 1;
    prior.exceptions = {rule};
    tuning.variants = {"default", "wide"};
    Shape shape;
    shape.m = 1;
    shape.n = shape.k = 2048;
    tuning.shapes = {shape};
    race(200, 100);
  }

  void race(double default_us, double wide_us) {
    tuning.measurements = {{0, 0, default_us, 0.1, 5, true}, {1, 0, wide_us, 0.9, 5, true}};
  }

  std::size_t kept() {
    Tuning result = tuning;
    keep_exceptions(prior, result);
    for (const cache::Rule& rule : result.exceptions) BOOST_TEST(result.variants.at(rule.variant) == "wide");
    return result.exceptions.size();
  }

  Tuning prior, tuning;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(WhatNothingContradictsStays, Scene) {
  BOOST_TEST(kept() == 1U);
  tuning.variants = {"default"};  // the variant was not timed
  tuning.measurements.pop_back();
  BOOST_TEST(kept() == 1U);
}

BOOST_FIXTURE_TEST_CASE(AFasterVariantContradicts, Scene) {
  race(100, 110);
  BOOST_TEST(kept() == 0U);
  for (Measurement& m : tuning.measurements) m.final = false;  // only races count
  BOOST_TEST(kept() == 1U);
}

BOOST_FIXTURE_TEST_CASE(OtherDevicesExceptionsDoNotCount, Scene) {
  prior.compute_units = 4;
  BOOST_TEST(kept() == 0U);
  prior.compute_units = 2;
  prior.target.platform_name = "Q";
  BOOST_TEST(kept() == 0U);
}

BOOST_FIXTURE_TEST_CASE(FailedVariantsAndOtherKindsStayAway, Scene) {
  prior.exceptions[0].trans_a = true;
  BOOST_TEST(kept() == 0U);
  prior.exceptions[0].trans_a = false;
  tuning.failures = {{"wide", "wrong result"}};
  BOOST_TEST(kept() == 0U);
}

BOOST_FIXTURE_TEST_CASE(ExceptionsOfItsOwnComeFirstAndThereIsALimit, Scene) {
  tuning.exceptions = {prior.exceptions[0]};
  tuning.exceptions[0].n_min = 0;
  BOOST_TEST(kept() == 1U);
  tuning.exceptions.assign(32, {});
  for (cache::Rule& rule : tuning.exceptions) rule.m_min = 2, rule.variant = 1;
  BOOST_TEST(kept() == 32U);
}

}  // namespace clbake::builder::test
