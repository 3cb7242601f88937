// `clbake bench cold`: the rows of the demo's table.
#include "command.hpp"

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(TheFourRowsAreMeasuredWithAllTheirFigures) {
  const nlohmann::json json = json_of(clbake({"bench", "cold", baked_bundle(), "--trials", "1", "--json"}));
  const std::vector<std::string> paths = {"source-cold", "source-warm", "plain", "bundle"};
  BOOST_REQUIRE(json.at("rows").size() == paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const nlohmann::json& row = json.at("rows").at(i);
    BOOST_TEST(row.at("path") == paths[i]);
    BOOST_TEST(row.at("trials") == 1);
    BOOST_TEST(row.at("device").is_string());
    for (const char* field : {"first_result_ms", "steady_ms"}) {
      BOOST_TEST(row.at(field).is_number(), field);
      BOOST_TEST(row.at(field).get<double>() > 0, field);
    }
  }
}

BOOST_AUTO_TEST_CASE(TheTableHasTheFourRows) {
  const Outcome outcome = clbake({"bench", "cold", baked_bundle(), "--trials", "1"});
  BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  for (const char* label : {"empty driver cache", "warm cache", "plain binary", "clbake bundle"}) {
    BOOST_TEST(contains(outcome.out, label), outcome.out);
  }
}

BOOST_AUTO_TEST_CASE(ABundleWithoutThisDeviceIsRefused) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  for (cache::Target& target : contents.targets) target.driver_version += "-other";
  const std::string file = directory.write("other.clbake", encoded(contents));
  check_refused(clbake({"bench", "cold", file, "--trials", "1"}), 1, {"clbake bench cold", file, "driver"});
}

}  // namespace clbake::tool::test
