// Profiles of several machines or parts as one.
#include "profile/tunings.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace profile;
namespace {

Tuning shard_of_two(std::uint32_t shard, const std::string& variant, double median_us) {
  Tuning tuning = tuning_of(variant, median_us);
  tuning.shard = shard;
  tuning.shards = 2;
  return tuning;
}

std::vector<NamedTuning> both(const Tuning& a, const Tuning& b) { return {{"a.json", a}, {"b.json", b}}; }

void check_refused(const std::vector<NamedTuning>& profiles, const std::vector<std::string>& parts) {
  const Result<Tuning> merged = merge(profiles);
  BOOST_TEST(outcome(merged) == "invalid argument");
  for (const std::string& part : parts) {
    BOOST_TEST(contains(merged.status().message(), part), merged.status().message());
  }
}

// The measurement that stays of two of the same variant and shape.
Measurement kept(const Measurement& first, const Measurement& second) {
  Tuning a = tuning_of(kLargeWinner);
  Tuning b = a;
  a.measurements = {first};
  b.measurements = {second};
  const Tuning merged = required(merge(both(a, b)));
  BOOST_REQUIRE_EQUAL(merged.measurements.size(), 1U);
  return merged.measurements[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(ShardsTogetherKnowWhatEachKnows) {
  Tuning a = shard_of_two(1, kLargeWinner, 100);
  Tuning b = shard_of_two(2, kLoser, 80);
  a.failures = {{kFailing, "crash"}};
  b.failures = {{kSmallWinner, "no end"}, {kFailing, "wrong"}};
  a.shapes[0].weight = 2;
  b.shapes[0].weight = 3;
  b.shapes.insert(b.shapes.begin(), *parse_shape("single nn 64x64x64"));
  b.measurements = {{0, 1, 80, 0.01, 9, false}, {0, 0, 7, 0.01, 9, false}};
  b.date = "2026-11-22T00:00:00Z";
  b.budget_s = 60;
  const Tuning merged = required(merge(both(a, b)));
  BOOST_TEST((merged.variants == std::vector<std::string>{kLargeWinner, kLoser}));
  BOOST_REQUIRE_EQUAL(merged.shapes.size(), 2U);
  BOOST_TEST(merged.shapes[0].weight == 3);  // the larger one
  BOOST_TEST(merged.measurements.size() == 3U);
  BOOST_TEST(merged.failures.size() == 2U);
  BOOST_TEST(merged.failures[0].cause == "crash");
  BOOST_TEST(merged.tried == 2U);
  BOOST_TEST(merged.elapsed_s == 20.0);
  BOOST_TEST(merged.budget_s == 60.0);
  BOOST_TEST(merged.date == "2026-11-22T00:00:00Z");
  BOOST_TEST(merged.shards == 1U);
  BOOST_TEST(merged.complete);
  BOOST_TEST((merged.target == a.target));
  BOOST_TEST(outcome(parse_tuning(tuning_text(merged), "x")) == "ok");
  BOOST_TEST((wanted_variants(merged) == std::vector<std::string>{kLoser}));
}

BOOST_AUTO_TEST_CASE(TheOrderOfTheProfilesMakesNoDifference) {
  const auto said = [](const Tuning& t) {
    std::vector<std::string> lines = wanted_variants(t);
    for (const Measurement& m : t.measurements) {
      lines.push_back(name(t.shapes[m.shape]) + t.variants[m.variant] + std::to_string(m.median_us));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  const Tuning a = tuning_of(kLoser);
  const Tuning b = tuning_of("register_tile-s-nt-64x64x256-8x32x1-v16", 50);
  BOOST_TEST(said(required(merge(both(a, b)))) == said(required(merge(both(b, a)))));
}

BOOST_AUTO_TEST_CASE(TheMeasurementThatSaysMoreCounts) {
  const Measurement early{0, 0, 10, 0, 1, false};
  const Measurement few{0, 0, 20, 0, 5, false};
  const Measurement many{0, 0, 30, 0, 9, false};
  const Measurement last{0, 0, 40, 0, 3, true};
  const Measurement faster{0, 0, 25, 0, 9, false};
  const std::vector<std::pair<Measurement, Measurement>> cases = {
      {last, many}, {last, early}, {many, few}, {few, early}, {faster, many}};
  for (const auto& [wins, loses] : cases) {
    BOOST_TEST(kept(wins, loses).median_us == wins.median_us);
    BOOST_TEST(kept(loses, wins).median_us == wins.median_us);
  }
}

BOOST_AUTO_TEST_CASE(WhatFailedInOneProfileDoesNotWinByAnother) {
  const Tuning a = tuning_of(kLargeWinner, 10);
  Tuning b = tuning_of(kLoser, 20);
  b.failures = {{kLargeWinner, "wrong result at 5 x 3 x 129"}};
  BOOST_TEST((wanted_variants(required(merge(both(a, b)))) == std::vector<std::string>{kLoser}));
}

BOOST_AUTO_TEST_CASE(ProfilesOfDifferentDevicesAreRefusedWithFieldValuesAndFiles) {
  const Tuning a = tuning_of(kLargeWinner);
  check_refused(both(a, tuning_of(kLoser, 90, made_up_device("Device B"))),
                {"b.json: device_name is 'Device B', not 'Device A' as in a.json"});
  Tuning more = tuning_of(kLoser);
  more.compute_units = 64;
  check_refused(both(a, more), {"compute_units is '64', not '2'"});
  for (std::string Target::*const field :
       {&Target::platform_name, &Target::platform_version, &Target::vendor, &Target::device_version,
        &Target::driver_version, &Target::architecture, &Target::cpu_features}) {
    Tuning other = tuning_of(kLoser);
    other.target.*field = "another";
    check_refused(both(a, other), {"'another'", "a.json", "b.json"});
  }
}

BOOST_AUTO_TEST_CASE(ProfilesWithoutMeasurementsAreRefused) {
  check_refused(both(tuning_of(kLargeWinner), brief(tuning_of(kLoser))), {"b.json: has no measurements"});
  check_refused({}, {"no profile"});
}

BOOST_AUTO_TEST_CASE(AMissingOrInterruptedPartIsSaid) {
  const Tuning first = shard_of_two(1, kLargeWinner, 100);
  BOOST_TEST(!required(merge({{"a.json", first}})).complete);
  Tuning second = shard_of_two(2, kLoser, 90);
  BOOST_TEST(required(merge(both(first, second))).complete);
  second.complete = false;
  BOOST_TEST(!required(merge(both(first, second))).complete);
}

}  // namespace clbake::builder::test
