// A build takes over some entries of the bundle that it brings up to date, and drops others.
#include "build_fixture.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

namespace clbake::builder::test {
using namespace build;

BOOST_AUTO_TEST_CASE(OtherDevicesAndPrecisionsStayInTheBundle) {
  BuildFixture fixture;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  required(fixture.build());
  const cache::Contents before = baked_contents_of(fixture.options.output);
  fixture.options.precisions = {Precision::single_precision};
  const BuildReport same = required(fixture.build());
  BOOST_TEST(same.reused == kVariants);
  BOOST_TEST(same.kept == kVariants);

  fixture.options.devices = {made_up_device("Device B")};
  const BuildReport other = required(fixture.build());
  BOOST_TEST(other.baked == kVariants);
  BOOST_TEST(other.kept == 2 * kVariants);
  const cache::Contents both = baked_contents_of(fixture.options.output);
  BOOST_TEST(both.targets.size() == 2U);
  BOOST_TEST(both.entries.size() == 3 * kVariants);
  const auto defaults_of = [](const cache::Contents& contents, const Target& target) {
    for (const cache::Profile& profile : contents.profiles) {
      if (contents.targets[profile.target] == target) return profile.defaults.size();
    }
    return std::size_t{0};
  };
  BOOST_TEST(defaults_of(both, made_up_device().target) == defaults_of(before, made_up_device().target));
  BOOST_TEST(defaults_of(both, fixture.options.devices[0].target) > 0U);

  fixture.options.replace = true;
  const BuildReport alone = required(fixture.build());
  BOOST_TEST(alone.reused == kVariants);
  BOOST_TEST(alone.kept == 0U);
  BOOST_TEST(alone.dropped == 2 * kVariants);
  BOOST_TEST(baked_contents_of(fixture.options.output).targets.size() == 1U);
}

BOOST_AUTO_TEST_CASE(OfTheSameDeviceAndKindWhatIsNotWantedAnyMoreIsReplaced) {
  BuildFixture fixture;
  required(fixture.build());
  kernels::Params wanted;
  wanted.ks = 2;
  fixture.options.variants = {wanted};  // single nn
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.kept == kVariants / 4 * 3);
  BOOST_TEST(report.dropped == kVariants / 4);
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  for (const cache::Rule& rule : contents.profiles.at(0).defaults) {
    const std::string& name = contents.variants[rule.variant].name;
    if (!rule.trans_a && !rule.trans_b) BOOST_TEST(name == kernels::name(wanted));
  }
}

BOOST_AUTO_TEST_CASE(AKindOfWhichNothingCouldBeBakedStays) {
  BuildFixture fixture;
  fixture.options.precisions = {Precision::single_precision, Precision::double_precision};
  required(fixture.build());
  fixture.options.fresh = true;
  fixture.misbehave("compile:crash:-d-");
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.failed == kVariants);
  BOOST_TEST(report.kept == kVariants);
  BOOST_TEST(baked_contents_of(fixture.options.output).entries.size() == 2 * kVariants);
}

BOOST_AUTO_TEST_CASE(WhatCannotStayBesideTheNewVariantsIsNamedAndCounted) {
  BuildFixture fixture;
  fixture.options.devices = {made_up_device("Device B")};
  required(fixture.build());
  cache::Contents older = baked_contents_of(fixture.options.output);
  older.variants[1].build_options += " -DOLDER";
  write_bundle(fixture.options.output, older);
  fixture.options.devices = {made_up_device()};
  const BuildReport report = required(fixture.build());
  BOOST_TEST(report.kept == kVariants - 1);
  BOOST_TEST(report.dropped == 1U);
  BOOST_REQUIRE_EQUAL(report.remarks.size(), 1U);
  BOOST_TEST(contains(*report.remarks.begin(), older.variants[1].name), *report.remarks.begin());
}

}  // namespace clbake::builder::test
