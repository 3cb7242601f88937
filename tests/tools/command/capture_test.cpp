// `clbake capture` as users meet it. Needs no OpenCL device.
#include "command.hpp"

#include <clbake/builder/shape/shapes_file.hpp>

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(RecordingsBecomeAShapesFileWithTheCallsAsWeights) {
  const Directory directory;
  const std::string a = directory.write("a.txt", "# comment\nsingle nn 64x64x64 calls 5\ndouble nt 7x8x9 calls 2\n");
  const std::string b = directory.write("b.txt", "single nn 64x64x64 calls 1\n");
  const std::string output = directory.path("shapes.txt");
  const nlohmann::json json = json_of(clbake({"capture", a, b, "-o", output, "--json"}));
  BOOST_TEST(json["recordings"] == 2);
  BOOST_TEST(json["problems"] == 2);
  BOOST_TEST(json["calls"] == 8);
  const auto shapes = required(builder::read_shapes(output, {{}}));
  BOOST_REQUIRE(shapes.size() == 2U);
  BOOST_TEST(builder::weighted_name(shapes[0]) == "single nn 64x64x64 weight 6");
  BOOST_TEST(builder::weighted_name(shapes[1]) == "double nt 7x8x9 weight 2");
}

BOOST_AUTO_TEST_CASE(TheMostCalledProblemsCanBeKeptAlone) {
  const Directory directory;
  const std::string a = directory.write("a.txt", "single nn 1x1x1 calls 1\nsingle nn 2x2x2 calls 3\n");
  const std::string output = directory.path("shapes.txt");
  const Outcome outcome = clbake({"capture", a, "-o", output, "--top", "1"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "2 problems, 4 calls"), outcome.out);
  BOOST_TEST(contains(outcome.out, "the 1 most called, with 75.0 % of the calls"), outcome.out);
  BOOST_TEST(required(builder::read_shapes(output, {{}})).size() == 1U);
}

BOOST_AUTO_TEST_CASE(ATornLastLineIsReportedAndTheRestServes) {
  const Directory directory;
  const std::string torn = directory.write("torn.txt", "single nn 2x2x2 calls 3\nsingle nn 3x3x3 calls 1");
  const std::string output = directory.path("shapes.txt");
  const Outcome outcome = clbake({"capture", torn, "-o", output, "--json"});
  const nlohmann::json json = json_of(outcome);
  BOOST_TEST(json["torn"] == nlohmann::json({torn}));
  BOOST_TEST(json["calls"] == 3);
  BOOST_TEST(contains(outcome.err, torn + ": the last line has no end"), outcome.err);
}

BOOST_AUTO_TEST_CASE(ABadRecordingIsLeftOutAndTheOthersServe) {
  const Directory directory;
  const std::string good = directory.write("good.txt", "single nn 2x2x2 calls 3\n");
  const std::string bad = directory.write("bad.txt", "single nn 2x2x2 calls 3\nsingle nn 2x2 calls 1\n");
  const std::string output = directory.path("shapes.txt");
  const Outcome outcome = clbake({"capture", good, bad, directory.path("none"), "-o", output, "--json"});
  BOOST_TEST(outcome.status == 3);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  BOOST_TEST(json["recordings"] == 1);
  BOOST_TEST(json["left_out"].size() == 2U);
  BOOST_TEST(contains(outcome.err, bad + ": line 2: '2x2' is no size"), outcome.err);
  BOOST_TEST(contains(outcome.err, directory.path("none")), outcome.err);
  BOOST_TEST(required(builder::read_shapes(output, {{}})).front().weight == 3);
}

BOOST_AUTO_TEST_CASE(WhatCannotBeCapturedIsRefusedAndWritesNothing) {
  const Directory directory;
  const std::string bad = directory.write("bad.txt", "512x512x512\n");
  const std::string empty = directory.write("empty.txt", "# nothing\n");
  const std::string good = directory.write("good.txt", "single nn 2x2x2 calls 3\n");
  const std::string output = directory.path("shapes.txt");
  check_refused(clbake({"capture", bad, "-o", output}), 1, {bad, "line 1", "calls"});
  check_refused(clbake({"capture", empty, "-o", output}), 1, {"no call was recorded"});
  check_refused(clbake({"capture", good, "-o", directory.path("no/where")}), 1, {directory.path("no/where")});
  check_refused(clbake({"capture", good}), 2, {"output"});
  check_refused(clbake({"capture", "-o", output}), 2, {"FILE"});
  check_refused(clbake({"capture", good, "-o", output, "--top", "0"}), 2, {"top"});
  check_refused(clbake({"capture", good, "-o", directory.path("./good.txt")}), 1, {"also an input", good});
  BOOST_TEST(directory.files() == (std::vector<std::string>{"bad.txt", "empty.txt", "good.txt"}),
             boost::test_tools::per_element());
}

}  // namespace clbake::tool::test
