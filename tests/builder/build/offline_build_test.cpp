// Builds for devices that are not here, with the fake worker.
#include <clbake/builder/compile.hpp>
#include "build_fixture.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

namespace clbake::builder::test {
using namespace build;
using namespace compile;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOffline = 12;  // variants of a GPU in one precision

OfflineTarget made_up_target(const std::string& architecture = "sm_90") {
  OfflineTarget target;
  target.name = "nvidia:" + architecture;
  target.device.target = {"NVIDIA CUDA", "", "NVIDIA Corporation", "", "", "525.60.13", architecture, 64};
  target.device.type = kernels::DeviceType::gpu;
  target.device.limits = {true, 1024, {1024, 1024, 64}, 49152, true, true};
  target.tools = {
      {"clang", "/usr/bin/clang", "15.0.6", ""}, {"libclc", "/lib", "", ""}, {"ptxas", "/p", "12.4.99", ""}};
  return target;
}

// No device, one target.
struct OfflineWorkshop : BuildFixture {
  OfflineWorkshop() {
    options.devices.clear();
    options.targets = {made_up_target()};
    options.untuned = true;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ATargetIsCompiledAndNotProven, OfflineWorkshop) {
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == kOffline);
  BOOST_TEST(report.not_proven == kOffline);
  BOOST_TEST(calls_of("compile-offline ") == kOffline);
  BOOST_TEST(calls_of("prove ") == 0U);
  BOOST_TEST(report.jobs.front().device == "nvidia:sm_90");
  const cache::Contents contents = baked_contents_of(options.output);
  BOOST_REQUIRE_EQUAL(contents.entries.size(), kOffline);
  BOOST_CHECK(contents.targets.front() == made_up_target().device.target);
  for (const cache::Entry& entry : contents.entries) {
    BOOST_TEST(!entry.proof.proven);
    BOOST_TEST(!entry.proof.jit_free);
    BOOST_TEST((entry.proof.tools ==
                std::vector<cache::Tool>{this_clbake(), {"clang", "15.0.6"}, {"libclc", ""}, {"ptxas", "12.4.99"}}));
    BOOST_TEST(entry.proof.device == "");
    BOOST_TEST(contains(contents.variants[entry.variant].name, "-clang"));
  }
  BOOST_TEST(contents.profiles.size() == 1U);
  BOOST_TEST(steps().back().steps == kOffline);
  BOOST_TEST(!fs::exists(work_directory()));
}

BOOST_FIXTURE_TEST_CASE(TargetsAndDevicesShareABundle, OfflineWorkshop) {
  options.devices = {made_up_device()};
  options.targets.push_back(made_up_target("sm_80"));
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 2 * kOffline + kVariants);
  BOOST_TEST(report.not_proven == 2 * kOffline);
  BOOST_TEST(calls_of("prove ") == kVariants);
  BOOST_TEST(baked_contents_of(options.output).targets.size() == 3U);
  BOOST_TEST(steps().back().steps == 2 * kOffline + 2 * kVariants);
}

BOOST_FIXTURE_TEST_CASE(WhatTheSameToolsMadeIsTakenOver, OfflineWorkshop) {
  required(build());
  BOOST_TEST(required(build()).reused == kOffline);
  BOOST_TEST(calls().empty());
  options.targets.front().tools.back().version = "12.5.40";
  BOOST_TEST(required(build()).baked == kOffline);
  options.fresh = true;
  BOOST_TEST(required(build()).baked == kOffline);
}

BOOST_FIXTURE_TEST_CASE(WhatFailsIsReportedAndLeftOut, OfflineWorkshop) {
  misbehave(
      "compile-offline:garbage:direct-s-tn,compile-offline:message:direct-s-tt,"
      "compile-offline:no-entry:local_tile-s-nn-32x32x16,compile-offline:other-variant:local_tile-s-nt-32x32x16");
  const BuildReport report = required(build());
  BOOST_TEST(report.failed == 4U);
  BOOST_TEST(report.baked == kOffline - 4);
  BOOST_TEST(report.not_proven == kOffline - 4);
  const auto cause = [&](const char* part) { return report_of(report, part).cause; };
  BOOST_TEST(contains(cause("direct-s-tn"), "compile: "));
  BOOST_TEST(cause("direct-s-tt") == "compile: the driver has lost its mind");
  BOOST_TEST(cause("local_tile-s-nn-32x32x16") == "compile: the worker left no program of this variant");
  BOOST_TEST(cause("local_tile-s-nt-32x32x16") == "compile: the worker left no program of this variant");
  BOOST_TEST(steps().back().steps_done == kOffline);
  BOOST_TEST(baked_contents_of(options.output).entries.size() == kOffline - 4);
}

BOOST_FIXTURE_TEST_CASE(WantedVariantsAreClangsAndCheckedAgainstTheTarget, OfflineWorkshop) {
  kernels::Params params;
  options.variants = {params};
  params.front_end = kernels::FrontEnd::clang;
  options.variants.push_back(params);  // the same one, here
  BOOST_TEST(required(build()).baked == 1U);
  params.precision = Precision::double_precision;
  options.variants = {params};
  options.targets.front().device.limits.fp64 = false;
  const Result<BuildReport> refused = build();
  BOOST_TEST(outcome(refused) == "invalid argument");
  BOOST_TEST(contains(refused.status().message(), "nvidia:sm_90: precision"));
}

}  // namespace clbake::builder::test
