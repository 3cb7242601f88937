// Builds with workers that do their job and with workers that do not.
#include "build_fixture.hpp"
#include "compile/entries_for_bundle.hpp"

#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace clbake::builder::test {
namespace {

using Outcome = JobReport::Outcome;

// For workers that hang: long enough for those that do not, even on a busy machine.
constexpr std::chrono::seconds kShort(2);

// One variant in eight misbehaves: it is left out with this cause, the others are packed.
void check_costs_one_variant(const std::string& rule, const std::string& cause,
                             std::chrono::seconds timeout = std::chrono::minutes(1)) {
  const std::string victim = "direct-s-nt-";
  BuildFixture fixture;
  fixture.options.timeout = timeout;
  fixture.misbehave(rule + ":" + victim);
  const Result<BuildReport> report = fixture.build();
  BOOST_TEST_CONTEXT(rule) {
    BOOST_REQUIRE_EQUAL(outcome(report), "ok");
    BOOST_TEST(report->failed == 1U);
    BOOST_TEST(report->baked == kVariants - 1);
    BOOST_TEST((report_of(*report, victim).outcome == Outcome::failed));
    BOOST_TEST(contains(report_of(*report, victim).cause, cause), report_of(*report, victim).cause);
    BOOST_TEST(baked_contents_of(fixture.options.output).entries.size() == kVariants - 1);
    BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));

    std::size_t failures = 0;
    for (const Progress& step : fixture.steps()) {
      if (step.failure.empty()) continue;
      ++failures;
      BOOST_TEST(contains(step.failure, victim), step.failure);
      BOOST_TEST(contains(step.failure, cause), step.failure);
    }
    BOOST_TEST(failures == 1U);
    BOOST_TEST(fixture.steps().back().steps_done == fixture.steps().back().steps);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryVariantIsBakedProvenAndPacked) {
  BuildFixture fixture;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == 2 * kVariants);
  BOOST_TEST(report->reused == 0U);
  BOOST_TEST(report->failed == 0U);
  BOOST_TEST(report->not_jit_free == 0U);
  BOOST_TEST(report->jobs.size() == 2 * kVariants);
  BOOST_TEST(report->bytes == std::filesystem::file_size(fixture.options.output));
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));

  const cache::Contents contents = baked_contents_of(fixture.options.output);
  BOOST_TEST(contents.entries.size() == 2 * kVariants);
  BOOST_TEST(contents.variants.size() == 2 * kVariants);
  BOOST_TEST(contents.sources.size() == 2U);
  BOOST_TEST(contents.targets.size() == 1U);
  BOOST_TEST((contents.targets[0] == made_up_device().target));
  BOOST_TEST(contents.profiles.size() == 1U);
  for (const cache::Entry& entry : contents.entries) {
    BOOST_TEST(entry.proof.proven);
    BOOST_TEST(entry.proof.jit_free);
    BOOST_TEST(entry.proof.steady_us == 100.0F);
    BOOST_TEST(contains(entry.proof.note, "proven by the fake worker"));
    BOOST_TEST((entry.proof.tools == std::vector<cache::Tool>{this_clbake()}));
    BOOST_TEST(entry.proof.device == made_up_device().target.device_name);
    BOOST_TEST(entry.proof.driver == made_up_device().target.driver_version);
  }
}

BOOST_AUTO_TEST_CASE(EachVariantIsCompiledAndProvenOnce) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const std::vector<std::string> calls = fixture.calls();
  BOOST_TEST(calls.size() == 2 * kVariants);
  BOOST_TEST((std::set<std::string>(calls.begin(), calls.end()).size() == calls.size()));
}

BOOST_AUTO_TEST_CASE(ProgressCountsUpToAllSteps) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const std::vector<Progress>& steps = fixture.steps();
  BOOST_REQUIRE_EQUAL(steps.size(), 2 * kVariants + 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    BOOST_TEST(steps[i].steps_done == i);
    BOOST_TEST(steps[i].steps == 2 * kVariants);
    BOOST_TEST(steps[i].failure == "");
  }
}

BOOST_AUTO_TEST_CASE(ParallelismDoesNotChangeTheBundle) {
  BuildFixture one;
  one.options.parallel = 1;
  BOOST_REQUIRE_EQUAL(outcome(one.build()), "ok");
  BuildFixture many;
  many.options.parallel = 7;
  BOOST_REQUIRE_EQUAL(outcome(many.build()), "ok");
  BOOST_TEST((read_file(one.options.output) == read_file(many.options.output)));
}

