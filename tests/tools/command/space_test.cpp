// `clbake space`: needs no OpenCL device, and shows the limits of one where there is one.
#include "command.hpp"

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(WithoutADeviceTheSpaceIsListedWithoutLimits) {
  const nlohmann::json json = json_of(clbake({"space", "--json"}, no_platform()));
  BOOST_TEST(json.at("limits").is_null());
  BOOST_REQUIRE(json.at("families").size() == 7U);
  for (const nlohmann::json& family : json.at("families")) {
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

BOOST_AUTO_TEST_CASE(TheFirstDevicesLimitsAreShown) {
  if (clbake({"devices"}).status != 0) return;
  const nlohmann::json limits = json_of(clbake({"space", "--json"})).at("limits");
  BOOST_TEST(limits.at("device").is_string());
  BOOST_TEST(limits.at("max_work_group_size").get<std::uint64_t>() > 0U);
}

}  // namespace clbake::tool::test
