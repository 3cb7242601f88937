// Interrupted builds go on where they stopped; what did not change is not done again; what changed is.
#include "build_fixture.hpp"

#include <clbake/cache/pack.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace clbake::builder::test {
using namespace build;
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
    BuildFixture fixture;
    BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
    return read_file(fixture.options.output);
  }();
  return bytes;
}

void check_resumes(std::size_t stop_after, unsigned parallel) {
  BOOST_TEST_CONTEXT("stopped after " << stop_after << " steps, " << parallel << " at a time") {
    BuildFixture fixture;
    fixture.options.parallel = parallel;
    BOOST_TEST(outcome(fixture.build(stop_after)) == "cancelled");
    BOOST_TEST(!fs::exists(fixture.options.output));
    BOOST_TEST(fs::is_directory(fixture.work_directory()));
    const std::vector<std::string> done = work_done(fixture.steps());
    BOOST_TEST(done.size() >= stop_after);

    const BuildReport report = required(fixture.build());
    for (const std::string& call : fixture.calls()) {
      BOOST_TEST((std::find(done.begin(), done.end(), call) == done.end()), call << " was done twice");
    }
    // One of several children that are killed together may have been done already.
    BOOST_TEST(fixture.calls().size() <= kSteps - done.size());
    if (parallel == 1) BOOST_TEST(fixture.calls().size() == kSteps - done.size());
    BOOST_TEST(report.baked + report.reused == kVariants);
    BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
    BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(InterruptedBuildGoesOnWhereItStopped) {
  for (const std::size_t stop_after : {0U, 3U, 12U, 15U}) check_resumes(stop_after, 1);
  check_resumes(10, 4);
}

BOOST_AUTO_TEST_CASE(ABuildInterruptedTwiceStillEqualsAnUninterruptedOne) {
  BuildFixture fixture;
  for (const std::size_t stop : {4U, 6U, 11U}) BOOST_TEST(outcome(fixture.build(stop)) == "cancelled");
  required(fixture.build());
  BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(DamagedFilesOfAnInterruptedBuildAreMadeAgain) {
  BuildFixture fixture;
  BOOST_TEST(outcome(fixture.build(12)) == "cancelled");
  std::size_t damaged = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fixture.work_directory())) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".compiled" && extension != ".proven") continue;
    const std::string bytes = read_file(entry.path().string());
    write_file(entry.path().string(), damaged++ % 2 ? "garbage" : bytes.substr(0, bytes.size() / 2));
  }
  BOOST_TEST(damaged == 13U);  // with the kernel that does nothing
  BOOST_TEST(outcome(fixture.build()) == "ok");
  BOOST_TEST(fixture.calls().size() == kSteps);
  BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(AVariantThatFailedIsTriedAgainAlone) {
  BuildFixture fixture;
  fixture.misbehave("compile:crash:direct-s-nt");
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  fixture.misbehave("");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.reused == kVariants - 1);
  BOOST_TEST(fixture.calls().size() == 2U);
  BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(RebuildWithNothingChangedRunsNoWorker) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const fs::file_time_type written = fs::last_write_time(fixture.options.output) - std::chrono::hours(1);
  fs::last_write_time(fixture.options.output, written);
  const BuildReport report = required(fixture.build());
  BOOST_TEST((fs::last_write_time(fixture.options.output) == written));
  BOOST_TEST(report.reused == kVariants);
  BOOST_TEST(fixture.calls().empty());
  BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
  BOOST_TEST(outcome(fixture.build(0)) == "ok");  // nothing is compressed that this would interrupt
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
}

BOOST_AUTO_TEST_CASE(ASignedBundleThatDoesNotChangeStaysSigned) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const std::string plain = read_file(fixture.options.output);
  const Result<cache::Bytes> with =
      cache::with_signatures({reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size()}, {cache::Signature()});
  if (!with) return;  // built without libsodium
  const std::string with_signature(with->begin(), with->end());
  write_file(fixture.options.output, with_signature);
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  BOOST_TEST((read_file(fixture.options.output) == with_signature));
}

BOOST_AUTO_TEST_CASE(FreshTakesNothingOverFromAnInterruptedBuild) {
  BuildFixture fixture;
  BOOST_TEST(outcome(fixture.build(12)) == "cancelled");
  fixture.options.fresh = true;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  BOOST_TEST(fixture.calls().size() == kSteps);

  BOOST_TEST(outcome(fixture.build(12)) == "cancelled");
  fixture.misbehave("compile:silent:,prove:silent:");
  BOOST_TEST(outcome(fixture.build()) == "build failed");
}

// The variant itself, its launches, the tool, and for all variants of a family its source: direct.cl's four.
BOOST_AUTO_TEST_CASE(WhatChangedIsBakedAgain) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  cache::Contents contents = baked_contents_of(fixture.options.output);
  std::set<std::string> changed;
  const auto direct = [&](const cache::Variant& v) { return contents.sources[v.source].name == "direct.cl"; };
  std::size_t change = 0;
  for (cache::Entry& entry : contents.entries) {
    cache::Variant& variant = contents.variants[entry.variant];
    if (direct(variant) || change == 3) continue;
    changed.insert(variant.name);
    if (change == 0) variant.build_options += " -DOTHER";
    if (change == 1) variant.launches[0].tile_m += 1;
    if (change++ == 2) entry.proof.tools = {{"clbake", "0.0.1"}};
  }
  for (const cache::Variant& variant : contents.variants) {
    if (direct(variant)) changed.insert(variant.name);
  }
  for (cache::Source& source : contents.sources) {
    if (source.name == "direct.cl") source.text += "// edited\n";
  }
  write_bundle(fixture.options.output, contents);
  BOOST_TEST(required(fixture.build()).baked == changed.size());
  BOOST_TEST(changed.size() == 7U);
  for (const std::string& name : changed) BOOST_TEST(fixture.calls_of(" " + name) == 2U, name);
  BOOST_TEST((read_file(fixture.options.output) == uninterrupted_bundle()));
}

BOOST_AUTO_TEST_CASE(ChangesWhileInterruptedAreRebuilt) {
  BuildFixture fixture;
  BOOST_TEST(outcome(fixture.build(12)) == "cancelled");
  fixture.options.devices[0].target.driver_version = "2.0";
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  BOOST_TEST(fixture.calls().size() == kSteps);
  BOOST_TEST(baked_contents_of(fixture.options.output).targets[0].driver_version == "2.0");
}

}  // namespace clbake::builder::test
