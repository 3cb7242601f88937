// Several bundles as one: what is kept of equal and of contradicting things.
#include "build_fixture.hpp"
#include "files.hpp"
#include "samples.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/limits.hpp>
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace build;
namespace {

using cache::Contents;
using cache::test::fingerprint;
using cache::test::shuffled;
using cache::test::small_contents;
using tests::encoded;
using tests::required;

Contents normalized(const Contents& contents) {
  const cache::Bytes bytes = encoded(contents);
  return required(required(cache::Bundle::from_memory({bytes.data(), bytes.size()})).decode());
}

MergedBundle merged(std::vector<NamedBundle> bundles) {
  MergedBundle all = merge_bundles(std::move(bundles));
  all.contents = without_defaults(std::move(all.contents));
  return all;
}
MergedBundle merged(const Contents& a, const Contents& b) { return merged({{"a", a}, {"b", b}}); }

// The small contents with one entry only, as an overlay's file has it.
Contents one_entry(std::uint8_t byte, bool proven) {
  Contents contents = small_contents();
  contents.entries.resize(1);
  contents.entries[0].program = {byte};
  contents.entries[0].proof = {};
  contents.entries[0].proof.proven = proven;
  contents.profiles.clear();
  return contents;
}

int kept(const Contents& a, const Contents& b) {
  const MergedBundle both = merged(a, b);
  BOOST_TEST(both.left_out.empty());
  BOOST_REQUIRE_EQUAL(both.contents.entries.size(), 1U);
  return both.contents.entries[0].program[0];
}

// A small bundle with one program beside its variants.
Contents with_program(const std::vector<cache::Launch>& launches) {
  cache::Variant program;
  program.name = "content-1";
  program.family = "program";
  program.precision = no_precision;
  program.contract = 1;
  program.content[0] = 1;
  program.launches = launches;
  Contents contents = small_contents();
  contents.variants.push_back(program);
  return contents;
}

cache::Variant program_of(const Contents& contents) {
  for (const cache::Variant& variant : contents.variants) {
    if (variant.name == "content-1") return variant;
  }
  BOOST_FAIL("no program");
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(ABundleAndItselfAreTheBundle) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const MergedBundle both = merged(small_contents(), shuffled(small_contents(), seed));
    BOOST_TEST(both.left_out.empty());
    BOOST_TEST(fingerprint(normalized(both.contents)) == fingerprint(small_contents()));
  }
}

BOOST_AUTO_TEST_CASE(TheProvenEntryWinsWhereverItStands) {
  BOOST_TEST(kept(one_entry(1, false), one_entry(2, true)) == 2);
  BOOST_TEST(kept(one_entry(1, true), one_entry(2, false)) == 1);
  BOOST_TEST(kept(one_entry(1, true), one_entry(2, true)) == 1);
  BOOST_TEST(kept(one_entry(1, false), one_entry(2, false)) == 1);
  Contents jit_free = one_entry(2, true);
  jit_free.entries[0].proof.jit_free = true;
  BOOST_TEST(kept(one_entry(1, true), jit_free) == 2);
}

// Cost models of a kind belong together: half of one bundle's and half of another one's would compare what cannot be
// compared.
BOOST_AUTO_TEST_CASE(TheChoiceForAKindIsThatOfTheFirstBundleThatHasAny) {
  const auto choice_of = [](const GemmKind& kind, float us) {
    Contents contents = small_contents();
    cache::Profile profile;
    profile.units = 7;
    profile.exceptions.emplace_back().kind() = kind;
    profile.models.emplace_back().kind() = kind;
    profile.models[0].call_us = us;
    profile.defaults.emplace_back().kind() = kind;
    contents.profiles = {profile};
    return contents;
  };
  const GemmKind plain = {}, transposed = {Precision::single_precision, true, false};
  const auto merged_profile = [](const Contents& a, const Contents& b) { return merged(a, b).contents.profiles.at(0); };
  const cache::Profile same = merged_profile(choice_of(plain, 1), choice_of(plain, 2));
  BOOST_TEST((same.exceptions.size() == 1U && same.models.size() == 1U && same.defaults.size() == 1U));
  BOOST_TEST(same.models[0].call_us == 1);
  BOOST_TEST(same.units == 7U);
  const cache::Profile both = merged_profile(choice_of(plain, 1), choice_of(transposed, 2));
  BOOST_TEST((both.exceptions.size() == 2U && both.models.size() == 2U && both.defaults.size() == 2U));
  BOOST_TEST((both.models[0].call_us == 1 && both.models[1].call_us == 2));
  // The first one only has defaults: they are the choice.
  Contents untuned = choice_of(plain, 1);
  untuned.profiles[0].exceptions.clear();
  untuned.profiles[0].models.clear();
  const cache::Profile first = merged_profile(untuned, choice_of(plain, 2));
  BOOST_TEST((first.models.empty() && first.defaults.size() == 1U));
  BOOST_TEST(merged(one_entry(1, true), small_contents()).contents.profiles.size() == small_contents().profiles.size());
}

