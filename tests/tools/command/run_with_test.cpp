// `clbake run-with` as users meet it. Needs no OpenCL device.
#include "command.hpp"
#include "samples.hpp"

namespace clbake::tool::test {
namespace {

// The value of a variable in a program that `clbake run-with ARGUMENTS` starts.
std::string variable(const std::string& name, const Arguments& arguments, const Environment& environment = {}) {
  const Outcome outcome = clbake(
      Arguments{"run-with"} + arguments + Arguments{"--", "/bin/sh", "-c", "printf %s \"$" + name + "\""}, environment);
  BOOST_TEST(outcome.status == 0, outcome.err);
  return outcome.out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheProgramRunsUnderTheLayer) {
  const std::string layers = variable("OPENCL_LAYERS", {});
  BOOST_TEST(contains(layers, "/libclbake-layer.so"), layers);
}

BOOST_AUTO_TEST_CASE(LayersOfTheUserStay) {
  const std::string layers = variable("OPENCL_LAYERS", {}, {{"OPENCL_LAYERS", "/other.so"}});
  BOOST_TEST(contains(layers, "libclbake-layer.so:/other.so"), layers);
}

BOOST_AUTO_TEST_CASE(BundlesArePassedOnByTheirFullPaths) {
  const Directory directory;
  const std::string a = directory.write("a.clbake", cache::test::encoded(cache::test::small_contents()));
  const std::string b = directory.write("b.clbake", cache::test::encoded(cache::test::small_contents()));
  BOOST_TEST(variable("CLBAKE_BUNDLE", {a, b}) == a + ":" + b);
}

BOOST_AUTO_TEST_CASE(OptionsBecomeTheLayersSettings) {
  BOOST_TEST(variable("CLBAKE_LEARN", {"--learn", "read-only"}) == "read-only");
  BOOST_TEST(variable("CLBAKE_OVERLAY", {"--overlay", "/a/b"}) == "/a/b");
  BOOST_TEST(contains(variable("CLBAKE_LEARNER", {}), "/clbake"));
}

BOOST_AUTO_TEST_CASE(TheExitStatusIsThePrograms) {
  BOOST_TEST(clbake({"run-with", "--", "/bin/sh", "-c", "exit 7"}).status == 7);
  BOOST_TEST(clbake({"run-with", "--", "/bin/sh", "-c", "kill -9 $$"}).status == 128 + 9);
}

BOOST_AUTO_TEST_CASE(WhatCannotRunIsRefused) {
  const Directory directory;
  const std::string text = directory.write("text", "no bundle");
  check_refused(clbake({"run-with"}), 2, {"'--' must stand before the program"});
  check_refused(clbake({"run-with", "--"}), 2, {"no program stands behind '--'"});
  check_refused(clbake({"run-with", "--log", "/absent/log", "--", "true"}), 2,
                {"--log: /absent/log cannot be written"});
  check_refused(clbake({"run-with", "--log", text, "--", "true"}), 2, {text + " exists and is no log of clbake's"});
  check_refused(clbake({"run-with", "--learn", "never", "--", "true"}), 2, {"'never' is none of on, read-only, off"});
  check_refused(clbake({"run-with", text, "--", "true"}), 1, {text});
  check_refused(clbake({"run-with", directory.path("absent"), "--", "true"}), 1, {directory.path("absent")});
  check_refused(clbake({"run-with", "--", "/absent/program"}), 1, {"/absent/program: cannot be started"});
}

}  // namespace clbake::tool::test
