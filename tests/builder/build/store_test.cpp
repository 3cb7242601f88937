// A store as the cache of builds: what was baked for a device and its driver is not baked again, by whatever build.
#include "build_fixture.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/split.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/lock.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

namespace clbake::builder::test {
namespace {

namespace fs = std::filesystem;

// Another checkout with the same store: nothing but the store is kept between builds.
struct Stored : BuildFixture {
  Stored() { options.store = path("store"); }

  build::BuildReport built() {
    fs::remove(options.output);
    return required(build());
  }
  std::string index_of(const Target& target) const {
    return options.store + "/target-" + identity(target) + ".clbake-index";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ADriversUpdateBakesThatDriverAlone, Stored) {
  options.devices = {made_up_device("Device A", "1.0"), made_up_device("Device B", "1.0")};
  BOOST_TEST(built().baked == 2 * kVariants);
  const std::string bundle = read_file(options.output);
  BOOST_TEST(built().reused == 2 * kVariants);
  BOOST_TEST(calls().empty());
  BOOST_TEST((read_file(options.output) == bundle));
  options.devices[1] = made_up_device("Device B", "2.0");
  const build::BuildReport updated = built();
  BOOST_TEST(updated.baked == kVariants);
  BOOST_TEST(updated.reused == kVariants);
  // Going back costs nothing, either; nor do builds for one of the devices.
  options.devices[1] = made_up_device("Device B", "1.0");
  BOOST_TEST(built().reused == 2 * kVariants);
  options.devices.resize(1);
  BOOST_TEST(built().reused == kVariants);
  options.fresh = true;
  BOOST_TEST(built().baked == kVariants);
}

BOOST_FIXTURE_TEST_CASE(ChangedKernelsAreBakedAloneAndOtherKindsStay, Stored) {
  BOOST_TEST(built().baked == kVariants);
  options.precisions = {Precision::double_precision};
  BOOST_TEST(built().baked == kVariants);
  options.precisions = {Precision::single_precision, Precision::double_precision};
  BOOST_TEST(built().reused == 2 * kVariants);
  program::Program mine;
  mine.name = "mine";
  mine.source = {"mine.cl", "kernel void clbake_gemm() {}"};
  cache::Launch launch;
  launch.role = cache::Role::kernel;
  launch.kernel_name = "clbake_gemm";
  mine.launches = {launch};
  options.programs = {mine};
  options.precisions = {Precision::single_precision};
  build::BuildReport report = built();
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.reused == kVariants);
  BOOST_TEST(built().baked == 0U);
  options.programs[0].source.text += " ";
  report = built();
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.reused == kVariants);