BOOST_AUTO_TEST_CASE(AVariantThatIsAnotherOneIsLeftOutWithAllThatNeedsIt) {
  Contents other = small_contents();
  other.variants[2].build_options += " -DOTHER";
  other.targets[0].device_name = "Device C";
  const MergedBundle both = merged(small_contents(), other);
  BOOST_REQUIRE_EQUAL(both.left_out.size(), 1U);
  BOOST_TEST(both.left_out[0] == "b: variant tile-16 is another one than in a");
  BOOST_TEST(both.contents.variants.size() == 3U);
  BOOST_TEST(both.contents.entries.size() == 7U);  // of Device C's three entries one is of tile-16
  const cache::Profile& profile = both.contents.profiles.back();
  BOOST_TEST(both.contents.targets[profile.target].device_name == "Device C");
  const auto is_tile = [&](const auto& item) { return both.contents.variants[item.variant].name == "tile-16"; };
  BOOST_TEST(std::none_of(profile.exceptions.begin(), profile.exceptions.end(), is_tile));
  BOOST_TEST(std::none_of(profile.models.begin(), profile.models.end(), is_tile));
  BOOST_TEST(!profile.defaults.empty());
  BOOST_TEST(normalized(both.contents).entries.size() == 7U);
}

// As two users' overlays have it: one launched the kernel in work-groups of 64, the other of 8.
BOOST_AUTO_TEST_CASE(ProgramsOfOneContentAreJoinedWithTheirLaunches) {
  const Contents first = with_program({{cache::Role::kernel, "rows", {64, 1, 1}, 1, 1}});
  Contents second = first;
  second.variants[3].launches[0].local[0] = 8;
  second.sources[0].text += "// another form of the same";
  second.variants[0] = first.variants[1];
  second.variants[0].name = "another";
  for (const auto& [a, b] : {std::pair(first, second), std::pair(second, first)}) {
    const cache::Variant program = program_of(merged(a, b).contents);
    BOOST_REQUIRE(program.launches.size() == 2U);
    BOOST_TEST(program.launches[0].local[0] == 8U);
    BOOST_TEST(program.launches[1].local[0] == 64U);
  }
}