BOOST_AUTO_TEST_CASE(CrashWhileCompilingCostsOneVariant) {
  check_costs_one_variant("compile:crash", "compile: killed by signal 6");
}

BOOST_AUTO_TEST_CASE(CrashWhileProvingCostsOneVariant) {
  check_costs_one_variant("prove:crash", "prove: killed by signal 6");
}

BOOST_AUTO_TEST_CASE(HangWhileCompilingCostsOneVariant) {
  check_costs_one_variant("compile:hang", "compile: no end after 2 s", kShort);
}

// The made-up device's variants have width 8 in single precision, 4 in double.
BOOST_AUTO_TEST_CASE(ADriverThatHangsOnAVectorWidthIsAskedForItThreeTimesOnly) {
  BuildFixture fixture;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  fixture.options.parallel = 1;
  fixture.options.timeout = kShort;
  fixture.misbehave("compile:hang:-v8");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(report.failed == kVariants);
  BOOST_TEST(fixture.calls_of("compile ") == kVariants + 3);
  BOOST_TEST(fixture.calls_of("prove ") == kVariants);
  const auto count = [&](const std::string& cause) {
    return std::count_if(report.jobs.begin(), report.jobs.end(),
                         [&](const JobReport& job) { return job.cause == cause; });
  };
  BOOST_TEST(count("compile: no end after 2 s") == 3);
  BOOST_TEST(count("compile: skipped: 3 variants of vector width 8 in a row did not compile in time") == kVariants - 3);
  BOOST_TEST(fixture.steps().back().steps_done == fixture.steps().back().steps);
  fixture.misbehave("");
  BOOST_TEST(required(fixture.build()).baked == kVariants);
}

// One that compiles now and then goes on, and so does another device.
BOOST_AUTO_TEST_CASE(TimeoutsThatAreNotInARowSkipNothing) {
  BuildFixture fixture;
  fixture.options.parallel = 1;
  fixture.options.timeout = kShort;
  fixture.options.devices.push_back(made_up_device("Device B"));
  fixture.misbehave("compile:hang:register_tile-s-nn,compile:hang:register_tile-s-tt");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.failed == 8U);
  BOOST_TEST(fixture.calls_of("compile ") == 2 * kVariants);
}

BOOST_AUTO_TEST_CASE(HangWhileProvingCostsOneVariant) {
  check_costs_one_variant("prove:hang", "prove: no end after 2 s", kShort);
}

BOOST_AUTO_TEST_CASE(TheLastLineOfTheWorkerIsTheCause) {
  check_costs_one_variant("compile:message", "compile: the driver has lost its mind");
  check_costs_one_variant("prove:message", "prove: the driver has lost its mind");
}

BOOST_AUTO_TEST_CASE(AWordlessFailureIsReportedByItsExitStatus) {
  check_costs_one_variant("compile:exit-7", "compile: exit status 7");
  check_costs_one_variant("prove:exit-7", "prove: exit status 7");
}

BOOST_AUTO_TEST_CASE(AWrongResultIsNotPacked) {
  check_costs_one_variant("prove:wrong-result", "wrong result at 5 x 3 x 129");
}

BOOST_AUTO_TEST_CASE(NoOutputOfTheWorkerCostsOneVariant) {
  check_costs_one_variant("compile:silent", ".compiled");
  check_costs_one_variant("prove:silent", ".proven");
}

BOOST_AUTO_TEST_CASE(GarbageOfTheWorkerCostsOneVariant) {
  check_costs_one_variant("compile:garbage", "not a bundle");
  check_costs_one_variant("prove:garbage", "not a bundle");
}

BOOST_AUTO_TEST_CASE(AnotherVariantsOutputIsNotTakenForThisOne) {
  check_costs_one_variant("compile:other-variant", "no proof of this variant");
  check_costs_one_variant("prove:other-variant", "no proof of this variant");
}

BOOST_AUTO_TEST_CASE(OutputWithoutAProgramCostsOneVariant) {
  check_costs_one_variant("compile:no-entry", "nothing was compiled");
  check_costs_one_variant("prove:no-entry", "no proof of this variant");
}

BOOST_AUTO_TEST_CASE(AnUnprovenEntryIsNotPacked) {
  check_costs_one_variant("prove:unproven", "no proof of this variant");
}

