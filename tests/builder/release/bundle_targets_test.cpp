// Naming the targets of a bundle.

#include "files.hpp"
#include "release/synthetic_bundle.hpp"

#include <clbake/builder/release/served.hpp>

#include <boost/test/unit_test.hpp>
#include <set>

namespace clbake::builder::test {
namespace {

using namespace clbake::builder::release;
using namespace clbake::tests;

// CPUs 0 and 1, GPUs 0 and 1, sm_52 and sm_55, and "any CPU" without entries.
Bundle bundle() {
  tests::SyntheticSettings settings;
  settings.targets = 6;
  cache::Contents contents = tests::synthetic_bundle(settings);
  contents.targets.push_back(cache::any_device(true));
  const cache::Bytes bytes = encoded(contents);
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

std::set<std::string> named(const std::string& spec) {
  const Bundle all = bundle();
  std::set<std::string> names;
  for (const std::uint32_t target : required(targets_named(all, spec))) {
    names.insert(target_name(required(all.target(target))));
  }
  return names;
}

using Names = std::set<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(ByFieldNameOrPart) {
  BOOST_TEST((named("nvidia:sm_52") == Names{"nvidia:sm_52"}));
  BOOST_TEST((named("NVIDIA:SM_52") == Names{"nvidia:sm_52"}));
  BOOST_TEST((named("nvidia:") == Names{"nvidia:sm_52", "nvidia:sm_55"}));
  BOOST_TEST((named("pocl") == Names{"pthread-cpu0, driver 3.1", "pthread-cpu1, driver 3.1"}));
  BOOST_TEST((named("NVIDIA GPU 1") == Names{"NVIDIA GPU 1, driver 580.1"}));
  BOOST_TEST((named("sm_90") == Names{"NVIDIA GPU 0, driver 580.0", "NVIDIA GPU 1, driver 580.1"}));
  BOOST_TEST((named("cpu1") == Names{"pthread-cpu1, driver 3.1"}));  // the whole architecture
  BOOST_TEST((named("580.1") == Names{"NVIDIA GPU 1, driver 580.1"}));
  BOOST_TEST((named("sm_") ==
              Names{"NVIDIA GPU 0, driver 580.0", "NVIDIA GPU 1, driver 580.1", "nvidia:sm_52", "nvidia:sm_55"}));
  BOOST_TEST(named("gfx90a").empty());
  BOOST_TEST(named("").empty());
}

BOOST_AUTO_TEST_CASE(ByIndex) {
  const Bundle all = bundle();
  BOOST_TEST((required(targets_named(all, "0")) == std::vector<std::uint32_t>{0}));
  BOOST_TEST((required(targets_named(all, "6")) == std::vector<std::uint32_t>{6}));
  BOOST_TEST(required(targets_named(all, "7")).empty());
  BOOST_TEST(required(targets_named(all, "99999999999999999999")).empty());
}

BOOST_AUTO_TEST_CASE(TargetsForEveryDeviceGoByTheirWholeNames) {
  BOOST_TEST((named("cpu") == Names{"pthread-cpu0, driver 3.1", "pthread-cpu1, driver 3.1"}));
  BOOST_TEST((named(cache::any_device(true).device_name) == Names{cache::any_device(true).device_name}));
}

BOOST_AUTO_TEST_CASE(TargetsWithEntries) {
  const Bundle all = bundle();
  const std::vector<std::uint32_t> targets = required(targets_with_entries(all));
  BOOST_TEST(targets.size() == 6U);
  for (const std::uint32_t target : targets) BOOST_TEST(!(required(all.target(target)) == cache::any_device(true)));
}

}  // namespace clbake::builder::test
