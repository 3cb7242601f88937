// Builds with workers that do their job and with workers that do not.
#include <clbake/builder/compile.hpp>
#include "build_fixture.hpp"
#include "system/self.hpp"

#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace clbake::builder::test {
using namespace build;
namespace {

struct Fault {
  const char* rule;   // "VERB:HOW" of fake_worker.cpp
  std::string cause;  // of the variant's failure
};

// For workers that hang: long enough for those that do not, even on a busy machine.
constexpr std::chrono::seconds kShort(2);

// Each fault costs a variant, and the others are baked.
void check_each_costs_one_variant(const std::vector<Fault>& faults) {
  BuildFixture fixture;
  fixture.options.timeout = kShort;
  std::vector<std::string> victims;
  std::string rules;
  const std::vector<BakeList> lists = required(bake_lists_for(fixture.options));
  for (const kernels::Params& params : lists.at(0).variants) {
    if (victims.size() == faults.size()) break;
    rules += (rules.empty() ? "" : ",") + std::string(faults[victims.size()].rule) + ":" + kernels::name(params);
    victims.push_back(kernels::name(params));
  }
  BOOST_REQUIRE_EQUAL(victims.size(), faults.size());
  fixture.misbehave(rules);
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.failed == faults.size());
  BOOST_TEST(report.baked == kVariants - faults.size());
  BOOST_TEST(baked_contents_of(fixture.options.output).entries.size() == kVariants - faults.size());
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
  BOOST_TEST(fixture.steps().back().steps_done == fixture.steps().back().steps);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::string& cause = report_of(report, victims[i]).cause;
    BOOST_TEST(contains(cause, faults[i].cause), faults[i].rule << ": " << cause);
    const auto tells = [&](const Progress& step) { return step.failure == victims[i] + ": " + cause; };
    BOOST_TEST(std::count_if(fixture.steps().begin(), fixture.steps().end(), tells) == 1, victims[i]);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryVariantIsBakedProvenAndPacked) {
  BuildFixture fixture;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == 2 * kVariants);
  BOOST_TEST(report.not_jit_free == 0U);
  BOOST_TEST(report.jobs.size() == 2 * kVariants);
  BOOST_TEST(report.bytes == std::filesystem::file_size(fixture.options.output));
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));

  const std::vector<std::string> calls = fixture.calls();
  BOOST_TEST(calls.size() == 4 * kVariants);
  BOOST_TEST((std::set<std::string>(calls.begin(), calls.end()).size() == calls.size()));
  const std::vector<Progress>& steps = fixture.steps();
  BOOST_REQUIRE_EQUAL(steps.size(), 4 * kVariants + 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    BOOST_TEST((steps[i].steps_done == i && steps[i].steps == 4 * kVariants && steps[i].failure.empty()));
  }

  const cache::Contents contents = baked_contents_of(fixture.options.output);
  BOOST_TEST(contents.entries.size() == 2 * kVariants);
  BOOST_TEST(contents.sources.size() == 3U);
  BOOST_TEST(contents.targets.size() == 1U);
  BOOST_TEST((contents.targets[0] == made_up_device().target));
  BOOST_TEST(contents.profiles.size() == 1U);
  for (const cache::Entry& entry : contents.entries) {
    BOOST_TEST(entry.proof.proven);
    BOOST_TEST(entry.proof.jit_free);
    BOOST_TEST(entry.proof.steady_us == 100.0F);
    BOOST_TEST(contains(entry.proof.note, "proven by the fake worker"));
    BOOST_TEST((entry.proof.tools == std::vector<cache::Tool>{compile::this_clbake()}));
    BOOST_TEST(entry.proof.device == made_up_device().target.device_name);
    BOOST_TEST(entry.proof.driver == made_up_device().target.driver_version);
  }
}

BOOST_AUTO_TEST_CASE(WhatFailsToCompileIsLeftOutAndNamed) {
  check_each_costs_one_variant({{"compile:crash", std::string("compile: ") + kCrashed},
                                {"compile:hang", "compile: no end after 2 s"},
                                {"compile:message", "compile: the driver has lost its mind"},
                                {"compile:exit-7", "compile: exit status 7"},
                                {"compile:silent", ".compiled"},
                                {"compile:garbage", "not a bundle"},
                                {"compile:other-variant", "no proof of this variant"},
                                {"compile:no-entry", "nothing was compiled"}});
}

BOOST_AUTO_TEST_CASE(WhatIsNotProvenIsLeftOutAndNamed) {
  check_each_costs_one_variant({{"prove:crash", std::string("prove: ") + kCrashed},
                                {"prove:hang", "prove: no end after 2 s"},
                                {"prove:message", "prove: the driver has lost its mind"},
                                {"prove:exit-7", "prove: exit status 7"},
                                {"prove:silent", ".proven"},
                                {"prove:garbage", "not a bundle"},
                                {"prove:other-variant", "no proof of this variant"},
                                {"prove:no-entry", "no proof of this variant"},
                                {"prove:unproven", "no proof of this variant"},
                                {"prove:wrong-result", "wrong result at 5 x 3 x 129"}});
}

// The made-up device's variants have width 8 in single precision, 4 in double. Two timeouts are not three.
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

BOOST_AUTO_TEST_CASE(AnInterruptionOrEveryVariantFailingLeavesTheEarlierBundle) {
  BuildFixture fixture;
  required(fixture.build());
  const std::string before = read_file(fixture.options.output);
  fixture.options.fresh = true;
  BOOST_TEST(outcome(fixture.build(10)) == "cancelled");
  BOOST_TEST((read_file(fixture.options.output) == before));
  fixture.misbehave("compile:crash:");
  BOOST_TEST(outcome(fixture.build()) == "build failed");
  BOOST_TEST((read_file(fixture.options.output) == before));
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
}

BOOST_AUTO_TEST_CASE(NoiseInAProofIsMeasuredAgain) {
  BuildFixture fixture;
  fixture.misbehave("prove:noise-once:direct-s-tt");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.not_jit_free == 0U);
  BOOST_TEST(report_of(report, "direct-s-tt").proof.jit_free);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 2U);
  BOOST_TEST(fixture.calls_of("prove ") == kVariants + 1);
}

BOOST_AUTO_TEST_CASE(WhatStaysNotJitFreeIsPackedAndSaysSo) {
  BuildFixture fixture;
  fixture.misbehave("prove:not-jit-free:direct-s-tt");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(report.not_jit_free == 1U);
  BOOST_TEST(fixture.calls_of("prove direct-s-tt") == 5U);
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  for (const cache::Entry& entry : contents.entries) {
    BOOST_TEST(entry.proof.jit_free != contains(contents.variants[entry.variant].name, "direct-s-tt"));
  }

  // It may have been noise: the next build tries again, and only that.
  fixture.misbehave("");
  const BuildReport again = required(fixture.build());
  BOOST_TEST(again.not_jit_free == 0U);
  BOOST_TEST(again.reused == kVariants - 1);
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
  // About 830 bytes each, with their part of the families' sources.
  BOOST_TEST(std::filesystem::file_size(fixture.options.output) - without < 850 * source_only);
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
  for (const char* part : {"work-group-size", "256, limit 1"}) {
    BOOST_TEST(contains(report.status().message(), part), report.status().message());
  }
  BOOST_TEST(fixture.files().empty());
}

}  // namespace clbake::builder::test
