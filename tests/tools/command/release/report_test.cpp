// `clbake report` as users meet it. Needs no OpenCL device and no browser.
#include "command.hpp"
#include "report/releases.hpp"

namespace clbake::tool::test {
namespace {

using Json = nlohmann::ordered_json;

Json data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

}  // namespace

BOOST_AUTO_TEST_CASE(ThePageHoldsWhatJsonPrints) {
  const Directory directory;
  cache::Contents before = release_contents();
  before.targets[1].driver_version = "0";
  const std::string now = directory.write("new.clbake", encoded(release_contents()));
  const std::string last = directory.write("old.clbake", encoded(before));
  const std::string shapes = directory.write("shapes.txt", "single nn 64x64x64\ndouble nn 64x64x64 weight 2\n");
  const std::string page = directory.path("page.html");
  const Arguments arguments = {"report", now, "--against", last, "--shapes", shapes, "-o", page};
  const Outcome text = clbake(arguments);
  BOOST_TEST(text.status == 0, text.err);
  BOOST_TEST(
      contains(text.out, page + ": 4 targets; of 6 problems and programs on them 66.7 % are served by machine code"),
      text.out);
  const Json shown = data_in(read_file(page));

  Arguments json_arguments = arguments;
  json_arguments.emplace_back("--json");
  json_of(clbake(json_arguments));  // replaces the page
  json_arguments.erase(json_arguments.end() - 3, json_arguments.end() - 1);
  const Outcome json = clbake(json_arguments);  // and works without one
  BOOST_TEST((Json::parse(json.out).dump() == shown.dump()));
  BOOST_TEST((data_in(read_file(page)).dump() == shown.dump()));
  BOOST_TEST(shown["bundles"][0]["file"] == now);
  BOOST_TEST(shown["shapes"] == shapes);
  BOOST_TEST(shown["columns"].size() == 2U);
  BOOST_TEST(shown["targets"].size() == 4U);
}

BOOST_AUTO_TEST_CASE(ABundleOfProgramsIsReportedByName) {
  const Directory directory;
  cache::Contents contents = release_contents();
  contents.variants = {own_program("softmax")};
  contents.profiles.clear();
  contents.entries.resize(1);
  contents.entries.push_back(contents.entries[0]);
  contents.entries[1].target = 2;
  contents.entries[1].proof = {};
  const std::string bundle = directory.write("app.clbake", encoded(contents));
  const std::string page = directory.path("page.html");
  const Outcome text = clbake({"report", bundle, "-o", page});
  BOOST_TEST(text.status == 0, text.err);
  BOOST_TEST(contains(text.out, page + ": 2 targets; of 2 problems and programs"), text.out);
  const Json json = json_of(clbake({"report", bundle, "--json"}));
  BOOST_TEST(json["columns"].dump() == R"([{"count":1,"name":"programs"}])");
  BOOST_TEST(json["missing"][0]["targets"] == Json({"Device B, driver 1"}));
}

BOOST_AUTO_TEST_CASE(WhatCannotBeReportedIsNamedAndLeavesTheFileAsItIs) {
  const Directory directory;
  const std::string good = directory.write("good.clbake", encoded(release_contents()));
  std::string bytes = read_file(good);
  bytes[bytes.size() - 10] ^= 1;
  const std::string bad = directory.write("bad.clbake", bytes);
  const std::string shapes = directory.write("shapes.txt", "64x64x64\n64x64\n");
  const std::string page = directory.path("page.html");
  check_refused(clbake({"report", bad, "-o", page}), 1, {"clbake report", bad});
  check_refused(clbake({"report", good, "--against", bad, "-o", page}), 1, {"clbake report", bad});
  check_refused(clbake({"report", good, "--shapes", shapes, "-o", page}), 1, {shapes, "line 2", "'64x64'"});
  check_refused(clbake({"report", good, "-o", good}), 1, {"--output", good, "is not a release report"});
  check_refused(clbake({"report", good, "-o", directory.path("no/where.html")}), 1, {"no/where.html"});
  check_refused(clbake({"report", good}), 2, {"--output", "--json"});
  check_refused(clbake({"report", "-o", page}), 2, {"FILE"});
  BOOST_TEST(directory.files() == (std::vector<std::string>{"bad.clbake", "good.clbake", "shapes.txt"}),
             boost::test_tools::per_element());
}

}  // namespace clbake::tool::test
