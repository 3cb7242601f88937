// PoCL's functions: which launches take which, and how they are asked for.
#include "learn/functions.hpp"
#include "system/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace clbake::builder::learn {
namespace {

using Passes = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(EachClassOfLaunchesHasAFunction) {
  const Functions functions = functions_of({{"f", {64, 1, 1}, true, true},
                                            {"f", {64, 1, 1}, true, false},
                                            {"f", {64, 1, 1}, false, true},
                                            {"g", {8, 4, 2}, false, false},
                                            {"f", {64, 1, 1}, true, true},
                                            {"h", {}, true, true}});
  const Functions wanted = {"f 64-1-1-goffs0-smallgrid", "f 64-1-1-goffs0", "f 64-1-1-smallgrid", "g 8-4-2"};
  BOOST_TEST((functions == wanted));
}

BOOST_AUTO_TEST_CASE(AFunctionIsAskedForByTheLaunchThatTakesIt) {
  for (const char* function : {"f 64-1-1-goffs0-smallgrid", "f 64-1-1-goffs0", "f 64-1-1-smallgrid", "g 8-4-2"}) {
    const auto launch = launch_of(function);
    BOOST_REQUIRE_MESSAGE(launch, function);
    BOOST_TEST((functions_of({*launch}) == Functions{function}));
  }
  for (const char* other : {"f 0-0-0", "f", "", "f large grid", "f 8-8"}) BOOST_TEST(!launch_of(other), other);
}

BOOST_AUTO_TEST_CASE(AProgramLacksFunctionsOfKernelsThatHaveSome) {
  const Functions present = {"f 64-1-1-goffs0"};
  struct Case {
    const char* wanted;
    bool lacks;
  };
  const Case cases[] = {
      {"f 64-1-1-goffs0", false},
      {"f 32-1-1-goffs0", true},
      {"launched 64-1-1-goffs0", false},  // it got no function of its own, so it needs none
      {"other 64-1-1-goffs0", true},
  };
  for (const Case& c : cases) BOOST_TEST(lacks(present, {"f", "launched"}, {c.wanted}) == c.lacks, c.wanted);
  BOOST_TEST(!lacks(present, {}, {}));
}

BOOST_AUTO_TEST_CASE(OneProcessCompilesOneFunctionOfASize) {
  struct Case {
    Functions functions;
    Passes passes;
  };
  const Case cases[] = {
      {{}, {""}},
      {{"f 64-1-1-goffs0"}, {"64-1-1-goffs0"}},
      {{"f 64-1-1-goffs0", "g 64-1-1-goffs0", "g 8-8-1"}, {"64-1-1-goffs0,8-8-1"}},
      {{"f 64-1-1", "f 64-1-1-goffs0", "f 8-8-1-smallgrid"}, {"64-1-1,8-8-1-smallgrid", "64-1-1-goffs0"}},
  };
  for (const Case& c : cases) BOOST_TEST((passes_for(c.functions) == c.passes));
}

BOOST_AUTO_TEST_CASE(FunctionsAreFoundInACacheDirectory) {
  const tests::TemporaryDirectory cache;
  for (const char* name :
       {"AB/CD/f/0-0-0/f.so", "AB/CD/f/64-1-1-goffs0/f.so", "AB/CD/g/8-8-1/g.so", "AB/CD/program.bc"}) {
    std::filesystem::create_directories(std::filesystem::path(cache.file(name)).parent_path());
    std::ofstream(cache.file(name)) << "code";
  }
  BOOST_TEST((functions_in(cache.path) == Functions{"f 64-1-1-goffs0", "g 8-8-1"}));
  BOOST_TEST(functions_in(cache.file("missing")).empty());
}

}  // namespace clbake::builder::learn
