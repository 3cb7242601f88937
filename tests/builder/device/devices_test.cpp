// Which devices a SPEC means.
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

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

}  // namespace clbake::builder::test
