// `clbake merge` as users meet it. Needs no OpenCL device.
#include "command.hpp"

#include "samples.hpp"

#include <filesystem>

namespace clbake::tool::test {
namespace {

using cache::test::small_bundle;
using cache::test::small_contents;

}  // namespace

BOOST_AUTO_TEST_CASE(BundlesAndADirectoryBecomeOneBundle) {
  const Directory directory;
  std::filesystem::create_directory(directory.path("overlay"));
  cache::Contents first = small_contents(), second = small_contents();
  first.entries.resize(2);
  second.entries.erase(second.entries.begin());
  const std::string a = directory.write("a.clbake", encoded(first));
  directory.write("overlay/b.clbake", encoded(second));
  const std::string output = directory.path("c.clbake");
  const nlohmann::json json = json_of(clbake({"merge", a, directory.path("overlay"), "-o", output, "--json"}));
  BOOST_TEST(json["bundles"] == 2);
  BOOST_TEST(json["entries"] == 5);
  BOOST_TEST(json["left_out"].empty());
  BOOST_TEST(contents_of(output).entries.size() == 5U);
  const std::string once = read_file(output);
  const Outcome text = clbake({"merge", output, "-o", output});  // in its own place, too
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, output + ": 1 bundle joined; 5 targets, "), text.out);  // with any CPU and any GPU
  BOOST_TEST(contains(text.out, " variants, 5 entries\n"), text.out);
  BOOST_TEST((read_file(output) == once));
}

BOOST_AUTO_TEST_CASE(WhatIsLeftOutIsNamed) {
  const Directory directory;
  cache::Contents other = small_contents();
  other.variants[0].build_options = "-DOTHER";
  const std::string a = directory.write("a.clbake", small_bundle());
  const std::string b = directory.write("b.clbake", encoded(other));
  const Outcome outcome = clbake({"merge", a, b, "-o", directory.path("c.clbake")});
  BOOST_TEST(outcome.status == 3);
  BOOST_TEST(outcome.err == "clbake merge: left out: " + b + ": variant direct-4 is another one than in " + a + "\n");
  BOOST_TEST(contents_of(directory.path("c.clbake")).entries.size() == 5U);
}

BOOST_AUTO_TEST_CASE(AFailureLeavesTheOutputAsItWas) {
  const Directory directory;
  const std::string good = directory.write("good.clbake", small_bundle());
  const std::string torn =
      directory.write("torn.clbake", cache::Bytes(small_bundle().begin(), small_bundle().end() - 9));
  const std::string output = directory.write("c.clbake", small_bundle());
  const std::string letter = directory.write("letter.txt", std::string("Dear all,"));
  check_refused(clbake({"merge", good, "-o", letter}), 1, {"clbake merge", letter, "not a bundle"});
  BOOST_TEST(read_file(letter) == "Dear all,");
  check_refused(clbake({"merge", good, torn, "-o", output}), 1, {"clbake merge: " + torn, "bytes"});
  check_refused(clbake({"merge", good, directory.path("none"), "-o", output}), 1,
                {directory.path("none"), no_such_file()});
  check_refused(clbake({"merge", good, "-o", directory.path("no/c.clbake")}), 1, {directory.path("no/c.clbake")});
  std::filesystem::create_directory(directory.path("empty"));
  check_refused(clbake({"merge", directory.path("empty"), "-o", output}), 1, {"no bundle in", "empty"});
  check_refused(clbake({"merge", good}), 2, {"clbake merge", "output"});
  check_refused(clbake({"merge", "-o", output}), 2, {"clbake merge", "FILE"});
  BOOST_TEST(read_file(output) == std::string(small_bundle().begin(), small_bundle().end()));
}

}  // namespace clbake::tool::test
