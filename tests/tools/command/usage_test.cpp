// Wrong command lines: exit status 2 and one line that names the verb and the option. Needs no OpenCL device.
#include "command.hpp"

namespace clbake::tool::test {
namespace {

// `run FILE` with sizes of 8 and then these; the file does not exist, so the options are looked at first.
Outcome run_with(const Arguments& more) {
  Arguments all = {"run", "no.clbake", "--m", "8", "--n", "8", "--k", "8"};
  all.insert(all.end(), more.begin(), more.end());
  return clbake(all);
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

BOOST_AUTO_TEST_CASE(NothingGivenShowsTheUsageAsAFailure) {
  const Outcome outcome = clbake({});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(outcome.out == "");
  BOOST_TEST(contains(outcome.err, "usage: clbake VERB"));
}

BOOST_AUTO_TEST_CASE(HelpIsShownForEveryVerb) {
  for (const Arguments& verb : {Arguments{},
                                {"devices"},
                                {"targets"},
                                {"space"},
                                {"build"},
                                {"tune"},
                                {"run"},
                                {"inspect"},
                                {"merge"},
                                {"plan"},
                                {"work"},
                                {"embed"},
                                {"bench"},
                                {"bench", "choice"},
                                {"bench", "cold"},
                                {"bench", "gemm"}}) {
    for (const char* help : {"--help", "-h"}) {
      Arguments all = verb;
      all.push_back(help);
      const Outcome outcome = clbake(all);
      BOOST_TEST(outcome.status == 0);
      BOOST_TEST(contains(outcome.out, "usage: clbake"), outcome.out);
      BOOST_TEST(outcome.err == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(HelpVerbEqualsVerbHelp) {
  BOOST_TEST(clbake({"help"}).out == clbake({"--help"}).out);
  for (const Arguments& verb : {Arguments{"build"}, {"run"}, {"bench"}, {"bench", "gemm"}}) {
    Arguments help = {"help"};
    help.insert(help.end(), verb.begin(), verb.end());
    Arguments option = verb;
    option.emplace_back("--help");
    const Outcome outcome = clbake(help);
    BOOST_TEST(outcome.status == 0);
    BOOST_TEST(outcome.out == clbake(option).out);
    BOOST_TEST(contains(outcome.out, "usage: clbake " + verb[0]));
  }
  check_refused(clbake({"help", "frob"}), 2, {"'frob'"});
  check_refused(clbake({"help", "bench", "frob"}), 2, {"'frob'"});
  check_refused(clbake({"help", "build", "run"}), 2, {"clbake help"});
  check_refused(clbake({"help", "help"}), 2, {"clbake help"});
  check_refused(clbake({"help", "worker"}), 2, {"clbake help"});
}

BOOST_AUTO_TEST_CASE(TheHelpOfBenchListsTheBenchmarks) {
  const std::string help = clbake({"bench", "--help"}).out;
  for (const char* name : {"cold", "gemm", "choice", "bundle"}) {
    BOOST_TEST(contains(help, "\n  " + std::string(name) + " "), help);
    BOOST_TEST(contains(clbake({"bench", name, "--help"}).out, "usage: clbake bench " + std::string(name)));
  }
}

BOOST_AUTO_TEST_CASE(OptionsNameTheirValues) {
  for (const Arguments& verb : {Arguments{"build"},
                                {"prove"},
                                {"tune"},
                                {"run"},
                                {"merge"},
                                {"embed"},
                                {"space"},
                                {"bench", "cold"},
                                {"bench", "gemm"},
                                {"bench", "choice"},
                                {"bench", "bundle"}}) {
    Arguments all = verb;
    all.emplace_back("--help");
    const std::string help = clbake(all).out;
    BOOST_TEST(!contains(help, " arg"), help);
    BOOST_TEST((contains(help, "--device SPEC") || contains(help, "[ --output ] ")), help);
  }
}

BOOST_AUTO_TEST_CASE(TheHelpOfAVerbNamesItsOptions) {
  const auto check_names = [](const char* verb, const std::vector<std::string>& options) {
    const std::string help = clbake({verb, "--help"}).out;
    for (const std::string& option : options) BOOST_TEST(contains(help, option), verb << " " << option);
  };
  check_names("devices", {"--json", "--machine"});
  check_names("plan", {"--target", "--budget", "--shards", "--split", "--format", "--from", "-o"});
  check_names("work", {"--piece", "--list", "--json", "-o"});
  check_names("build", {"--device", "--target", "--precision", "--profile", "--force", "-o", "SPEC"});
  check_names("tune", {"--device", "--precision", "--budget", "--shapes", "--strategy", "--variant", "--seed",
                       "--shard", "--merge", "--force", "-o", "SPEC"});
  check_names("run", {"--m", "--n", "--k", "--precision", "--trans-a", "--trans-b", "--alpha", "--beta", "--device",
                      "--repeat", "--no-compile", "--json"});
  check_names("inspect", {"--json"});
  check_names("merge", {"--json", "-o"});
}

BOOST_AUTO_TEST_CASE(TheVersionIsShown) {
  const Outcome outcome = clbake({"--version"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.out.rfind("clbake ", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(AnUnknownOptionIsNamedByEveryVerb) {
  check_refused(clbake({"devices", "--frob"}), 2, {"clbake devices", "--frob"});
  check_refused(clbake({"build", "-o", "x", "--frob"}), 2, {"clbake build", "--frob"});
  check_refused(clbake({"run", "x", "--frob"}), 2, {"clbake run", "--frob"});
  check_refused(clbake({"inspect", "x", "--frob"}), 2, {"clbake inspect", "--frob"});
  check_refused(clbake({"bench", "cold", "x", "--frob"}), 2, {"clbake bench cold", "--frob"});
  check_refused(clbake({"bench", "gemm", "x", "--frob"}), 2, {"clbake bench gemm", "--frob"});
  check_refused(clbake({"space", "--frob"}), 2, {"clbake space", "--frob"});
}

BOOST_AUTO_TEST_CASE(AnAbbreviatedOptionIsNotGuessed) {
  check_refused(clbake({"devices", "--js"}), 2, {"--js"});
  check_refused(run_with({"--trans"}), 2, {"--trans"});
}

BOOST_AUTO_TEST_CASE(AMissingOptionIsNamed) {
  check_refused(clbake({"build"}), 2, {"clbake build", "--output"});
  check_refused(clbake({"build", "-o"}), 2, {"clbake build", "--output"});
  check_refused(clbake({"run", "x", "--n", "1", "--k", "1"}), 2, {"clbake run", "'--m'"});
  check_refused(clbake({"run", "x", "--m", "1", "--k", "1"}), 2, {"clbake run", "'--n'"});
  check_refused(clbake({"run", "x", "--m", "1", "--n", "1"}), 2, {"clbake run", "'--k'"});
  check_refused(clbake({"run", "x", "--m", "--n", "1", "--k", "1"}), 2, {"clbake run"});
}

BOOST_AUTO_TEST_CASE(AMissingOrSecondFileIsNamed) {
  for (const Arguments& verb : {Arguments{"inspect"},
                                {"bench", "choice"},
                                {"bench", "cold"},
                                {"bench", "gemm"},
                                {"run", "--m", "1", "--n", "1", "--k", "1"}}) {
    check_refused(clbake(verb), 2, {"clbake " + verb[0], "FILE"});
    Arguments two = verb;
    two.insert(two.end(), {"a", "b"});
    check_refused(clbake(two), 2, {"clbake " + verb[0], "FILE"});
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
  check_refused(run_with({"--repeat", "0"}), 2, {"--repeat", "0"});
  check_refused(run_with({"--repeat", "99999999999"}), 2, {"--repeat", "99999999999"});
  check_refused(run_with({"--seed", "4294967296"}), 2, {"--seed", "4294967296"});
  check_refused(clbake({"build", "-o", "x", "--timeout", "0"}), 2, {"--timeout", "0"});
  check_refused(clbake({"build", "-o", "x", "--timeout", "99999999999"}), 2, {"--timeout", "99999999999"});
  check_refused(clbake({"build", "-o", "x", "--jobs", "99999999999"}), 2, {"--jobs", "99999999999"});
  check_refused(clbake({"build", "-o", "x", "--jobs", "-1"}), 2, {"--jobs", "-1"});
  check_refused(clbake({"build", "-o", "x", "--jobs", "0"}), 2, {"clbake build: --jobs: 0 is not between 1 and"});
  check_refused(clbake({"tune", "-o", "x", "--jobs", "0"}), 2, {"clbake tune: --jobs: 0 is not between 1 and"});
  check_refused(clbake({"bench", "cold", "x", "--trials", "0"}), 2, {"--trials", "0"});
  check_refused(clbake({"bench", "cold", "x", "--size", "0"}), 2, {"--size", "0"});
  check_refused(clbake({"bench", "gemm", "x", "--rounds", "0"}), 2, {"--rounds", "0"});
  const auto choice = [](const Arguments& more) {
    Arguments all = {"bench", "choice", "x"};
    all.insert(all.end(), more.begin(), more.end());
    return clbake(all);
  };
  check_refused(choice({"--rounds", "0"}), 2, {"--rounds", "0"});
  check_refused(choice({"--shapes", "0"}), 2, {"--shapes", "0"});
  check_refused(choice({"--min", "0"}), 2, {"--min", "0"});
  check_refused(choice({"--max", "65537"}), 2, {"--max", "65537"});
  check_refused(choice({"--min", "65", "--max", "64"}), 2, {"--min", "65"});
  check_refused(choice({"--seed", "4294967296"}), 2, {"--seed", "4294967296"});
  check_refused(choice({"--shapes", "1", "--limit", "4095"}), 2, {"--limit", "4095"});
  check_refused(choice({"--shapes", "100000", "--limit", "4095"}), 2, {"--limit", "4095"});  // at once, too
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
  check_refused(clbake({"bench", "cold", "x", "--peer", "launch"}), 2, {"--peer", "'launch'"});
  check_refused(clbake({"bench", "cold", "x", "--peer", ","}), 2, {"--peer", "','"});
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

BOOST_AUTO_TEST_CASE(NoPlatformIsNamedByEveryVerbThatNeedsOne) {
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  for (const Arguments& all : {Arguments{"devices"},
                               {"devices", "--json"},
                               {"space", "--device", "0"},
                               {"build", "-o", output},
                               {"build", "--device", "0", "-o", output}}) {
    check_refused(clbake(all, no_platform()), 1, {"clbake " + all[0], "no OpenCL platform"});
  }
  BOOST_TEST(directory.files().empty());
}

BOOST_AUTO_TEST_CASE(ADriverThatCannotBeLoadedIsTheCause) {
  const Directory vendors;
  const std::string icd = vendors.write("broken.icd", "libclbake_missing_driver.so\n");
  const Environment environment = {{"OCL_ICD_VENDORS", vendors.path("")}};
  for (const Arguments& all : {Arguments{"devices"}, {"build", "-o", vendors.path("new.clbake")}}) {
    const Outcome outcome = clbake(all, environment);
    check_refused(outcome, 1, {"clbake " + all[0], icd + ": libclbake_missing_driver.so: cannot open"});
    BOOST_TEST(!contains(outcome.err, "no OpenCL platform"));
  }
}

BOOST_AUTO_TEST_CASE(AnOutputThatCannotBeWrittenToStdoutIsAFailure) {
  const Outcome outcome = shell("\"$CLBAKE\" --help > /dev/full");
  check_refused(outcome, 1, {"stdout"});
}

}  // namespace clbake::tool::test
