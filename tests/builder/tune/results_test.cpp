// Results of a search: the best of a shape, exclusions, timeouts.
#include "tune/results.hpp"
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

using namespace tune;

kernels::Params params(const std::string& name) { return std::get<kernels::Params>(kernels::parse(name)); }

// Results of two variants on two shapes.
class Fixture {
 public:
  const kernels::Params a = params("direct-s-nn-4x16x1-4x16x1-v16");
  const kernels::Params b = params("direct-s-nn-8x16x1-8x16x1-v16");
  std::vector<TuneProgress> reports;
  TuneClock clock{0};
  std::function<void(const TuneProgress&)> progress = [this](const TuneProgress& p) { reports.push_back(p); };
  Results results{clock, progress};
  const std::uint32_t small = results.shape(*parse_shape("single nn 64x64x64"));
  const std::uint32_t large = results.shape(*parse_shape("single nn 512x512x512"));

  void add(const kernels::Params& variant, std::uint32_t shape, const std::vector<double>& us) {
    results.add(variant, shape, us, false);
  }
  const profile::Tuning& tuning() const { return results.tuning; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(TheFastestMedianOfAShapeIsItsBest) {
  Fixture f;
  f.add(f.a, f.small, {5, 3, 4});
  f.add(f.a, f.large, {9, 9});
  f.add(f.b, f.small, {4, 4, 2});
  f.add(f.b, f.large, {20, 20});
  BOOST_TEST(f.results.best(f.small) == 4.0);
  BOOST_TEST(f.results.best(f.large) == 9.0);
  BOOST_TEST((f.results.fastest(f.large, 9) == std::vector<std::uint32_t>{0, 1}));
  BOOST_TEST(f.tuning().measurements.size() == 4U);
  BOOST_TEST(f.tuning().tried == 2U);
}

BOOST_AUTO_TEST_CASE(AVariantThatWasStoppedAfterOneCallIsNotTheBest) {
  Fixture f;
  f.add(f.a, f.small, {1});
  BOOST_TEST(f.results.best(f.small) == 0.0);
}

BOOST_AUTO_TEST_CASE(AFailureTakesAllMeasurementsOfTheVariantWithIt) {
  Fixture f;
  f.add(f.a, f.small, {4, 4});
  f.add(f.a, f.large, {8, 8});
  f.add(f.b, f.small, {6, 6});
  f.results.fail(kernels::name(f.a), "wrong result");
  f.add(f.a, f.small, {1, 1});  // of a race that was under way
  BOOST_TEST(f.results.excluded(kernels::name(f.a)));
  BOOST_TEST(f.results.best(f.small) == 6.0);
  BOOST_TEST(f.tuning().measurements.size() == 1U);
  BOOST_REQUIRE_EQUAL(f.tuning().failures.size(), 1U);
  BOOST_TEST(f.tuning().failures[0].cause == "wrong result");
  BOOST_TEST(f.reports.back().failure == kernels::name(f.a) + ": wrong result");
}

BOOST_AUTO_TEST_CASE(ATimeoutIsTheShapesFaultUntilAnotherVariantFinishesIt) {
  Fixture f;
  f.results.add_late(kernels::name(f.a), f.large);
  BOOST_TEST(f.tuning().failures.empty());
  BOOST_TEST(f.results.late(f.large) == 1U);
  BOOST_TEST(contains(f.results.nothing_measured().message(), "512x512x512"), f.results.nothing_measured().message());
  f.add(f.b, f.large, {9, 9});
  BOOST_TEST(f.results.late(f.large) == 0U);
  BOOST_REQUIRE_EQUAL(f.tuning().failures.size(), 1U);
  BOOST_TEST(f.tuning().failures[0].variant == kernels::name(f.a));
  BOOST_TEST(f.tuning().failures[0].cause == "no end in time on a shape");
}

BOOST_AUTO_TEST_CASE(ATimeoutOnAShapeThatAnotherVariantHasFinishedIsAFailure) {
  Fixture f;
  f.add(f.b, f.large, {9, 9});
  f.results.add_late(kernels::name(f.a), f.large);
  BOOST_TEST(f.results.excluded(kernels::name(f.a)));
}

BOOST_AUTO_TEST_CASE(WhyNothingWasMeasuredIsSaid) {
  Fixture f;
  BOOST_TEST(contains(f.results.nothing_measured().message(), "within the budget"));
  f.results.fail(kernels::name(f.a), "the driver crashed");
  BOOST_TEST(contains(f.results.nothing_measured().message(), "the driver crashed"));
}

BOOST_AUTO_TEST_CASE(TurnsOfTheFinalsReplaceEarlierMeasurementsAndAddUp) {
  Fixture f;
  f.add(f.a, f.small, {1, 1});
  f.results.add(f.a, f.small, {8}, true);
  f.results.add(f.a, f.small, {6, 7}, true);
  f.add(f.a, f.small, {1, 1});
  BOOST_REQUIRE_EQUAL(f.tuning().measurements.size(), 1U);
  BOOST_TEST(f.tuning().measurements[0].median_us == 7.0);
  BOOST_TEST(f.tuning().measurements[0].runs == 3U);
  BOOST_TEST(f.tuning().measurements[0].final);
}

}  // namespace clbake::builder::test