BOOST_AUTO_TEST_CASE(EveryVariantFailingIsAFailureWithNothingLeft) {
  for (const char* rule : {"compile:message:", "prove:message:"}) {
    BuildFixture fixture;
    fixture.misbehave(rule);
    const Result<BuildReport> report = fixture.build();
    BOOST_TEST(outcome(report) == "build failed");
    BOOST_TEST(contains(report.status().message(), "the driver has lost its mind"), report.status().message());
    BOOST_TEST(fixture.files().empty());
  }
}

BOOST_AUTO_TEST_CASE(EveryVariantFailingLeavesTheEarlierBundle) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const std::string before = read_file(fixture.options.output);
  fixture.misbehave("compile:crash:");
  fixture.options.fresh = true;
  BOOST_TEST(outcome(fixture.build()) == "build failed");
  BOOST_TEST((read_file(fixture.options.output) == before));
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
}

BOOST_AUTO_TEST_CASE(NoiseInAProofIsMeasuredAgain) {
  BuildFixture fixture;
  fixture.misbehave("prove:noise-once:direct-s-tt");
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->not_jit_free == 0U);
  BOOST_TEST(report_of(*report, "direct-s-tt").proof.jit_free);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 2U);
  BOOST_TEST(fixture.calls_of("prove ") == kVariants + 1);
}

// By less than a compilation takes: repeated more often than three times.
BOOST_AUTO_TEST_CASE(ANearMissIsMeasuredAgainUntilItIsBelieved) {
  BuildFixture fixture;
  fixture.misbehave("prove:near-miss-5:direct-s-tt,prove:near-miss:direct-s-nt");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(report.not_jit_free == 1U);
  BOOST_TEST(report_of(report, "direct-s-tt").proof.jit_free);
  BOOST_TEST(!report_of(report, "direct-s-nt").proof.jit_free);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 6U);
  BOOST_TEST(fixture.calls_of("prove direct-s-nt") == 10U);
}

BOOST_AUTO_TEST_CASE(WhatStaysNotJitFreeIsPackedAndSaysSo) {
  BuildFixture fixture;
  fixture.misbehave("prove:not-jit-free:direct-s-tt");
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == kVariants);
  BOOST_TEST(report->not_jit_free == 1U);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 3U);

  std::size_t not_jit_free = 0;
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  for (const cache::Entry& entry : contents.entries) {
    if (entry.proof.jit_free) continue;
    ++not_jit_free;
    BOOST_TEST(contains(contents.variants[entry.variant].name, "direct-s-tt"));
  }
  BOOST_TEST(not_jit_free == 1U);

  // It may have been noise: the next build tries again, and only that.
  fixture.misbehave("");
  const Result<BuildReport> again = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(again), "ok");
  BOOST_TEST(again->not_jit_free == 0U);
  BOOST_TEST(again->reused == kVariants - 1);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 1U);
}

BOOST_AUTO_TEST_CASE(EveryBundleHoldsASourceForEveryKindOfProblem) {
  BuildFixture fixture;
  required(fixture.build());
  const cache::Contents contents = contents_of(fixture.options.output);
  std::set<std::uint32_t> baked;
  for (const cache::Entry& entry : contents.entries) baked.insert(entry.variant);
  for (const bool is_cpu : {true, false}) {
    const auto profile = std::find_if(contents.profiles.begin(), contents.profiles.end(), [&](const auto& p) {
      return contents.targets[p.target] == cache::any_device(is_cpu);
    });
    BOOST_REQUIRE((profile != contents.profiles.end()));
    std::set<GemmKind> served;
    for (const cache::Rule& rule : profile->defaults) {
      const cache::Variant& variant = contents.variants[rule.variant];
      BOOST_TEST((variant.kind() == rule.kind()));
      BOOST_TEST(!contents.sources[variant.source].text.empty());
      if (is_cpu) BOOST_TEST(variant.family == "register_tile");
      if (!is_cpu) BOOST_TEST((variant.family == "local_tile" || variant.family == "direct"));
      const bool any_size = rule.m_max == UINT32_MAX && rule.n_max == UINT32_MAX && rule.k_max == UINT32_MAX;
      if (any_size && rule.m_min == 0 && rule.batch_max == UINT32_MAX) served.insert(rule.kind());
    }
    BOOST_TEST(served.size() == 4 * std::size(all_precisions));
  }
  const std::size_t without = cache::encode(baked_contents_of(fixture.options.output))->size();
  const std::size_t source_only = contents.variants.size() - baked.size();
  BOOST_TEST(source_only >= 36U);
  // About 750 bytes each, with their part of the families' sources.
  BOOST_TEST(std::filesystem::file_size(fixture.options.output) - without < 760 * source_only);
}

