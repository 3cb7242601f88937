// What becomes of results: the timing table, exclusions, timeouts, the curve.
#include "tune/results.hpp"
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace clbake::builder::test {
namespace {

const GemmKind kSingle{};

kernels::Params params(const std::string& name) { return std::get<kernels::Params>(kernels::parse(name)); }

// Results of one stage, with two variants and two shapes.
class Fixture {
 public:
  const kernels::Params a = params("direct-s-nn-4x16x1-4x16x1-v16");
  const kernels::Params b = params("direct-s-nn-8x16x1-8x16x1-v16");
  const Shape small = *parse_shape("single nn 64x64x64");
  const Shape large = *parse_shape("single nn 512x512x512");
  std::vector<TuneProgress> reports;
  TuneClock clock{0};
  std::function<void(const TuneProgress&)> progress = [this](const TuneProgress& p) { reports.push_back(p); };
  Results results{std::chrono::seconds(5), clock, progress};

  explicit Fixture(Stage stage = Stage::explore) { results.enter({stage, kSingle}); }

  void take_in(const kernels::Params& variant, const TimingResult& result) {
    results.count_tried(kernels::name(variant));
    results.take_in({variant, {small, large}}, result, 1.5);
  }

  const Tuning& tuning() const { return results.table.tuning; }
  std::uint32_t index(const Shape& shape) { return results.table.shape(shape); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(TheFastestMedianOfAShapeIsItsBest) {
  Fixture f;
  f.take_in(f.a, {"", {{5, 3, 4}, {9, 9}}, {}});
  f.take_in(f.b, {"", {{4, 4, 2}, {20, 20}}, {}});
  BOOST_TEST(f.results.table.best(f.index(f.small)) == 4.0);
  BOOST_TEST(f.results.table.best(f.index(f.large)) == 9.0);
  BOOST_TEST(f.tuning().measurements.size() == 4U);
  BOOST_TEST(f.tuning().tried == 2U);
}

BOOST_AUTO_TEST_CASE(WhatWasStoppedAfterOneCallIsNotTheBest) {
  Fixture f;
  f.take_in(f.a, {"", {{1}}, {}});
  BOOST_TEST(f.results.table.best(f.index(f.small)) == 0.0);
  BOOST_TEST(f.tuning().curve.empty());
}

BOOST_AUTO_TEST_CASE(OnlyExploringHasACurve) {
  for (const Stage stage : {Stage::explore, Stage::range, Stage::refine}) {
    Fixture f(stage);
    f.take_in(f.a, {"", {{4, 4}}, {}});
    f.take_in(f.b, {"", {{5, 5}}, {}});  // no step: it is slower
    BOOST_TEST(f.tuning().curve.size() == (stage == Stage::explore ? 1U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(AFailureTakesAllMeasurementsOfTheVariantWithIt) {
  Fixture f;
  f.take_in(f.a, {"", {{4, 4}, {8, 8}}, {}});
  f.take_in(f.b, {"", {{6, 6}, {9, 9}}, {}});
  f.take_in(f.a, {"wrong result", {}, {}});
  f.take_in(f.a, {"", {{1, 1}, {1, 1}}, {}});  // of a request that was under way
  BOOST_TEST(f.results.table.excluded(kernels::name(f.a)));
  BOOST_TEST(f.results.table.best(f.index(f.small)) == 6.0);
  BOOST_TEST(f.tuning().measurements.size() == 2U);
  BOOST_REQUIRE_EQUAL(f.tuning().failures.size(), 1U);
  BOOST_TEST(f.tuning().failures[0].cause == "wrong result");
  BOOST_TEST(f.reports.at(2).failure == kernels::name(f.a) + ": wrong result");
}

BOOST_AUTO_TEST_CASE(ATimeoutIsTheShapesFaultUntilAnotherVariantFinishesIt) {
  Fixture f;
  f.take_in(f.a, {"", {{4, 4}, {}}, {1}});
  BOOST_TEST(f.tuning().failures.empty());
  BOOST_TEST(f.results.too_slow(f.index(f.large)));
  BOOST_TEST(!f.results.too_slow(f.index(f.small)));
  f.take_in(f.b, {"", {{}, {9, 9}}, {}});
  BOOST_TEST(!f.results.too_slow(f.index(f.large)));
  BOOST_REQUIRE_EQUAL(f.tuning().failures.size(), 1U);
  BOOST_TEST(f.tuning().failures[0].variant == kernels::name(f.a));
  BOOST_TEST(f.tuning().failures[0].cause == "no end after 5 s");
}

BOOST_AUTO_TEST_CASE(ATimeoutOnAShapeThatAnotherVariantHasFinishedIsAFailure) {
  Fixture f;
  f.take_in(f.b, {"", {{4, 4}, {9, 9}}, {}});
  f.take_in(f.a, {"", {{4, 4}, {}}, {1}});
  BOOST_TEST(f.results.table.excluded(kernels::name(f.a)));
}

BOOST_AUTO_TEST_CASE(AShapeThatNoRacerFinishedIsTooSlow) {
  Fixture f;
  f.results.no_racer_finished(f.index(f.large));
  BOOST_TEST(f.results.too_slow(f.index(f.large)));
  BOOST_TEST(contains(f.results.nothing_measured().message(), "512x512x512"), f.results.nothing_measured().message());
}

BOOST_AUTO_TEST_CASE(WhyNothingWasMeasuredIsSaid) {
  Fixture f;
  BOOST_TEST(contains(f.results.nothing_measured().message(), "within the budget"));
  f.take_in(f.a, {"the driver crashed", {}, {}});
  BOOST_TEST(contains(f.results.nothing_measured().message(), "the driver crashed"));
}

BOOST_AUTO_TEST_CASE(TurnsOfTheFinalRaceReplaceEarlierMeasurementsAndAddUp) {
  Fixture f;
  TimingTable& table = f.results.table;
  f.take_in(f.a, {"", {{1, 1}}, {}});
  const std::uint32_t shape = f.index(f.small);
  table.add(table.variant(f.a), shape, {8}, true);
  table.add(table.variant(f.a), shape, {6, 7}, true);
  f.take_in(f.a, {"", {{1, 1}}, {}});  // too late to count
  BOOST_REQUIRE_EQUAL(f.tuning().measurements.size(), 1U);
  BOOST_TEST(f.tuning().measurements[0].median_us == 7.0);
  BOOST_TEST(f.tuning().measurements[0].runs == 3U);
  BOOST_TEST(f.tuning().measurements[0].final);
}

BOOST_AUTO_TEST_CASE(StagesHaveTheirNames) {
  BOOST_TEST(progress_name({Stage::explore, kSingle}) == "explore single nn");
  BOOST_TEST(request_key({Stage::refine, {Precision::double_precision, true, false}}, 7) == "refine double tn 7");
  BOOST_TEST(race_key(1, *parse_shape("single nn 5x6x7 batch 8")) == "finals 1 single nn 5x6x7 batch 8");
  BOOST_TEST(race_failure_key(0, "direct-s") == "out 0 direct-s");
}

}  // namespace clbake::builder::test
