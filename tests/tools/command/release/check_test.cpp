// `clbake check` as CI systems meet it.
#include "command/release/release_files.hpp"

#include <algorithm>

namespace clbake::tool::test {
namespace {

// How often a text contains another one.
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatIsMissingIsCountedGroupedAndNamed) {
  const ReleaseFiles files;
  const Outcome text =
      clbake({"check", files.bundle, "--shapes", files.shapes, "--require", "native,proven,jit-free"}, no_platform());
  BOOST_TEST(text.status == 3);
  BOOST_TEST(text.err.empty(), text.err);
  BOOST_TEST(contains(text.out, files.bundle + ": 20 problems on 3 targets: "), text.out);
  BOOST_TEST(contains(text.out, "nvidia:sm_52"), text.out);
  BOOST_TEST(contains(text.out, "not native (no target)"), text.out);
  const nlohmann::json json = nlohmann::json::parse(
      clbake({"check", files.bundle, "--shapes", files.shapes, "--require", "native,proven,jit-free", "--json"}).out);
  BOOST_TEST(json["problems"] == 20);
  BOOST_TEST(json["served"].get<int>() + json["missing"].get<int>() == 60);
  BOOST_TEST(json["rows"].size() == json["missing"].get<std::size_t>());
  BOOST_TEST(contains(text.out, std::to_string(json["served"].get<int>()) + " of 60 are served"), text.out);
  for (const nlohmann::json& missing : json["rows"]) {
    BOOST_TEST(!missing["why"].get<std::string>().empty());
    BOOST_TEST(!missing["missing"].get<std::string>().empty());
  }
}

// Nothing could serve it before: a fleet that bakes for it would never pass.
BOOST_AUTO_TEST_CASE(WhatHasToBeProvenOnTheDeviceIsCheckedOnlyByName) {
  ReleaseFiles files;
  const auto offline = std::find_if(files.contents.targets.begin(), files.contents.targets.end(),
                                    [](const Target& target) { return target.device_name.empty(); });
  BOOST_REQUIRE((offline != files.contents.targets.end()));
  offline->platform_name = "Intel(R) OpenCL HD Graphics";
  offline->vendor = "Intel(R) Corporation";
  offline->architecture = "dg2";
  const std::string bundle = files.directory.write("intel.clbake", encoded(files.contents));
  const Arguments check = {"check", bundle, "--shapes", files.shapes, "--require", "any"};
  const Outcome all = clbake(check);
  BOOST_TEST(all.status == 0);
  BOOST_TEST(contains(all.err, bundle + ": intel:dg2: not checked"), all.err);
  BOOST_TEST(contains(all.out, "20 problems on 2 targets"), all.out);
  Arguments named = check;
  named.back() = "baked";
  named.insert(named.end(), {"--target", "intel:dg2"});
  BOOST_TEST(clbake(named).status == 3);
}

BOOST_AUTO_TEST_CASE(ShapesComeFromAPipeOrStandardInput, *OnPosix()) {
  const ReleaseFiles files;
  const std::string check = "$CLBAKE check " + files.bundle + " --require any --shapes ";
  for (const std::string& line : {"cat " + files.shapes + " | " + check + "-", check + "/dev/stdin < " + files.shapes,
                                  "cat " + files.shapes + " | " + check + "/dev/stdin"}) {
    const Outcome outcome = shell(line);
    BOOST_TEST(outcome.status == 0, line + ": " + outcome.err);
    BOOST_TEST(contains(outcome.out, "20 problems"), outcome.out);
  }
  check_refused(shell("echo 8x8 | " + check + "-"), 1, {"clbake check: standard input: line 1: '8x8'"});
}

BOOST_AUTO_TEST_CASE(LinesThatAreFilledInFromTheBundleAreNoted) {
  const ReleaseFiles files;
  const std::string shapes = files.directory.write("sizes.txt", "64x64x64\n");
  const auto check = [&](const Arguments& more) {
    return clbake(Arguments{"check", files.bundle, "--shapes", shapes, "--require", "any"} + more).out;
  };
  BOOST_TEST(contains(check({}), "note: lines without precision or transposes stand for what this bundle has"));
  BOOST_TEST(contains(check({"--precision", "single"}), "note: lines without transposes stand"));
  BOOST_TEST(!contains(check({"--precision", "single", "--trans", "nn"}), "note:"));
  const auto json = [&](const Arguments& more) { return nlohmann::json::parse(check(more + Arguments{"--json"})); };
  BOOST_TEST((json({"--trans", "nn"})["filled_in"] == nlohmann::json{"precision"}));
  BOOST_TEST(json({})["problems"] == 4);  // of one precision
  BOOST_TEST(json({"--precision", "half,double", "--trans", "nn"})["problems"] == 2);
  const nlohmann::json all = json({"--all", "--target", "pocl"});
  BOOST_TEST(all["missing"] == 0);
  BOOST_TEST(all["targets"].size() == 1U);
  BOOST_TEST(all["rows"].size() == 4U);
}

BOOST_AUTO_TEST_CASE(AnUnknownTargetIsNamedAndTheRestChecked) {
  const ReleaseFiles files;
  const std::string junit = files.directory.path("junit.xml");
  const Outcome outcome = clbake({"check", files.bundle, "--shapes", files.shapes, "--require", "any", "--target",
                                  "gfx90a,NVIDIA GPU 0", "--junit", junit});
  BOOST_TEST(outcome.status == 3);
  BOOST_TEST(outcome.err == "clbake check: --target: " + files.bundle +
                                " has no target 'gfx90a'; it has 0: pthread-cpu0, driver 3.1; 1: nvidia:sm_52; "
                                "2: NVIDIA GPU 0, driver 580.0\n");
  BOOST_TEST(contains(outcome.out, "20 problems on 1 target: "), outcome.out);
  BOOST_TEST(contains(read_file(junit), "<testsuite name=\"gfx90a\" tests=\"1\" failures=\"1\""));
}

BOOST_AUTO_TEST_CASE(JUnitHasACaseForEachProblemOfEachTarget) {
  const ReleaseFiles files;
  const std::string junit = files.directory.path("junit.xml");
  const Outcome outcome =
      clbake({"check", files.bundle, "--shapes", files.shapes, "--require", "proven", "--junit", junit, "--json"});
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  const std::string xml = read_file(junit);
  BOOST_TEST(count(xml, "<testsuite ") == 3U);
  BOOST_TEST(count(xml, "<testcase ") == 60U);
  BOOST_TEST(count(xml, "<failure ") == json["missing"].get<std::size_t>());
  BOOST_TEST(contains(xml, "tests=\"60\" failures=\"" + std::to_string(json["missing"].get<int>()) + "\""));
  check_refused(clbake({"check", files.bundle, "--shapes", files.shapes, "--junit", files.directory.path("no/j.xml")}),
                1, {"clbake check", "no/j.xml"});
}

// A target's name is text of a driver.
BOOST_AUTO_TEST_CASE(MarkupIsEscapedAndWhatIsNoTextShownAsQuestionMarks) {
  ReleaseFiles files;
  // ESC, a lone byte, a long form of '/', half a surrogate pair, U+FFFE, U+FFFF, U+0085, over U+10FFFF, cut short.
  files.contents.targets[0].device_name =
      "<a> & \"b\" \x1b[1m \xff \xc0\xaf \xed\xa0\x80 \xef\xbf\xbe \xef\xbf\xbf \xc2\x85 \xf4\x90\x80\x80 "
      "\xc2\xb5\xe2\x82";
  const std::string rest = " ?[1m ? ?? ??? ? ? ? ???? \xc2\xb5??, driver 3.1";
  const std::string bundle = files.directory.write("b.clbake", encoded(files.contents));
  const std::string junit = files.directory.path("junit.xml");
  const Outcome outcome = clbake({"check", bundle, "--shapes", files.shapes, "--require", "native,proven,jit-free",
                                  "--all", "--target", "pocl", "--junit", junit});
  BOOST_TEST(contains(read_file(junit), "<testsuite name=\"&lt;a&gt; &amp; &quot;b&quot;" + rest), read_file(junit));
  BOOST_TEST(contains(outcome.out, "<a> & \"b\"" + rest), outcome.out);
  BOOST_TEST((outcome.out + read_file(junit)).find_first_of("\x1b\xff\xc0\xed\xf4") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(BadInputIsNamed) {
  const ReleaseFiles files;
  const std::string bad = files.directory.write("bad.txt", std::string("single nn 64x64x64\n64 by 64\n"));
  check_refused(clbake({"check", files.bundle, "--shapes", bad}), 1, {"clbake check", bad + ": line 2"});
  check_refused(clbake({"check", files.bundle, "--shapes", files.directory.path("none")}), 1, {"none", no_such_file()});
  check_refused(clbake({"check", files.bundle}), 2, {"clbake check", "shapes"});
  check_refused(clbake({"check", files.bundle, "--shapes", files.shapes, "--require", "fast"}), 2,
                {"--require", "'fast'"});
  check_refused(clbake({"check", bad, "--shapes", files.shapes}), 1, {"clbake check", bad});
  cache::Contents none;
  const std::string empty = files.directory.write("empty.clbake", encoded(none));
  check_refused(clbake({"check", empty, "--shapes", files.shapes}), 1, {"clbake check: " + empty, "no programs"});
}

BOOST_AUTO_TEST_CASE(AnInputIsNeverTheOutput) {
  const ReleaseFiles files;
  const auto check_kept = [&](const std::string& input, const std::string& output) {
    const std::string before = read_file(input);
    check_refused(clbake({"check", files.bundle, "--shapes", files.shapes, "--junit", output}), 1,
                  {"clbake check: --junit: ", "also an input, " + input});
    BOOST_TEST((read_file(input) == before));
  };
  check_kept(files.bundle, files.bundle);
  check_kept(files.shapes, files.directory.path("./shapes.txt"));
}

BOOST_AUTO_TEST_CASE(ADamagedRecordIsNamedWithItsFile) {
  const ReleaseFiles files;
  cache::Bytes bytes = encoded(files.contents);
  const std::uint64_t checksum = required(required(Bundle::open(files.bundle)).entry(2)).program.raw_checksum;
  const auto* first = reinterpret_cast<const std::uint8_t*>(&checksum);
  const auto at = std::search(bytes.begin(), bytes.end(), first, first + sizeof checksum);
  BOOST_REQUIRE((at != bytes.end()));
  *at ^= 1;
  const std::string damaged = files.directory.write("damaged.clbake", bytes);
  for (const Arguments& more : {Arguments{}, Arguments{"--precision", "half", "--trans", "nn"}}) {
    Arguments all = {"check", damaged, "--shapes", files.shapes};
    all.insert(all.end(), more.begin(), more.end());
    check_refused(clbake(all), 1, {"clbake check: " + damaged + ": index record"});
  }
}

BOOST_AUTO_TEST_CASE(ADamagedProgramIsMissing) {
  const ReleaseFiles files;
  cache::Bytes bytes = encoded(files.contents);
  const Bundle bundle = required(Bundle::open(files.bundle));
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) bytes[required(bundle.entry(i)).program.offset] ^= 1;
  const std::string damaged = files.directory.write("damaged.clbake", bytes);
  const Outcome outcome = clbake({"check", damaged, "--shapes", files.shapes, "--target", "pocl"});
  BOOST_TEST(outcome.status == 3);
  BOOST_TEST(contains(outcome.out, "compiled from source (checksum)"), outcome.out);
}

}  // namespace clbake::tool::test
