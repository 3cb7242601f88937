// `clbake space`: needs no OpenCL device.
#include "command.hpp"

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(EveryFamilyIsListedWithItsParametersAndTheirValues) {
  const nlohmann::json json = json_of(clbake({"space", "--json"}, no_platform()));
  BOOST_REQUIRE(json.at("families").size() == 8U);
  for (const nlohmann::json& family : json.at("families")) {
    for (const nlohmann::json& parameter : family.at("parameters")) {
      BOOST_TEST(!parameter.at("meaning").get<std::string>().empty());
      BOOST_TEST(!parameter.at("values").empty());
    }
  }
  const Outcome text = clbake({"space"}, no_platform());
  for (const char* part : {"register_tile", "stripe", "vector_width"}) BOOST_TEST(contains(text.out, part), part);
}

}  // namespace clbake::tool::test
