// Builds for a platform where one process serves many variants, and proofs run beside compilations.
#include "build_fixture.hpp"

#include <clbake/os/environment.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace build;
namespace {

struct Many : BuildFixture {
  explicit Many(bool signs = true) {
    options.devices[0].target.platform_name = "NVIDIA CUDA";
    options.untuned = true;
    if (signs) os::set_variable("FAKE_WORKER_SIGNS", "yes");
  }
  ~Many() { os::unset_variable("FAKE_WORKER_SIGNS"); }

  // True when a proof began before the last compilation.
  bool proved_beside() const {
    const std::vector<std::string> all = calls();
    const auto is = [](const char* verb) { return [=](const std::string& call) { return call.rfind(verb, 0) == 0; }; };
    const auto proof = std::find_if(all.begin(), all.end(), is("prove "));
    return std::any_of(proof, all.end(), is("compile "));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(FewProcessesBakeAllVariants, Many) {
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(calls_of("compile ") == kVariants);
  BOOST_TEST(calls_of("prove ") == kVariants);
  BOOST_TEST(calls_of("serve") <= 3U);  // two that compile, of which one at a time gives way to one that proves
  BOOST_TEST(proved_beside());
}

BOOST_AUTO_TEST_CASE(WithoutSignsProofsRunAlone) {
  Many fixture(false);
  BOOST_TEST(required(fixture.build()).baked == kVariants);
  BOOST_TEST(!fixture.proved_beside());
  BOOST_TEST(fixture.calls_of("serve") == 2U);  // that compile
}

BOOST_FIXTURE_TEST_CASE(ACrashAmongManyCostsOneVariant, Many) {
  for (const std::string verb : {"compile", "prove"}) {
    options.fresh = true;
    misbehave(verb + ":crash:direct-s-nt");
    const BuildReport report = required(build());
    BOOST_TEST(report.failed == 1U);
    BOOST_TEST(report.baked == kVariants - 1);
    BOOST_TEST(contains(report_of(report, "direct-s-nt").cause, verb + ": "));
    BOOST_TEST(calls_of(verb + " direct-s-nt") <= 3U);  // in a process of its own; a proof with nothing beside it, too
  }
}

BOOST_FIXTURE_TEST_CASE(AWrongResultAmongManyIsNamed, Many) {
  misbehave("prove:wrong-result:direct-s-tt");
  const BuildReport report = required(build());
  BOOST_TEST(report.failed == 1U);
  BOOST_TEST(contains(report_of(report, "direct-s-tt").cause, "wrong result at 5 x 3 x 129"));
}

BOOST_FIXTURE_TEST_CASE(WhatLooksNotJitFreeIsProvenAgainAlone, Many) {
  misbehave("prove:noise-once:direct-s-tt");
  BOOST_TEST(required(build()).not_jit_free == 0U);
  BOOST_TEST(calls_of("prove direct-s-tt") == 2U);
  BOOST_TEST(contains(calls().back(), "prove direct-s-tt"));
}

BOOST_FIXTURE_TEST_CASE(AnInterruptedBuildOfManyGoesOn, Many) {
  const std::string whole = (required(build()), read_file(options.output));
  options.fresh = true;
  BOOST_TEST(outcome(build(9)) == "cancelled");
  options.fresh = false;
  BOOST_TEST(required(build()).failed == 0U);
  BOOST_TEST((read_file(options.output) == whole));
}

}  // namespace clbake::builder::test
