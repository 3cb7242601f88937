// Differences between two bundles.
#include <clbake/builder/release/diff.hpp>

#include "files.hpp"
#include "release/synthetic_bundle.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

using namespace clbake::builder::release;
using namespace clbake::tests;

Bundle bundle_of(const cache::Contents& contents) {
  const cache::Bytes bytes = encoded(contents);
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

cache::Contents contents() { return tests::synthetic_bundle({}); }

// Against the unchanged bundle.
template <typename Change>
BundleDiff after(const Change& change) {
  cache::Contents changed = contents();
  change(changed);
  return required(diff_bundles(bundle_of(contents()), bundle_of(changed)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(EqualBundlesDoNotDiffer) {
  const BundleDiff diff = after([](cache::Contents& c) { std::reverse(c.entries.begin(), c.entries.end()); });
  BOOST_TEST(diff.empty(true));
}

BOOST_AUTO_TEST_CASE(ATargetWithItsEntriesAndProfile) {
  const auto without_first = [](cache::Contents& c) {
    c.targets.front() = c.targets.back();
    c.targets.pop_back();
    const auto last = static_cast<std::uint32_t>(c.targets.size());
    const auto move = [&](auto& items) {
      items.erase(std::remove_if(items.begin(), items.end(), [](const auto& item) { return item.target == 0; }),
                  items.end());
      for (auto& item : items) item.target = item.target == last ? 0 : item.target;
    };
    move(c.entries);
    move(c.profiles);
  };
  const BundleDiff diff = after(without_first);
  BOOST_TEST((diff.targets.removed == std::vector<std::string>{target_name(contents().targets[0])}));
  BOOST_TEST(diff.targets.added.empty());
  BOOST_TEST(diff.variants.empty());
  BOOST_TEST(diff.programs.size() > 10U);
  for (const EntryDiff& entry : diff.programs) {
    BOOST_TEST(entry.target == target_name(contents().targets[0]));
    BOOST_TEST((entry.before && !entry.after));
  }
  BOOST_REQUIRE(diff.profiles.size() == 1U);
  BOOST_TEST(diff.profiles[0].defaults[0] > 0U);
  BOOST_TEST(diff.profiles[0].defaults[1] == 0U);
}

BOOST_AUTO_TEST_CASE(AVariantIsChangedWhenItsSourceIs) {
  const BundleDiff diff = after([](cache::Contents& c) { c.sources[0].text += " "; });
  BOOST_TEST(diff.variants.changed.size() == contents().variants.size());
  BOOST_TEST(diff.programs.empty());
  const BundleDiff options = after([](cache::Contents& c) { c.variants[3].build_options = "-DX"; });
  BOOST_TEST((options.variants.changed == std::vector<std::string>{contents().variants[3].name}));
  const BundleDiff renamed = after([](cache::Contents& c) { c.variants[3].name = "other"; });
  BOOST_TEST((renamed.variants.removed == std::vector<std::string>{contents().variants[3].name}));
  BOOST_TEST((renamed.variants.added == std::vector<std::string>{"other"}));
}

BOOST_AUTO_TEST_CASE(ProgramsProofsAndMeasuredTimes) {
  const BundleDiff program = after([](cache::Contents& c) { c.entries[5].program.push_back(1); });
  BOOST_REQUIRE(program.programs.size() == 1U);
  BOOST_TEST((program.programs[0].before && program.programs[0].after));
  BOOST_TEST(program.proofs.empty());
  const BundleDiff proof = after([](cache::Contents& c) { c.entries[5].proof.tools.push_back({"clang", "15"}); });
  BOOST_TEST(proof.programs.empty());
  BOOST_TEST(proof.proofs.size() == 1U);
  const BundleDiff times = after([](cache::Contents& c) { c.entries[5].proof.steady_us = 7; });
  BOOST_TEST(times.measured == 1U);
  BOOST_TEST(times.empty(false));
  BOOST_TEST(!times.empty(true));
}

BOOST_AUTO_TEST_CASE(RulesModelsAndUnits) {
  for (const auto& change :
       {+[](cache::Profile& p) { p.models.front().step_us *= 2; },
        +[](cache::Profile& p) { p.models.front().tile_m *= 2; },
        +[](cache::Profile& p) { p.defaults.front().k_max = 7; }, +[](cache::Profile& p) { p.defaults.pop_back(); },
        +[](cache::Profile& p) { ++p.units; }}) {
    const BundleDiff diff = after([&](cache::Contents& c) { change(c.profiles[1]); });
    BOOST_REQUIRE(diff.profiles.size() == 1U);
    BOOST_TEST(diff.profiles[0].target == target_name(contents().targets[1]));
    BOOST_TEST(diff.programs.empty());
  }
}

BOOST_AUTO_TEST_CASE(DevicesOfBothAreEachNamedOnce) {
  cache::Contents other = contents();
  other.targets[0].driver_version = "other";
  const std::vector<ServedDevice> devices = required(devices_of_both(bundle_of(contents()), bundle_of(other)));
  BOOST_REQUIRE(devices.size() == 4U);
  BOOST_TEST(contains(devices.back().name, "other"));
}

}  // namespace clbake::builder::test
