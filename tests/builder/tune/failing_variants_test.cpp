// Variants that compute wrong results, crash, hang or fail in a tuning: none of them wins, and the others go on.
#include "system/self.hpp"
#include "tune/tune_bench.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

const std::string kLate = "no end after " + std::to_string(LIMIT_S) + " s";

void check_without(const profile::Tuning& tuning, const std::string& variant, const std::string& cause) {
  const auto failure = std::find_if(tuning.failures.begin(), tuning.failures.end(),
                                    [&](const profile::Failure& f) { return f.variant == variant; });
  BOOST_REQUIRE((failure != tuning.failures.end()));
  BOOST_TEST(contains(failure->cause, cause), failure->cause);
  for (const profile::Failure& f : tuning.failures) BOOST_TEST(f.variant == variant, f.variant + ": " + f.cause);
  BOOST_TEST(tuning.failures.size() == 1U);
  const auto is_it = [&](std::uint32_t v) { return tuning.variants.at(v) == variant; };
  for (const profile::Measurement& m : tuning.measurements) BOOST_TEST(!is_it(m.variant), "measured");
  for (const cache::Rule& r : tuning.exceptions) BOOST_TEST(!is_it(r.variant), "an exception");
  for (const cache::CostModel& m : tuning.models) BOOST_TEST(!is_it(m.variant), "a cost model");
  for (const std::string& wanted : profile::wanted_variants(tuning)) BOOST_TEST(wanted != variant);
}

}  // namespace

// How the would-be best variant misbehaves, and the cause that the profile names.
void check_never_wins(const std::string& how, const std::string& cause) {
  BOOST_TEST_CONTEXT(how) {
    SmallBench bench;
    bench.options.shapes.grid = {*parse_shape("single nn 300x300x300")};
    if (how.rfind("hang", 0) == 0) bench.options.timeout = std::chrono::seconds(LIMIT_S);
    const std::string wrong = bench.best(bench.square());
    bench.shop.misbehave("time:" + how + ":" + wrong);
    const Result<profile::Tuning> tuning = bench.tune();
    BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
    check_without(*tuning, wrong, cause);
    BOOST_TEST(winner(*tuning, bench.square()) == bench.best(bench.square(), 1));
    // Nor when the same command is given again.
    bench.shop.misbehave("");
    const profile::Tuning again = required(bench.tune());
    check_without(again, wrong, cause);
    BOOST_TEST((lasting_text(again) == lasting_text(*tuning)));
  }
}

BOOST_AUTO_TEST_CASE(AWrongKernelNeverWins) {
  check_never_wins("wrong-result", "wrong result at 5 x 3 x 129");
  check_never_wins("wrong-result@300x300x300", "wrong result");
  check_never_wins("crash@64x64x64", kCrashed);
}

BOOST_AUTO_TEST_CASE(NorDoesOneThatFailsInAnotherWay, *boost::unit_test::label("slow")) {
  check_never_wins("wrong-result@batch", "wrong result");
  check_never_wins("wrong-result@512x512x512", "wrong result");
  check_never_wins("silent@16x1024x1024", "without an answer");
  check_never_wins("garbage", "a driver's greeting");
  check_never_wins("garbage@64x64x64", "us 1 2 three");
  check_never_wins("hang", kLate);
  check_never_wins("hang@64x64x64", "no end in time");
}

BOOST_AUTO_TEST_CASE(WhatADeviceHasNoRoomForCostsThatShapeOnly) {
  SmallBench bench;
  const std::string unable = bench.best(bench.square());
  bench.shop.misbehave("time:unable@batch:" + unable);
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
  BOOST_TEST(tuning->failures.empty());
  BOOST_TEST(winner(*tuning, bench.square()) == unable);
  for (const profile::Measurement& m : tuning->measurements) {
    BOOST_TEST((tuning->variants[m.variant] != unable || tuning->shapes[m.shape].batch == 1));
  }
}

// All variants of the fake worker hang on it.
void check_too_slow(Bench& bench, const Shape& slow) {
  bench.options.timeout = std::chrono::seconds(LIMIT_S);
  bench.shop.misbehave("time:hang@" + std::to_string(slow.m) + "x:direct");
  const profile::Tuning tuning = required(bench.tune());
  BOOST_TEST(tuning.failures.empty());
  for (const profile::Measurement& m : tuning.measurements) BOOST_TEST(!(tuning.shapes[m.shape] == slow));
  BOOST_TEST(winner(tuning, bench.square()) == bench.best(bench.square()));
  const profile::Tuning again = required(bench.tune());
  BOOST_TEST(bench.shop.calls().empty());
  BOOST_TEST((lasting_text(again) == lasting_text(tuning)));
}

BOOST_AUTO_TEST_CASE(AShapeThatIsTooSlowForAllCostsNoVariant) {
  SmallBench bench;
  const Shape slow = *parse_shape("single nn 2000x2000x2000");
  bench.options.shapes.list.insert(bench.options.shapes.list.begin() + 2, slow);
  check_too_slow(bench, slow);
}

BOOST_AUTO_TEST_CASE(NorInTheFinalRace, *boost::unit_test::label("slow")) {
  SmallBench bench;
  bench.options.shapes.grid = {*parse_shape("single nn 2000x2000x2000"), *parse_shape("single nn 300x300x300")};
  check_too_slow(bench, bench.options.shapes.grid[0]);
}

BOOST_AUTO_TEST_CASE(AVectorWidthOnWhichTheDriverHangsCostsThreeTimeouts) {
  SmallBench bench;
  bench.options.shards = 4;  // enough points of a width
  bench.options.parallel = 1;
  bench.options.timeout = std::chrono::seconds(LIMIT_S);
  bench.shop.misbehave("time:hang:-v4");
  const profile::Tuning tuning = required(bench.tune());
  const auto is_wide = [](const std::string& variant) { return contains(variant, "-v4"); };
  const Names calls = calls_of(bench, "time");
  BOOST_TEST(std::count_if(calls.begin(), calls.end(), is_wide) == 3);
  const std::vector<kernels::Params> points = bench.points();
  const auto wide = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const auto& p) { return p.vector_width == 4; }));
  BOOST_REQUIRE(wide > 3U);
  BOOST_REQUIRE_EQUAL(tuning.failures.size(), wide);
  const auto causes = [&](const std::string& cause) {
    return static_cast<std::size_t>(std::count_if(tuning.failures.begin(), tuning.failures.end(),
                                                  [&](const profile::Failure& f) { return f.cause == cause; }));
  };
  BOOST_TEST(causes(kLate) == 3U);
  BOOST_TEST(causes("skipped: 3 variants of vector width 4 in a row did not compile in time") == wide - 3);
  for (const profile::Measurement& m : tuning.measurements) BOOST_TEST(!is_wide(tuning.variants[m.variant]));
  bench.shop.misbehave("");
  BOOST_TEST((lasting_text(required(bench.tune())) == lasting_text(tuning)));  // the journal knows it
}

BOOST_AUTO_TEST_CASE(WhenEveryVariantFailsTheFirstCauseIsTold) {
  SmallBench bench;
  bench.shop.misbehave("time:message:direct");
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_TEST(outcome(tuning) == "build failed");
  BOOST_TEST(contains(tuning.status().message(), "the driver has lost its mind"), tuning.status().message());
}

}  // namespace clbake::builder::test