BOOST_AUTO_TEST_CASE(TheOrderOfBundlesDoesNotDecideThatOfLaunches) {
  const Contents first =
      with_program({{cache::Role::kernel, "rows", {64, 1, 1}, 1, 1}, {cache::Role::kernel, "rows", {8, 1, 1}, 1, 1}});
  Contents second = first;
  second.variants[3].launches.pop_back();
  Contents third = first;
  third.variants[3].launches.erase(third.variants[3].launches.begin());
  const auto sizes = [](const Contents& a, const Contents& b) {
    const MergedBundle both = merged(a, b);
    std::vector<std::uint32_t> all;
    for (const cache::Launch& launch : both.contents.variants.back().launches) all.push_back(launch.local[0]);
    return all;
  };
  const std::vector<std::uint32_t> expected = {8, 64};
  for (const Contents& part : {second, third}) {
    BOOST_TEST(sizes(first, part) == expected, boost::test_tools::per_element());
    BOOST_TEST(sizes(part, first) == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(LaunchesBeyondTheLimitAreDroppedAndTheOthersCanBeWritten) {
  std::vector<cache::Launch> launches;
  for (std::uint32_t i = 0; i < cache::kMaxLaunches; ++i) {
    launches.push_back({cache::Role::kernel, std::string(200, 'k'), {i + 1, 1, 1}, 1, 1});
  }
  const Contents first = with_program(launches);
  Contents second = first;
  second.variants[3].launches[0].local[1] = 2;
  BOOST_TEST(program_of(normalized(merged(first, second).contents)).launches.size() == cache::kMaxLaunches);
}

// As the default variants of two versions of clbake are.
BOOST_AUTO_TEST_CASE(AVariantWithoutEntriesGivesWayToAnotherOneOfItsName) {
  Contents source_only = small_contents();
  source_only.variants[2].build_options += " -DOTHER";
  source_only.entries.clear();
  for (const bool first : {true, false}) {
    const MergedBundle both = first ? merged(source_only, small_contents()) : merged(small_contents(), source_only);
    BOOST_TEST(both.left_out.empty());
    BOOST_TEST(fingerprint(normalized(both.contents)) == fingerprint(small_contents()));
  }
}

BOOST_AUTO_TEST_CASE(AMergedBundleHoldsTheDefaultsOfBothTypesOfDevice) {
  const Contents once = merge_bundles({{"a", small_contents()}}).contents;
  for (const bool is_cpu : {true, false}) {
    BOOST_TEST(std::count(once.targets.begin(), once.targets.end(), cache::any_device(is_cpu)) == 1);
  }
  BOOST_TEST(once.profiles.size() == small_contents().profiles.size() + 2);
  const Contents twice = merge_bundles({{"a", once}, {"b", once}}).contents;
  BOOST_TEST(fingerprint(normalized(twice)) == fingerprint(normalized(once)));
}

BOOST_AUTO_TEST_CASE(WithoutTrialsNothingOfTheirContentsIsLeft) {
  Contents contents = with_program({{cache::Role::kernel, "scale", {64, 1, 1}, 1, 1}});
  const Contents before = contents;
  contents.sources.insert(contents.sources.begin(), {"trial.json", "secret"});
  for (cache::Variant& variant : contents.variants) {
    ++variant.source;
    variant.trial = 1;
  }
  drop_trials(contents);
  BOOST_TEST((contents.sources == before.sources));
  BOOST_TEST(fingerprint(normalized(contents)) == fingerprint(normalized(before)));
}

BOOST_AUTO_TEST_CASE(ADirectoryWithoutBundlesIsNamed) {
  const process::ScratchDirectory directory = required(process::ScratchDirectory::create(""));
  std::vector<NamedBundle> bundles;
  std::vector<std::string> left_out;
  BOOST_TEST(read_bundles(directory.path(), bundles, left_out).message() == "no bundle in " + directory.path());
}

BOOST_AUTO_TEST_CASE(ADirectoryStandsForItsBundlesAndDamagedOnesAreNamed) {
  const process::ScratchDirectory scratch = required(process::ScratchDirectory::create());
  const std::string good = scratch.path() + "/b.clbake";
  const std::string bad = scratch.path() + "/a.clbake";
  tests::write_bundle(good, small_contents());
  tests::write_file(bad, tests::read_file(good).substr(0, 1000));
  tests::write_file(scratch.path() + "/c.clbake.tmp.1.0", "x");
  tests::write_file(scratch.path() + "/d.rejected", "");
  std::vector<NamedBundle> bundles;
  std::vector<std::string> left_out;
  BOOST_REQUIRE(read_bundles(scratch.path(), bundles, left_out).ok());
  BOOST_REQUIRE_EQUAL(bundles.size(), 1U);
  BOOST_TEST(bundles[0].file == good);
  BOOST_REQUIRE_EQUAL(left_out.size(), 1U);
  BOOST_TEST(left_out[0].find(bad + ": ") == 0U, left_out[0]);
  // One that is named has to be good.
  BOOST_TEST((read_bundles(bad, bundles, left_out).code() == Code::truncated));
  BOOST_TEST((read_bundles(scratch.path() + "/none", bundles, left_out).code() == Code::not_found));
  BOOST_TEST(bundles.size() == 1U);
}

}  // namespace clbake::builder::test
