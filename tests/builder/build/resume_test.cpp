// Interrupted builds go on where they stopped; what did not change is not done again; what changed is.
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

namespace clbake::builder::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSteps = 2 * kVariants;

// "compile X" and "prove X" for each step that the progress callback has seen done.
std::vector<std::string> work_done(const std::vector<Progress>& steps) {
  std::vector<std::string> done;
  for (const Progress& step : steps) {
    const std::string variant = step.last.substr(step.last.find(' ') + 1);
    if (step.last.rfind("compiled ", 0) == 0) done.push_back("compile " + variant);
    if (step.last.rfind("proved ", 0) == 0) done.push_back("prove " + variant);
  }
  return done;
}

const std::string& uninterrupted_bundle() {
  static const std::string bytes = [] {
    BuildFixture shop;
    BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
    return read_file(shop.options.output);
  }();
  return bytes;
}

void check_resumes(std::size_t stop_after, unsigned parallel) {
  BOOST_TEST_CONTEXT("stopped after " << stop_after << " steps, " << parallel << " at a time") {
    BuildFixture shop;
    shop.options.parallel = parallel;
    BOOST_TEST(outcome(shop.build(stop_after)) == "cancelled");
    BOOST_TEST(!fs::exists(shop.options.output));
    BOOST_TEST(fs::is_directory(shop.work_directory()));
    const std::vector<std::string> done = work_done(shop.steps());
    BOOST_TEST(done.size() >= stop_after);

    const Result<BuildReport> report = shop.build();
    BOOST_REQUIRE_EQUAL(outcome(report), "ok");
    for (const std::string& call : shop.calls()) {
      BOOST_TEST((std::find(done.begin(), done.end(), call) == done.end()), call << " was done twice");
    }
    // Of several children that are killed together, one may have been done already.
    BOOST_TEST(shop.calls().size() <= kSteps - done.size());
    if (parallel == 1) BOOST_TEST(shop.calls().size() == kSteps - done.size());
    BOOST_TEST(report->baked + report->reused == kVariants);
    BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
    BOOST_TEST((shop.files() == std::vector<std::string>{"gemm.clbake"}));
  }
}

// What the second build redoes after the first one's bundle was changed.
std::vector<std::string> calls_after(const std::function<void(cache::Contents&)>& change) {
  BuildFixture shop;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  const std::string good = read_file(shop.options.output);
  cache::Contents contents = contents_of(shop.options.output);
  change(contents);
  write_bundle(shop.options.output, contents);
  BOOST_TEST((read_file(shop.options.output) != good));
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  BOOST_TEST((read_file(shop.options.output) == good));
  std::vector<std::string> calls = shop.calls();
  std::sort(calls.begin(), calls.end());
  return calls;
}

using Calls = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(InterruptedBuildGoesOnWhereItStopped) {
  for (const std::size_t stop_after : {0U, 1U, 3U, 8U, 9U, 12U, 15U}) {
    check_resumes(stop_after, 1);
  }
  check_resumes(3, 4);
  check_resumes(10, 4);
}