  // Who merges the store does not get what was replaced.
  std::vector<build::NamedBundle> bundles;
  std::vector<std::string> left_out;
  BOOST_TEST(build::read_bundles(options.store, bundles, left_out).message() == "");
  std::vector<std::string> merged, wanted;
  for (const build::NamedBundle& bundle : bundles) merged.push_back(bundle.file);
  for (const release::StoredSlice& slice : required(release::read_slices(index_of(options.devices[0].target)))) {
    wanted.push_back(slice.path);
  }
  BOOST_TEST(merged == wanted);
}

// The slices of a release are those of the cache, as far as nothing joined them with others.
BOOST_FIXTURE_TEST_CASE(ASplitReleaseFindsItsSlicesThere, Stored) {
  options.devices = {made_up_device("Device A"), made_up_device("Device B")};
  BOOST_TEST(built().baked == 2 * kVariants);
  const auto split = release::split(contents_of(options.output), options.store, {});
  BOOST_TEST(required(split).written + 2 == split->slices);  // without the defaults for other devices
}

BOOST_FIXTURE_TEST_CASE(WhatIsDamagedIsBakedAgain, Stored) {
  BOOST_TEST(built().baked == kVariants);
  const std::string index = index_of(options.devices[0].target);
  for (const fs::directory_entry& file : fs::directory_iterator(options.store)) {
    if (file.path().extension() == ".lock") continue;
    const std::string bytes = read_file(file.path().string());
    write_file(file.path().string(), bytes.substr(0, bytes.size() / 2));
    const build::BuildReport report = built();
    BOOST_TEST(report.baked == kVariants);
    BOOST_TEST(report.remarks.size() == 1U);
    BOOST_TEST(contains(*report.remarks.begin(), "the store was of no use: " + options.store), *report.remarks.begin());
    BOOST_TEST((read_file(file.path().string()) == bytes));
  }
  BOOST_TEST(built().reused == kVariants);
}

BOOST_FIXTURE_TEST_CASE(ASliceIsReadFromTheBytesThatItsDigestWasOf, Stored) {
  BOOST_TEST(built().baked == kVariants);
  const auto slices = required(release::read_slices(index_of(options.devices[0].target)));
  const build::NamedBundle whole = required(build::read_bundle(slices[0].path));
  BOOST_REQUIRE(os::write_file(slices[0].path, "another one").ok());
  const build::NamedBundle read = required(build::read_bundle(slices[0].bundle, slices[0].path));
  BOOST_TEST(read.contents.entries.size() == kVariants);
  for (std::size_t e = 0; e < read.contents.entries.size(); ++e) {
    BOOST_TEST(read.contents.entries[e].program == whole.contents.entries[e].program);
  }
  BOOST_TEST(read.file == slices[0].path);
  BOOST_TEST(!build::read_bundle(slices[0].path).ok());
}

BOOST_FIXTURE_TEST_CASE(WhatIsBesideADamagedSliceStays, Stored) {
  options.precisions = {Precision::single_precision, Precision::double_precision};
  BOOST_TEST(built().baked == 2 * kVariants);
  const auto slices = required(release::read_slices(index_of(options.devices[0].target)));
  BOOST_REQUIRE(slices.size() == 2U);
  const std::string bytes = read_file(slices[0].path);
  write_file(slices[0].path, bytes.substr(0, bytes.size() / 2));
  const build::BuildReport report = built();
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(report.reused == kVariants);
  BOOST_TEST(contains(*report.remarks.begin(), slices[0].path), *report.remarks.begin());
  BOOST_TEST(built().reused == 2 * kVariants);
}

// Each reads the driver's index, adds its own and writes it.
BOOST_FIXTURE_TEST_CASE(BuildsForOneDriverAtTheSameTimeLoseNothing, Stored) {
  BOOST_TEST(built().baked == kVariants);
  const std::string lock = options.store + "/target-" + identity(options.devices[0].target) + ".lock";
  options.precisions = {Precision::double_precision};
  std::optional<os::LockFile> other(required(os::LockFile::open(lock)));
  BOOST_REQUIRE(other->lock(0));
  const std::string index = read_file(index_of(options.devices[0].target));
  fs::remove(options.output);  // that of the first build would be taken for the second's
  std::thread build([&] { BOOST_TEST(built().baked == kVariants); });
  while (!fs::exists(options.output)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  BOOST_TEST((read_file(index_of(options.devices[0].target)) == index));
  other.reset();
  build.join();
  options.precisions = {Precision::single_precision, Precision::double_precision};
  BOOST_TEST(built().reused == 2 * kVariants);
}

// A key is a number of 64 bits: where two drivers share it, the slices say which one they are of.
BOOST_FIXTURE_TEST_CASE(AKeyThatTwoDriversShareServesTheRightOne, Stored) {
  BOOST_TEST(built().baked == kVariants);
  const std::string taken = index_of(options.devices[0].target);
  options.devices = {made_up_device("Device B", "7.0")};
  fs::copy_file(taken, index_of(options.devices[0].target));
  const build::BuildReport report = built();
  BOOST_TEST(report.baked == kVariants);
  BOOST_TEST(contains(*report.remarks.begin(), "is that of another driver with the same key"));
  BOOST_TEST(contents_of(options.output).targets.size() >= 1U);
  BOOST_TEST(built().reused == kVariants);
}

}  // namespace clbake::builder::test
