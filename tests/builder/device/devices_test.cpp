// Which devices a SPEC means.
#include "build_fixture.hpp"
#include "system/program.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/os/environment.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace clbake::builder::test {
namespace {

std::vector<Device> devices() {
  std::vector<Device> all = {made_up_device("GeForce 9"), made_up_device("Radeon 7"), made_up_device("Radeon 70")};
  all[0].target.platform_name = "NVIDIA CUDA";
  all[1].target.platform_name = all[2].target.platform_name = "AMD Accelerated";
  return all;
}

// The names of the selected devices; the failure's code when there are none.
std::vector<std::string> selected(const std::string& spec) {
  const Result<std::vector<Device>> found = select_devices(devices(), spec);
  if (!found) return {outcome(found)};
  std::vector<std::string> names;
  for (const Device& device : *found) names.push_back(device.target.device_name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(AnEmptySpecSelectsAll) {
  BOOST_TEST((selected("") == Names{"GeForce 9", "Radeon 7", "Radeon 70"}));
}

BOOST_AUTO_TEST_CASE(ANumberIsAnIndexNeverAPartOfAName) {
  BOOST_TEST((selected("0") == Names{"GeForce 9"}));
  BOOST_TEST((selected("2") == Names{"Radeon 70"}));
  BOOST_TEST((selected("3") == Names{"no device"}));
  BOOST_TEST((selected("7") == Names{"no device"}));
  BOOST_TEST((selected("-1") == Names{"no device"}));
  BOOST_TEST((selected("99999999999999999999999") == Names{"no device"}));
}

BOOST_AUTO_TEST_CASE(APartOfADevicesNameSelectsInAnyCase) {
  BOOST_TEST((selected("geforce") == Names{"GeForce 9"}));
  BOOST_TEST((selected("ADEON 7") == Names{"Radeon 7", "Radeon 70"}));
  BOOST_TEST((selected("Radeon 70") == Names{"Radeon 70"}));
}

BOOST_AUTO_TEST_CASE(APartOfAPlatformsNameSelectsAllItsDevices) {
  BOOST_TEST((selected("amd") == Names{"Radeon 7", "Radeon 70"}));
  BOOST_TEST((selected("CUDA") == Names{"GeForce 9"}));
}

BOOST_AUTO_TEST_CASE(NoMatchNamesTheSpecAndTheDevicesThereAre) {
  const Result<std::vector<Device>> found = select_devices(devices(), "intel");
  BOOST_TEST(outcome(found) == "no device");
  const std::string& message = found.status().message();
  for (const char* part : {"'intel'", "0 = NVIDIA CUDA: GeForce 9", "2 = AMD Accelerated: Radeon 70"}) {
    BOOST_TEST(contains(message, part), message);
  }
  BOOST_TEST(!contains(message, "\n"));
}

BOOST_AUTO_TEST_CASE(PoclsPlatformGoesByItsShortName) {
  std::vector<Device> all = devices();
  all[2].target.platform_name = "Portable Computing Language";
  for (const char* spec : {"PoCL", "pocl", "Portable"}) {
    const std::vector<Device> found = required(select_devices(all, spec));
    BOOST_REQUIRE_EQUAL(found.size(), 1U);
    BOOST_TEST(found[0].target.device_name == "Radeon 70");
  }
  BOOST_TEST((selected("PoCL") == Names{"no device"}));
}

BOOST_AUTO_TEST_CASE(DifferentDevicesAreAmbiguousWhereOneIsWanted) {
  std::vector<Device> all = devices();
  all.push_back(all[2]);  // a second one of the same target
  BOOST_TEST(required(select_one_target(all, "")).front().target.device_name == "GeForce 9");
  BOOST_TEST(required(select_one_target(all, "")).size() == 1U);
  BOOST_TEST(required(select_one_target(all, "Radeon 70")).size() == 2U);
  BOOST_TEST(required(select_one_target(all, "1")).front().target.device_name == "Radeon 7");
  BOOST_TEST(outcome(select_one_target(all, "intel")) == "no device");
  const Result<std::vector<Device>> ambiguous = select_one_target(all, "amd");
  BOOST_TEST(outcome(ambiguous) == "invalid argument");
  const std::string& message = ambiguous.status().message();
  BOOST_TEST(contains(message, "'amd' matches different devices: 1 = AMD Accelerated: Radeon 7, 2 = "), message);
  BOOST_TEST(!contains(message, "GeForce"));
}

BOOST_AUTO_TEST_CASE(ADriverThatCannotBeLoadedIsNamedWithItsIcdFile, *OnPosix()) {
  const process::ScratchDirectory vendors = required(process::ScratchDirectory::create());
  const auto file = [&](const std::string& name, const std::string& text) {
    write_file(vendors.path() + "/" + name, text);
    return vendors.path() + "/" + name;
  };
  const std::string missing = file("a.icd", "libclbake_missing_driver.so\n");
  const std::string empty = file("b.icd", "");
  file("c.icd", "libm.so.6\n");
  file("readme.txt", "libclbake_missing_driver.so\n");
  os::set_variable("OCL_ICD_VENDORS", vendors.path());
  const std::vector<std::string> several = unloadable_drivers();
  os::set_variable("OCL_ICD_VENDORS", missing);
  const std::vector<std::string> one = unloadable_drivers();
  os::unset_variable("OCL_ICD_VENDORS");
  BOOST_REQUIRE_EQUAL(several.size(), 2U);
  BOOST_TEST(contains(several[0], missing + ": libclbake_missing_driver.so: cannot open"), several[0]);
  BOOST_TEST(several[1] == empty + " names no library");
  BOOST_TEST((one == Names{several[0]}));
}

}  // namespace clbake::builder::test
