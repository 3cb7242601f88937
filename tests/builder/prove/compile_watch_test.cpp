// The verdict on made-up caches and times: no driver is asked.
#include "prove/compile_watch.hpp"

#include <clbake/builder/scratch.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace clbake::builder::test {
using namespace prove;
namespace {

constexpr double kLong = 1e9;

Target target_of(const char* platform) {
  Target target;
  target.platform_name = platform;
  return target;
}

// PoCL's cache directory.
struct Cache {
  static CompileWatch watch_of(const std::string& path) {
    setenv("POCL_CACHE_DIR", path.c_str(), 1);
    return {target_of("Portable Computing Language"), 0};
  }
  void add(const std::string& kernel, const std::string& shape) const {
    const std::string folder = directory.path() + "/AB/CDE/" + kernel + "/" + shape;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + kernel + ".so") << "code";
  }
  process::ScratchDirectory directory = std::move(*process::ScratchDirectory::create());
  CompileWatch watch = watch_of(directory.path());
};

std::string verdict_of(double first_us, double steady_us, double load_us = 0) {
  CompileWatch watch(target_of("Somebody's Platform"), 0);
  watch.begin();
  watch.loaded(load_us, 0);
  watch.launched("the first launch", {first_us, steady_us});
  return watch.verdict();
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhereFunctionsBecomeFilesTimesDoNotMatter) {
  Cache cache;
  cache.add("do_nothing", "0-0-0");
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.loaded(kLong, 2);
  cache.watch.launched("the first launch", {kLong, 1});
  BOOST_TEST(cache.watch.verdict().empty());
}

BOOST_AUTO_TEST_CASE(AFunctionThatAppearsAtALaunchIsNamed) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.watch.loaded(1, 1);
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.launched("the first launch", {1, 1});
  BOOST_TEST(cache.watch.verdict() == "the first launch compiled the function gemm 8-8-1-goffs0");
}

BOOST_AUTO_TEST_CASE(AFunctionThatAppearsAfterTheTimedLaunchesCountsToo) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.watch.loaded(1, 1);
  cache.add("gemm", "8-8-1-goffs0");
  BOOST_TEST(!cache.watch.verdict().empty());
}

BOOST_AUTO_TEST_CASE(ALoadThatUnpacksMoreThanTheProgramHoldsCompiles) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.loaded(1, 1);
  BOOST_TEST(!cache.watch.verdict().empty());
}

BOOST_AUTO_TEST_CASE(WhereALoadUnpacksNothingTheClockDecides) {
  Cache cache;
  cache.watch.begin();
  cache.watch.loaded(1, 1);
  cache.watch.launched("the first launch", {kLong, 1});
  BOOST_TEST(!cache.watch.verdict().empty());
}

BOOST_AUTO_TEST_CASE(TimesHaveLimits) {
  BOOST_TEST(verdict_of(2999, 1000).empty());  // steady, and 2 ms for any first launch
  BOOST_TEST(verdict_of(3499, 1000).empty());  // half of the steady time on top
  BOOST_TEST(verdict_of(3600, 1000) == "the first launch took 3600 us, and 3500 us is the limit");
  BOOST_TEST(verdict_of(1, 1, 19999).empty());  // loading
  BOOST_TEST(!verdict_of(1, 1, 20001).empty());
}

}  // namespace clbake::builder::test