BOOST_AUTO_TEST_CASE(AnIntermediateLanguageIsNotMeasuredAgain) {
  BuildFixture fixture;
  fixture.misbehave("compile:portable:direct-s-tt");
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->not_jit_free == 1U);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 1U);
}

BOOST_AUTO_TEST_CASE(TwoEqualDevicesAreBakedOnce) {
  BuildFixture fixture;
  fixture.options.devices = {made_up_device(), made_up_device()};
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == kVariants);
  BOOST_TEST(fixture.calls().size() == 2 * kVariants);
  BOOST_TEST(baked_contents_of(fixture.options.output).targets.size() == 1U);
}

BOOST_AUTO_TEST_CASE(TwoDriversOfOneDeviceAreTwoTargets) {
  BuildFixture fixture;
  fixture.options.devices = {made_up_device("Device A", "1.0"), made_up_device("Device A", "2.0")};
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == 2 * kVariants);
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  BOOST_TEST(contents.targets.size() == 2U);
  BOOST_TEST(contents.profiles.size() == 2U);
  BOOST_TEST(contents.variants.size() == kVariants);  // shared
  BOOST_TEST(contents.entries.size() == 2 * kVariants);
}

BOOST_AUTO_TEST_CASE(ADeviceWithoutDoublePrecisionGetsSingleOnly) {
  BuildFixture fixture;
  fixture.options.devices[0].limits.fp64 = false;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(report->baked == kVariants);

  fixture.options.precisions = {Precision::double_precision};
  BOOST_TEST(outcome(fixture.build()) == "invalid argument");
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
}

BOOST_AUTO_TEST_CASE(NothingToBuildForIsRefused) {
  BuildFixture fixture;
  fixture.options.devices.clear();
  BOOST_TEST(outcome(fixture.build()) == "invalid argument");
  fixture.options.devices = {made_up_device()};
  fixture.options.precisions.clear();
  BOOST_TEST(outcome(fixture.build()) == "invalid argument");
  BOOST_TEST(fixture.files().empty());
}

BOOST_AUTO_TEST_CASE(AMissingWorkerIsNamed) {
  BuildFixture fixture;
  fixture.options.worker = fixture.path("no-such-worker");
  const Result<BuildReport> report = fixture.build();
  BOOST_TEST(outcome(report) == "input/output");
  BOOST_TEST(contains(report.status().message(), "no-such-worker"), report.status().message());
}

BOOST_AUTO_TEST_CASE(WantedVariantsReplaceTheDefaultOnes) {
  BuildFixture fixture;
  kernels::Params wanted;
  wanted.precision = Precision::double_precision;
  wanted.ks = 2;
  fixture.options.precisions = {Precision::single_precision};
  fixture.options.variants = {wanted};
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_MESSAGE(report.ok(), report.status().message());
  BOOST_REQUIRE(report->jobs.size() == 1U);
  BOOST_TEST(report->jobs[0].variant == kernels::name(wanted));
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  BOOST_REQUIRE(contents.profiles.size() == 1U);
  BOOST_TEST(contents.profiles[0].defaults.size() == 1U);
}

BOOST_AUTO_TEST_CASE(AWantedVariantThatTheDeviceCannotRunWritesNothing) {
  BuildFixture fixture;
  kernels::Params wanted;
  wanted.ml = wanted.nl = 16;
  fixture.options.variants = {wanted};
  const Result<BuildReport> report = fixture.build();
  BOOST_TEST((report.status().code() == Code::invalid_argument));
  for (const char* part : {"work-group-size", "16 * 16 = 256", "limit 1"}) {
    BOOST_TEST(contains(report.status().message(), part), report.status().message());
  }
  BOOST_TEST(fixture.files().empty());
}

BOOST_AUTO_TEST_CASE(AStrictBuildWritesNothingWhenAVariantFails) {
  BuildFixture fixture;
  fixture.options.strict = true;
  fixture.misbehave("prove:wrong-result:direct-s-nn");
  BOOST_TEST(outcome(fixture.build()) == "build failed");
  BOOST_TEST(!std::filesystem::exists(fixture.options.output));
  fixture.misbehave("");
  BOOST_TEST(required(fixture.build()).baked + fixture.calls_of("prove ") > 0U);
  BOOST_TEST(fixture.calls_of("compile ") == 0U);  // what was done was kept
}

}  // namespace clbake::builder::test
