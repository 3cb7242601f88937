// Few variants for many shapes.
#include "profile/coverage.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace clbake::builder::test {
using namespace profile;
namespace {

using Indices = std::vector<std::uint32_t>;

// Variants v0, v1 ... with these times of each, in rows, on squares of 1000, 2000 ... and, last, on a small shape.
Tuning tuning_with(const std::vector<std::vector<double>>& us) {
  Tuning t;
  const std::size_t shapes = us[0].size();
  for (std::size_t s = 0; s < shapes; ++s) {
    Shape shape;
    shape.m = shape.n = shape.k = s + 1 < shapes ? 1000 * (s + 1) : 64;
    t.shapes.push_back(shape);
  }
  for (std::uint32_t v = 0; v < us.size(); ++v) {
    t.variants.push_back("v" + std::to_string(v));
    for (std::uint32_t s = 0; s < shapes; ++s) t.measurements.push_back({v, s, us[v][s], 0, 9, true});
  }
  return t;
}

Indices all_shapes(const Tuning& t) {
  Indices list;
  for (std::uint32_t s = 0; s < t.shapes.size(); ++s) list.push_back(s);
  return list;
}

Indices cover(const Tuning& t, std::size_t most, const Indices& first = {}) {
  return Times(t).cover(all_shapes(t), most, first);
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheVariantThatGainsMostComesFirst) {
  const Tuning t = tuning_with({{200, 200, 100}, {100, 100, 150}, {300, 300, 300}});
  BOOST_TEST((cover(t, 8) == Indices{1, 0}));
  BOOST_TEST((cover(t, 1) == Indices{1}));
}

// One of three shapes takes 0.12 % or 0.06 % less: 0.04 % or 0.02 % on average.
BOOST_AUTO_TEST_CASE(AFurtherVariantGainsThreeHundredthsOfAPercentOnAverage) {
  BOOST_TEST((cover(tuning_with({{10000, 10000, 10012}, {12000, 12000, 10000}}), 8) == Indices{0, 1}));
  BOOST_TEST((cover(tuning_with({{10000, 10000, 10006}, {12000, 12000, 10000}}), 8) == Indices{0}));
}

BOOST_AUTO_TEST_CASE(AHeavyShapeCountsForMore) {
  Tuning t = tuning_with({{100, 100, 150}, {150, 150, 100}});
  BOOST_TEST((cover(t, 1) == Indices{0}));
  t.shapes.back().weight = 3;
  BOOST_TEST((cover(t, 1) == Indices{1}));
}

BOOST_AUTO_TEST_CASE(SomeVariantServesHoweverLittleItGains) {
  BOOST_TEST((cover(tuning_with({{100, 100}}), 8) == Indices{0}));
  BOOST_TEST(cover(Tuning(), 8).empty());
}

BOOST_AUTO_TEST_CASE(ThoseToBeTakenFirstAreTakenIfTheyWereTimed) {
  Tuning t = tuning_with({{100, 100}, {150, 150}, {300, 300}});
  t.variants.push_back("never timed");
  BOOST_TEST((cover(t, 8, {3, 2}) == Indices{2, 0}));
  BOOST_TEST((cover(t, 1, {1, 2}) == Indices{1, 2, 0}));
}

BOOST_AUTO_TEST_CASE(NoiseIsNoGain) {
  Tuning t = tuning_with({{100, 103}, {103, 100}});
  BOOST_TEST(cover(t, 8).size() == 2U);
  for (Measurement& m : t.measurements) m.spread = 0.1;
  BOOST_TEST(cover(t, 8).size() == 1U);
}

BOOST_AUTO_TEST_CASE(WhatWasStoppedEarlyIsAtLeastSoSlow) {
  Tuning t = tuning_with({{100, 100}, {10, 400}});
  t.measurements[2].runs = t.measurements[3].runs = 1;
  const Times times(t);
  BOOST_TEST(times.winner(0)->variant == 0U);
  BOOST_TEST(times.best(0) == 100);
  BOOST_TEST(times.slowdown(0, 0) == 0);
  BOOST_TEST(times.slowdown(1, 0) == std::log(1.5));
  BOOST_TEST(times.slowdown(1, 1) == std::log(4.0));
  BOOST_TEST((cover(t, 8) == Indices{0}));
}

BOOST_AUTO_TEST_CASE(WhereThereWasARaceOnlyItsTimesCount) {
  Tuning t = tuning_with({{100}, {50}, {110}});
  t.measurements[1].final = false;
  const Times times(t);
  BOOST_TEST(times.winner(0)->variant == 0U);
  BOOST_TEST(times.slowdown(1, 0) == std::log(1.5));
  BOOST_TEST(times.find(1, 0)->median_us == 50);
  BOOST_TEST(times.find(3, 0) == nullptr);
}

BOOST_AUTO_TEST_CASE(AShapeWithoutMeasurementsHasNoWinner) {
  Tuning t = tuning_with({{100, 100}});
  t.measurements.pop_back();
  const Times times(t);
  BOOST_TEST(times.winner(1) == nullptr);
  BOOST_TEST(times.best(1) == 0);
  BOOST_TEST(times.slowdown(0, 1) == std::log(1.5));
}

}  // namespace clbake::builder::test