BOOST_AUTO_TEST_CASE(ABuildInterruptedTwiceStillEqualsAnUninterruptedOne) {
  BuildFixture shop;
  BOOST_TEST(outcome(shop.build(4)) == "cancelled");
  BOOST_TEST(outcome(shop.build(6)) == "cancelled");
  BOOST_TEST(outcome(shop.build(11)) == "cancelled");
  BOOST_TEST(outcome(shop.build()) == "ok");
  BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(AnInterruptedRebuildLeavesTheEarlierBundle) {
  BuildFixture shop;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  shop.options.fresh = true;
  BOOST_TEST(outcome(shop.build(10)) == "cancelled");
  BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(DamagedFilesOfAnInterruptedBuildAreMadeAgain) {
  BuildFixture shop;
  BOOST_TEST(outcome(shop.build(12)) == "cancelled");
  std::size_t damaged = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(shop.work_directory())) {
    const std::string extension = entry.path().extension();
    if (extension != ".compiled" && extension != ".proven") continue;
    const std::string bytes = read_file(entry.path());
    write_file(entry.path(), damaged++ % 2 ? "garbage" : bytes.substr(0, bytes.size() / 2));
  }
  BOOST_TEST(damaged == 13U);  // and the kernel that does nothing
  BOOST_TEST(outcome(shop.build()) == "ok");
  BOOST_TEST(shop.calls().size() == kSteps);
  BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(AVariantThatFailedIsTriedAgainAlone) {
  BuildFixture shop;
  shop.misbehave("compile:crash:direct-s-nt");
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  shop.misbehave("");
  const Result<BuildReport> report = shop.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == 1U);
  BOOST_TEST(report->reused == kVariants - 1);
  BOOST_TEST(shop.calls().size() == 2U);
  BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(RebuildWithNothingChangedRunsNoWorker) {
  BuildFixture shop;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  const fs::file_time_type written = fs::last_write_time(shop.options.output) - std::chrono::hours(1);
  fs::last_write_time(shop.options.output, written);
  const Result<BuildReport> report = shop.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST((fs::last_write_time(shop.options.output) == written));
  BOOST_TEST(report->reused == kVariants);
  BOOST_TEST(report->baked == 0U);
  BOOST_TEST(shop.calls().empty());
  BOOST_TEST((read_file(shop.options.output) == uninterrupted_bundle()));
  BOOST_TEST((shop.files() == std::vector<std::string>{"gemm.clbake"}));
}

BOOST_AUTO_TEST_CASE(AnotherPrecisionIsAddedToWhatIsThere) {
  BuildFixture shop;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  shop.options.precisions.push_back(Precision::double_precision);
  const Result<BuildReport> report = shop.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->reused == kVariants);
  BOOST_TEST(report->baked == kVariants);
  BOOST_TEST(shop.calls_of("-s-") == 0U);
}

BOOST_AUTO_TEST_CASE(FreshTakesNothingOverFromTheBundle) {
  BuildFixture shop;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  shop.options.fresh = true;
  const Result<BuildReport> report = shop.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == kVariants);
  BOOST_TEST(shop.calls().size() == kSteps);
}

BOOST_AUTO_TEST_CASE(FreshTakesNothingOverFromAnInterruptedBuild) {
  BuildFixture shop;
  BOOST_TEST(outcome(shop.build(12)) == "cancelled");
  shop.options.fresh = true;
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  BOOST_TEST(shop.calls().size() == kSteps);

  BOOST_TEST(outcome(shop.build(12)) == "cancelled");
  shop.misbehave("compile:silent:,prove:silent:");
  BOOST_TEST(outcome(shop.build()) == "build failed");
}

BOOST_AUTO_TEST_CASE(AChangedBuildOptionIsRebuilt) {
  const Calls calls = calls_after([](cache::Contents& c) { c.variants[1].build_options += " -DOTHER"; });
  BOOST_TEST(calls.size() == 2U);
}

BOOST_AUTO_TEST_CASE(AChangedLaunchIsRebuilt) {
  const Calls calls = calls_after([](cache::Contents& c) { c.variants[1].launches[0].tile_m += 1; });
  BOOST_TEST(calls.size() == 2U);
}

BOOST_AUTO_TEST_CASE(AChangedSourceIsRebuiltForAllVariantsOfItsFamily) {
  const Calls calls = calls_after([](cache::Contents& c) { c.sources[0].text += "\n// edited\n"; });
  BOOST_TEST(calls.size() == 2 * 4U);  // direct.cl, compiled and proven once for each pair of transposes
}

BOOST_AUTO_TEST_CASE(AnEntryOfAnotherToolVersionIsRebuilt) {
  const Calls calls = calls_after([](cache::Contents& c) { c.entries[2].proof.tools = "clbake 0.0.1, older"; });
  BOOST_TEST(calls.size() == 2U);
}

BOOST_AUTO_TEST_CASE(AnotherDriverIsRebuilt) {
  const Calls calls = calls_after([](cache::Contents& c) { c.targets[0].driver_version = "0.9"; });
  BOOST_TEST(calls.size() == kSteps);
}

BOOST_AUTO_TEST_CASE(ChangesWhileInterruptedAreRebuilt) {
  BuildFixture shop;
  BOOST_TEST(outcome(shop.build(12)) == "cancelled");
  shop.options.devices[0].target.driver_version = "2.0";
  BOOST_REQUIRE_EQUAL(outcome(shop.build()), "ok");
  BOOST_TEST(shop.calls().size() == kSteps);
  BOOST_TEST(contents_of(shop.options.output).targets[0].driver_version == "2.0");
}

}  // namespace clbake::builder::test
