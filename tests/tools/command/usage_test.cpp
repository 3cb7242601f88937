// Wrong command lines: exit status 2 and one line that names the verb and the option. Needs no OpenCL device.
#include "command.hpp"

#include <sstream>
#include <tuple>

namespace clbake::tool::test {
namespace {

// `run FILE` with sizes of 8 and then these; the file does not exist, so the options are looked at first.
Outcome run_with(const Arguments& more) {
  return clbake(Arguments{"run", "no.clbake", "--m", "8", "--n", "8", "--k", "8"} + more);
}

// The names that a help text lists: "  build    bake a bundle: ...".
std::vector<std::string> names_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 2 && line.rfind("  ", 0) == 0 && line[2] >= 'a' && line[2] <= 'z') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

// Every verb, and "bench" with each benchmark.
std::vector<Arguments> verbs() {
  std::vector<Arguments> all;
  for (const std::string& verb : names_in(clbake({"--help"}).out)) all.push_back({verb});
  for (const std::string& name : names_in(clbake({"bench", "--help"}).out)) all.push_back({"bench", name});
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnUnknownVerbIsNamed) {
  check_refused(clbake({"frobnicate"}), 2, {"'frobnicate'", "--help"});
  check_refused(clbake({"--frobnicate"}), 2, {"'--frobnicate'"});
  check_refused(clbake({"bench", "warm"}), 2, {"clbake bench", "'warm'"});
  check_refused(clbake({"bench"}), 2, {"clbake bench", "cold", "gemm"});
}

// Boost.Program_options would never end its message.
BOOST_AUTO_TEST_CASE(AnOptionThatLooksLikeAPlaceholderIsRefused) {
  check_refused(clbake({"devices", "--name%canonical_option%"}), 2, {"clbake devices", "'--name%canonical_option%'"});
  check_refused(clbake({"devices", "--%option%", "x"}), 2, {"clbake devices", "'--%option%'"});
}

BOOST_AUTO_TEST_CASE(OptionsOfTheEnvironmentAreNamedByVerbsThatKeepWhatIsCompiled) {
  const Environment environment = {{"POCL_EXTRA_BUILD_FLAGS", "-DK=7"}};
  for (const Arguments& verb : {Arguments{"build", "-o", "/nowhere/a"},
                                {"tune", "-o", "/nowhere/a"},
                                {"prove", "/nowhere/a"},
                                {"learn", "--overlay", "/nowhere/a"},
                                {"record", "-o", "/nowhere/a", "--", "true"}}) {
    check_refused(clbake(verb, environment), 1, {"clbake " + verb.front(), "POCL_EXTRA_BUILD_FLAGS is set"});
  }
}

BOOST_AUTO_TEST_CASE(NothingGivenShowsTheUsageAsAFailure) {
  const Outcome outcome = clbake({});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(outcome.out == "");
  BOOST_TEST(contains(outcome.err, "usage: clbake VERB"));
  BOOST_TEST(clbake({"help"}).out == clbake({"--help"}).out);
  BOOST_TEST(clbake({"--version"}).out.rfind("clbake ", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(HelpIsShownForEveryVerbInEveryWay) {
  const std::vector<Arguments> all = verbs();
  BOOST_TEST(all.size() >= 20U);
  for (const Arguments& verb : all) {
    const Outcome outcome = clbake(verb + Arguments{"--help"});
    BOOST_TEST(outcome.status == 0);
    BOOST_TEST(outcome.err == "");
    BOOST_TEST(contains(outcome.out, "usage: clbake " + verb.front()), outcome.out);
    BOOST_TEST(!contains(outcome.out, " arg"), outcome.out);  // Boost's word for a value without a name
  }
  BOOST_TEST(clbake({"run", "-h"}).out == clbake({"run", "--help"}).out);
}

BOOST_AUTO_TEST_CASE(AnUnknownOptionIsNamedByEveryVerb) {
  for (const Arguments& verb : verbs()) {
    if (verb == Arguments{"bench"}) continue;
    check_refused(clbake(verb + Arguments{"--frob", "--", "true"}), 2, {"clbake " + verb.front(), "--frob"});
  }
  check_refused(clbake({"record", "--frob", "--", "true"}), 2, {"clbake record: ", "see 'clbake record --help'"});
}

BOOST_AUTO_TEST_CASE(AnAbbreviatedOptionIsNotGuessed) {
  check_refused(clbake({"devices", "--js"}), 2, {"--js"});
  check_refused(run_with({"--trans"}), 2, {"--trans"});
}

BOOST_AUTO_TEST_CASE(AMissingOptionIsNamed) {
  check_refused(clbake({"build"}), 2, {"clbake build", "--output"});
  check_refused(clbake({"build", "-o"}), 2, {"clbake build", "--output"});
  check_refused(clbake({"run", "x", "--n", "1", "--k", "1"}), 2, {"clbake run", "'--m'"});
  check_refused(clbake({"run", "x", "--m", "--n", "1", "--k", "1"}), 2, {"clbake run"});
}

BOOST_AUTO_TEST_CASE(AMissingOrSecondFileIsNamed) {
  for (const Arguments& verb : {Arguments{"inspect"},
                                {"bench", "choice"},
                                {"bench", "cold"},
                                {"bench", "gemm"},
                                {"run", "--m", "1", "--n", "1", "--k", "1"}}) {
    check_refused(clbake(verb), 2, {"clbake " + verb[0], "FILE"});
    check_refused(clbake(verb + Arguments{"a", "b"}), 2, {"clbake " + verb[0], "FILE"});
  }
  BOOST_TEST(clbake({"devices", "stray"}).status == 2);
  BOOST_TEST(clbake({"build", "-o", "x", "stray"}).status == 2);
}

BOOST_AUTO_TEST_CASE(AbsurdNumbersAreNamedWithTheirOption) {
  const std::vector<std::string> no_sizes = {
      "-5", "abc", "", "1.5", "1e3", "0x10", " 7", "7 ", "+7", "99999999999999999999", "18446744073709551616"};
  for (const std::string& text : no_sizes) {
    check_refused(clbake({"run", "x", "--m", text, "--n", "8", "--k", "8"}), 2, {"clbake run: --m: '" + text + "'"});
    check_refused(run_with({"--ldc", text}), 2, {"clbake run: --ldc: '" + text + "'"});
  }
  for (const char* text : {"abc", "", "nan", "inf", "1e999", "1.5x", "--"}) {
    check_refused(run_with({"--alpha", text}), 2, {"clbake run: ", "--alpha", text});
    check_refused(run_with({"--beta", text}), 2, {"clbake run: ", "--beta", text});
  }
}

BOOST_AUTO_TEST_CASE(NumbersOutOfTheirRangeAreNamedWithTheirOption) {
  const Arguments run = {"run", "x", "--m", "8", "--n", "8", "--k", "8"}, build = {"build", "-o", "x"};
  const Arguments cold = {"bench", "cold", "x"}, gemm = {"bench", "gemm", "x"}, choice = {"bench", "choice", "x"};
  const std::tuple<Arguments, const char*, const char*> cases[] = {
      {run, "--repeat", "0"},
      {run, "--repeat", "99999999999"},
      {run, "--seed", "4294967296"},
      {build, "--timeout", "0"},
      {build, "--jobs", "-1"},
      {build, "--timeout", "99999999999"},
      {build, "--jobs", "99999999999"},
      {build, "--jobs", "0"},
      {{"tune", "-o", "x"}, "--jobs", "0"},
      {cold, "--trials", "0"},
      {cold, "--size", "0"},
      {gemm, "--rounds", "0"},
      {choice, "--rounds", "0"},
  };
  for (const auto& [verb, option, value] : cases) {
    check_refused(clbake(verb + Arguments{option, value}), 2, {"clbake " + verb[0], option, value});
  }
}

BOOST_AUTO_TEST_CASE(AnOptionGivenTwiceIsNamed) { check_refused(run_with({"--m", "9"}), 2, {"'--m'"}); }

BOOST_AUTO_TEST_CASE(AnUnknownPrecisionIsNamed) {
  for (const std::string text : {"quarter", "single;double", "", "Single"}) {
    check_refused(run_with({"--precision", text}), 2, {"--precision", text});
    check_refused(clbake({"build", "-o", "x", "--precision", text}), 2, {"--precision", text});
  }
  check_refused(run_with({"--precision", ","}), 2, {"--precision"});
  check_refused(run_with({"--precision", "single,double"}), 2, {"--precision"});
}

BOOST_AUTO_TEST_CASE(UnknownChoicesOfTheBenchmarkAreNamed) {
  for (const std::string text :
       {"12x13", "abc", "1x2x3x4", "-5", "", "9999999999", "512x", "x512", "x", "512x512x", "5xx5"}) {
    check_refused(clbake({"bench", "gemm", "x", "--sizes", text}), 2, {"--sizes", text});
  }
  check_refused(clbake({"bench", "gemm", "x", "--sizes", ","}), 2, {"--sizes"});
  check_refused(clbake({"bench", "cold", "x", "--peer", "openblas,frob"}), 2, {"--peer", "'frob'", "openblas"});
  check_refused(clbake({"bench", "cold", "x", "--peer", "cublaslt"}), 2, {"--peer", "'cublaslt'"});
  check_refused(clbake({"bench", "gemm", "x", "--peer", "nonsense"}), 2, {"--peer", "'nonsense'"});
  check_refused(clbake({"bench", "cold", "x", "--peer", ","}), 2, {"--peer", "','"});
  check_refused(clbake({"bench", "gemm", "x", "--peer", "blis="}), 2, {"--peer", "'blis='"});
  check_refused(clbake({"bench", "gemm", "x", "--peer", "mkl=" + std::string(__FILE__)}), 1, {"usage_test"});
  check_refused(clbake({"bench", "gemm", "x", "--trans", ","}), 2, {"--trans"});
  check_refused(clbake({"bench", "gemm", "x", "--host", "--peer", "clblast"}), 2, {"--host", "--peer"});
  check_refused(clbake({"bench", "gemm", "x", "--activation", "relu", "--batch", "2"}), 2, {"--activation", "--batch"});
  check_refused(clbake({"bench", "bundle", "--load"}), 2, {"--load", "FILE"});
  for (const std::string text : {"nx", "n", "nnn", ""}) {
    check_refused(clbake({"bench", "gemm", "x", "--trans", text}), 2, {"--trans", text});
  }
}

BOOST_AUTO_TEST_CASE(AVariantThatCannotBeReadIsNamedWithItsPart) {
  const auto build = [](const std::string& variants) { return clbake({"build", "-o", "x", "--variant", variants}); };
  check_refused(build("direct-s-nn-8x8x1-1x1x1-w1"), 2, {"clbake build: --variant", "'w1'"});
  check_refused(build("direct-s-nn-8x8x1-1x1x1-v1,tutorial-99"), 2, {"'tutorial-99'", "tutorial-1, tutorial-2"});
  check_refused(build(","), 2, {"--variant"});
  check_refused(clbake({"build", "-o", "x", "--variant", "tutorial-1", "--precision", "single"}), 2, {"--precision"});
}

BOOST_AUTO_TEST_CASE(NoPlatformIsNamedByEveryVerbThatNeedsOne, *OnPosix()) {
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  for (const Arguments& all : {Arguments{"devices"},
                               {"devices", "--json"},
                               {"build", "-o", output},
                               {"build", "--device", "0", "-o", output}}) {
    check_refused(clbake(all, no_platform()), 1, {"clbake " + all[0], "no OpenCL platform"});
  }
  BOOST_TEST(directory.files().empty());
}

BOOST_AUTO_TEST_CASE(ADriverThatCannotBeLoadedIsTheCause, *OnPosix()) {
  const Directory vendors;
  const std::string icd = vendors.write("broken.icd", "libclbake_missing_driver.so\n");
  const Environment environment = {{"OCL_ICD_VENDORS", vendors.path("")}};
  for (const Arguments& all : {Arguments{"devices"}, {"build", "-o", vendors.path("new.clbake")}}) {
    const Outcome outcome = clbake(all, environment);
    check_refused(outcome, 1, {"clbake " + all[0], icd + ": libclbake_missing_driver.so: cannot open"});
    BOOST_TEST(!contains(outcome.err, "no OpenCL platform"));
  }
}

BOOST_AUTO_TEST_CASE(AnOutputThatCannotBeWrittenToStdoutIsAFailure, *OnPosix()) {
  const Outcome outcome = shell("\"$CLBAKE\" --help > /dev/full");
  check_refused(outcome, 1, {"stdout"});
}

}  // namespace clbake::tool::test
