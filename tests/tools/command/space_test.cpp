// `clbake space`: needs no OpenCL device, and counts where there is one.
#include "command.hpp"

#include <set>

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(WithoutADeviceTheSpaceIsListedWithoutCounts) {
  const nlohmann::json json = json_of(clbake({"space", "--json"}, no_platform()));
  BOOST_TEST(json.at("limits").is_null());
  BOOST_REQUIRE(json.at("families").size() == 7U);
  for (const nlohmann::json& family : json.at("families")) {
    BOOST_TEST(family.at("counts").empty());
    for (const nlohmann::json& parameter : family.at("parameters")) {
      BOOST_TEST(!parameter.at("name").get<std::string>().empty());
      BOOST_TEST(!parameter.at("meaning").get<std::string>().empty());
      BOOST_TEST(!parameter.at("values").empty());
    }
  }
  const Outcome text = clbake({"space"}, no_platform());
  BOOST_TEST(text.status == 0);
  for (const char* part : {"no OpenCL platform", "register_tile", "stripe", "vector_width"}) {
    BOOST_TEST(contains(text.out, part), part);
  }
}

BOOST_AUTO_TEST_CASE(PointsAreCountedForTheFirstDevice) {
  if (clbake({"devices"}).status != 0) return;
  const nlohmann::json json = json_of(clbake({"space", "--precision", "single,half,single", "--json"}));
  BOOST_TEST(json.at("limits").at("device").is_string());
  for (const nlohmann::json& family : json.at("families")) {
    BOOST_REQUIRE(family.at("counts").size() == 2U);
    for (const nlohmann::json& count : family.at("counts")) {
      std::uint64_t sum = count.at("admitted");
      for (const nlohmann::json& fallen : count.at("fallen")) {
        BOOST_TEST(!fallen.at("constraint").get<std::string>().empty());
        sum += fallen.at("points").get<std::uint64_t>();
      }
      BOOST_TEST(sum == count.at("points").get<std::uint64_t>());
      const std::set<std::string> for_some = {"thin_tile", "warp_tile", "warpgroup_tile"};
      const bool for_all_devices = for_some.count(family.at("family").get<std::string>()) == 0;
      if (for_all_devices) BOOST_TEST(count.at("admitted").get<std::uint64_t>() > 0U);
    }
  }
}

}  // namespace clbake::tool::test
