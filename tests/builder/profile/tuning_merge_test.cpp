// Profiles of several machines or parts as one.
#include "profile/tunings.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

Tuning shard_of_two(std::uint32_t shard, const std::string& variant, double median_us) {
  Tuning tuning = tuning_of(variant, median_us);
  tuning.shard = shard;
  tuning.shards = 2;
  return tuning;
}

std::vector<NamedTuning> both(const Tuning& a, const Tuning& b) { return {{"a.json", a}, {"b.json", b}}; }

void check_refused(const std::vector<NamedTuning>& profiles, const std::vector<std::string>& parts) {
  const Result<Tuning> merged = merge(profiles, false);
  BOOST_TEST(outcome(merged) == "invalid argument");
  for (const std::string& part : parts) {
    BOOST_TEST(contains(merged.status().message(), part), merged.status().message());
  }
  BOOST_TEST(outcome(merge(profiles, true)) == "ok");
}

// The measurement of the only shape that the variants have in common, after a merge of two that differ in it.
Measurement kept(const Measurement& first, const Measurement& second) {
  Tuning a = tuning_of(kLargeWinner);
  Tuning b = a;
  a.measurements = {first};
  b.measurements = {second};
  const Tuning merged = required(merge(both(a, b), true));
  BOOST_REQUIRE_EQUAL(merged.measurements.size(), 1U);
  return merged.measurements[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(ShardsTogetherKnowWhatEachKnows) {
  Tuning a = shard_of_two(1, kLargeWinner, 100);
  Tuning b = shard_of_two(2, kLoser, 80);
  a.failures = {{kFailing, "crash"}};
  b.failures = {{kSmallWinner, "no end"}, {kFailing, "wrong"}};
  b.shapes.insert(b.shapes.begin(), *parse_shape("single nn 64x64x64"));
  b.measurements = {{0, 1, 80, 0.01, 9, false}, {0, 0, 7, 0.01, 9, false}};
  b.seed = 7;
  b.date = "2026-11-22T00:00:00Z";
  b.budget_s = 60;
  b.curve = {{1, 1, 0, 1, 5}};
  const Tuning merged = required(merge(both(a, b), false));
  BOOST_TEST((merged.variants == std::vector<std::string>{kLargeWinner, kLoser}));
  BOOST_TEST(merged.shapes.size() == 2U);
  BOOST_TEST(merged.measurements.size() == 3U);
  BOOST_TEST(merged.failures.size() == 2U);
  BOOST_TEST(merged.failures[0].cause == "crash");
  BOOST_TEST(merged.tried == 2U);
  BOOST_TEST(merged.elapsed_s == 20.0);
  BOOST_TEST(merged.budget_s == 60.0);
  BOOST_TEST(merged.strategy == "merged");
  BOOST_TEST(merged.date == "2026-11-22T00:00:00Z");
  BOOST_TEST(merged.curve.empty());
  BOOST_TEST(merged.shard == 1U);
  BOOST_TEST(merged.shards == 1U);
  BOOST_TEST(merged.complete);
  BOOST_TEST((merged.target == a.target));
  BOOST_TEST(outcome(parse_tuning(tuning_text(merged), "x")) == "ok");

  BOOST_REQUIRE_EQUAL(merged.winners.size(), 2U);
  for (const Winner& winner : merged.winners) BOOST_TEST(merged.variants[winner.figures.variant] == kLoser);
  BOOST_TEST((wanted_variants(merged) == std::vector<std::string>{kLoser}));
}

BOOST_AUTO_TEST_CASE(AShapeKeepsTheLargestOfItsWeights) {
  Tuning a = shard_of_two(1, kLargeWinner, 100);
  Tuning b = shard_of_two(2, kLoser, 80);
  a.shapes[0].weight = 2;
  b.shapes[0].weight = 3;
  for (const auto& profiles : {both(a, b), both(b, a)}) {
    const Tuning merged = required(merge(profiles, false));
    BOOST_REQUIRE_EQUAL(merged.shapes.size(), 1U);
    BOOST_TEST(merged.shapes[0].weight == 3);
  }
}

BOOST_AUTO_TEST_CASE(TheOrderOfTheProfilesMakesNoDifference) {
  const Tuning a = made_up_tuning();
  const Tuning b = tuning_of("register_tile-s-nt-64x64x256-8x32x1-v16", 50);
  const Tuning ab = required(merge(both(a, b), true));
  const Tuning ba = required(merge(both(b, a), true));
  const auto said = [](const Tuning& t) {
    std::vector<std::string> lines;
    for (const Winner& w : t.winners) lines.push_back(name(t.shapes[w.figures.shape]) + t.variants[w.figures.variant]);
    for (const Measurement& m : t.measurements) {
      lines.push_back(name(t.shapes[m.shape]) + t.variants[m.variant] + std::to_string(m.median_us));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  BOOST_TEST(said(ab) == said(ba));
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
  Tuning a = tuning_of(kLargeWinner, 10);
  Tuning b = tuning_of(kLoser, 20);
  b.failures = {{kLargeWinner, "wrong result at 5 x 3 x 129"}};
  const Tuning merged = required(merge(both(a, b), false));
  BOOST_REQUIRE_EQUAL(merged.winners.size(), 1U);
  BOOST_TEST(merged.variants[merged.winners[0].figures.variant] == kLoser);
  BOOST_TEST((wanted_variants(merged) == std::vector<std::string>{kLoser}));
}

BOOST_AUTO_TEST_CASE(ProfilesOfDifferentDevicesAreRefusedWithFieldValuesAndFiles) {
  const Tuning a = tuning_of(kLargeWinner);
  check_refused(both(a, tuning_of(kLoser, 90, made_up_device("Device B"))),
                {"b.json: device_name is 'Device B', not 'Device A' as in a.json", "--force"});
  check_refused(both(a, tuning_of(kLoser, 90, made_up_device("Device A", "2.0"))),
                {"b.json: driver_version is '2.0', not '1.0' as in a.json"});
  Tuning more = tuning_of(kLoser);
  more.compute_units = 64;
  check_refused(both(a, more), {"compute_units is '64', not '2'"});
  for (std::string Target::*const field : {&Target::platform_name, &Target::platform_version, &Target::vendor,
                                           &Target::device_version, &Target::architecture}) {
    Tuning other = tuning_of(kLoser);
    other.target.*field = "another";
    check_refused(both(a, other), {"'another'", "a.json", "b.json"});
  }
  // The third one against any before.
  std::vector<NamedTuning> three = both(a, tuning_of(kLoser));
  three.push_back({"c.json", tuning_of(kSmallWinner, 90, made_up_device("Device B"))});
  check_refused(three, {"c.json", "Device B"});
}

BOOST_AUTO_TEST_CASE(WithForceTheFirstProfileNamesTheDevice) {
  const Tuning merged =
      required(merge(both(tuning_of(kLargeWinner), tuning_of(kLoser, 90, made_up_device("Device B"))), true));
  BOOST_TEST(merged.target.device_name == "Device A");
  BOOST_TEST(merged.measurements.size() == 2U);
}

BOOST_AUTO_TEST_CASE(TheSameProfileOrShardTwiceIsASlip) {
  check_refused(both(tuning_of(kLargeWinner), tuning_of(kLargeWinner)), {"b.json: is the same profile as a.json"});
  check_refused(both(shard_of_two(1, kLargeWinner, 100), shard_of_two(1, kLoser, 90)),
                {"b.json: is shard 1/2 as a.json is"});
  Tuning third = shard_of_two(2, kLoser, 90);
  third.shards = 3;
  check_refused(both(shard_of_two(1, kLargeWinner, 100), third), {"shard 2/3", "shard 1/2", "a.json"});

  // Of another precision, or a second tuning of the whole space: no slip.
  const Tuning of_double = shard_of_two(1, "register_tile-d-nn-60x128x512-6x16x1-v8", 90);
  BOOST_TEST(outcome(merge(both(shard_of_two(1, kLargeWinner, 100), of_double), false)) == "ok");
  BOOST_TEST(outcome(merge(both(tuning_of(kLargeWinner), tuning_of(kLoser)), false)) == "ok");
}

// Measured in one precision each, by two variants of which one wins.
Tuning fitted(const std::string& winner, const std::string& loser, const std::string& shape) {
  Tuning tuning = tuning_of(winner);
  tuning.variants = {loser, winner};
  tuning.shapes = {*parse_shape(shape)};
  tuning.measurements = {{0, 0, 90, 0.01, 9, true}, {1, 0, 30, 0.01, 9, true}};
  fit(tuning);
  return tuning;
}

BOOST_AUTO_TEST_CASE(BriefProfilesOfDifferentPrecisionsAreSideBySide) {
  const std::string of_double = "register_tile-d-nn-60x128x512-6x16x1-v8";
  const Tuning a = fitted(kLargeWinner, kLoser, "single nn 1000x1000x1000");
  const Tuning b = fitted(of_double, "direct-d-nn-4x4x1-2x4x1-v4", "double nn 1000x1000x1000");
  for (const auto& profiles : {both(brief(a), brief(b)), both(a, brief(b)), both(brief(a), b)}) {
    const Tuning merged = required(merge(profiles, false));
    BOOST_TEST(is_brief(merged));
    BOOST_REQUIRE_EQUAL(merged.winners.size(), 2U);
    BOOST_TEST(merged.variants[merged.winners[0].figures.variant] == kLargeWinner);
    BOOST_TEST(merged.variants[merged.winners[1].figures.variant] == of_double);
    BOOST_TEST(name(merged.shapes[merged.winners[1].figures.shape]) == "double nn 1000x1000x1000");
    std::vector<std::string> expected = wanted_variants(a);
    for (const std::string& variant : wanted_variants(b)) expected.push_back(variant);
    BOOST_TEST((wanted_variants(merged) == expected));
    BOOST_TEST(tuning_text(required(parse_tuning(tuning_text(merged), "x"))) == tuning_text(merged));
  }
}

// The models of a prior stay where nothing was measured; they have no winners.
BOOST_AUTO_TEST_CASE(ModelsWithoutWinnersCountAsWell) {
  Tuning a = fitted(kLargeWinner, kLoser, "single nn 1000x1000x1000");
  const Tuning b =
      fitted("register_tile-d-nn-60x128x512-6x16x1-v8", "direct-d-nn-4x4x1-2x4x1-v4", "double nn 1000x1000x1000");
  a.variants.emplace_back("direct-d-nn-4x4x1-2x4x1-v4");
  cache::CostModel model;
  model.kind() = {Precision::double_precision, false, false};
  model.variant = 2;
  a.models.push_back(model);
  const Result<Tuning> merged = merge(both(a, brief(b)), false);
  BOOST_TEST(outcome(merged) == "invalid argument");
  BOOST_TEST(contains(merged.status().message(), "has double nn"), merged.status().message());
}

BOOST_AUTO_TEST_CASE(BriefShardsAreNotComplete) {
  Tuning a = brief(fitted(kLargeWinner, kLoser, "single nn 1000x1000x1000"));
  const Tuning b = brief(
      fitted("register_tile-d-nn-60x128x512-6x16x1-v8", "direct-d-nn-4x4x1-2x4x1-v4", "double nn 1000x1000x1000"));
  BOOST_TEST(required(merge(both(a, b), false)).complete);
  a.shards = 2;
  BOOST_TEST(!required(merge(both(a, b), false)).complete);
}

BOOST_AUTO_TEST_CASE(BriefProfilesOfTheSameKindCannotBeJoined) {
  const Tuning a = fitted(kLargeWinner, kLoser, "single nn 1000x1000x1000");
  const Tuning b = fitted(kLoser, kLargeWinner, "single nn 900x900x900");
  const Result<Tuning> merged = merge(both(a, brief(b)), true);
  BOOST_TEST(outcome(merged) == "invalid argument");
  BOOST_TEST(contains(merged.status().message(), "b.json: has single nn, as a.json has"), merged.status().message());
}

BOOST_AUTO_TEST_CASE(AMissingOrInterruptedPartIsSaid) {
  const Tuning first = shard_of_two(1, kLargeWinner, 100);
  BOOST_TEST(!required(merge({{"a.json", first}}, false)).complete);
  Tuning second = shard_of_two(2, kLoser, 90);
  BOOST_TEST(required(merge(both(first, second), false)).complete);
  second.complete = false;
  BOOST_TEST(!required(merge(both(first, second), false)).complete);
}

}  // namespace clbake::builder::test
