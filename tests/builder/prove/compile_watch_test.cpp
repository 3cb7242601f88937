// The verdict on made-up caches, libraries, processes and times: no driver is asked.
#include "prove/compile_watch.hpp"

#include <clbake/builder/scratch.hpp>

#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace clbake::builder::test {
using namespace prove;
namespace {

constexpr double kLong = 1e9;
constexpr const char* kCompiler = "libcompiler_of_this_test.so";

Target target_of(const char* platform) {
  Target target;
  target.platform_name = platform;
  return target;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// PoCL's cache directory.
struct Cache {
  static CompileWatch watch_of(const std::string& path) {
    setenv("POCL_CACHE_DIR", path.c_str(), 1);
    return {target_of("Portable Computing Language"), {}, 0};
  }
  void add(const std::string& kernel, const std::string& shape) const {
    const std::string folder = directory.path() + "/AB/CDE/" + kernel + "/" + shape;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + kernel + ".so") << "code";
  }
  process::ScratchDirectory directory = std::move(*process::ScratchDirectory::create());
  CompileWatch watch = watch_of(directory.path());
};

// Another driver's, whose compilations are known to leave these signs.
struct OtherDriver {
  explicit OtherDriver(Control control) : control_(std::move(control)) {
    setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
  }

  void write(const std::string& text) const { std::ofstream(directory_.path() + "/one.db", std::ios::app) << text; }

  // The verdict on a load and a launch that do this, and take no time.
  template <typename Load, typename Launch>
  Verdict verdict(const Load& load, const Launch& launch, const Timing& timing = {1, 1}, double load_us = 1,
                  std::size_t kernels = 1) const {
    CompileWatch watch(target_of("Somebody's Platform"), control_, 0);
    watch.begin();
    load();
    watch.loaded(load_us, kernels, 0);
    launch();
    watch.launched("the first launch", timing);
    return watch.verdict();
  }

 private:
  Control control_;
  process::ScratchDirectory directory_ = std::move(*process::ScratchDirectory::create());
};

const auto kNothing = [] {};

Control files_only() { return {true, {}, false, true}; }

void start_a_child() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhereFunctionsBecomeFilesTimesDoNotMatter) {
  Cache cache;
  cache.add("do_nothing", "0-0-0");
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.loaded(kLong, 1, 2);
  cache.watch.launched("the first launch", {kLong, 1});
  const Verdict verdict = cache.watch.verdict();
  BOOST_TEST(verdict.compiled == "");
  BOOST_TEST(verdict.judged_by == "files in the driver's cache");
}

BOOST_AUTO_TEST_CASE(AFunctionThatAppearsAtALaunchIsNamed) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.watch.loaded(1, 1, 1);
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.launched("the first launch", {1, 1});
  BOOST_TEST(cache.watch.verdict().compiled == "the first launch compiled the function gemm 8-8-1-goffs0");
}

BOOST_AUTO_TEST_CASE(AFunctionThatAppearsAfterTheTimedLaunchesCountsToo) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.watch.loaded(1, 1, 1);
  cache.add("gemm", "8-8-1-goffs0");
  BOOST_TEST(!cache.watch.verdict().compiled.empty());
}

BOOST_AUTO_TEST_CASE(ALoadThatUnpacksMoreThanTheProgramHoldsCompiles) {
  Cache cache;
  cache.watch.begin();
  cache.add("gemm", "0-0-0");
  cache.add("gemm", "8-8-1-goffs0");
  cache.watch.loaded(1, 1, 1);
  BOOST_TEST(!cache.watch.verdict().compiled.empty());
}

BOOST_AUTO_TEST_CASE(WhereALoadUnpacksNothingTheClockDecides) {
  Cache cache;
  cache.watch.begin();
  cache.watch.loaded(1, 1, 1);
  cache.watch.launched("the first launch", {kLong, 1});
  const Verdict verdict = cache.watch.verdict();
  BOOST_TEST(!verdict.compiled.empty());
  BOOST_TEST(contains(verdict.judged_by, "time on the clock"));
}

BOOST_AUTO_TEST_CASE(AFileInTheCacheIsACompilationWhereCompilationsWriteThem) {
  const OtherDriver driver(files_only());
  driver.write("of the program that does nothing");
  const auto write = [&] { driver.write("machine code"); };  // the file is there already, and grows
  BOOST_TEST(driver.verdict(write, kNothing).compiled ==
             "loading wrote into the driver's cache, as a compilation does");
  BOOST_TEST(contains(driver.verdict(kNothing, write).compiled, "the first launch wrote into"));
  const Verdict none = driver.verdict(kNothing, kNothing, {kLong, 1}, kLong);
  BOOST_TEST(none.compiled == "");
  BOOST_TEST(none.judged_by == "files in the driver's cache");
}

BOOST_AUTO_TEST_CASE(AFileInTheCacheTellsNothingWhereCompilationsWriteNone) {
  const OtherDriver driver({});
  BOOST_TEST(driver.verdict([&] { driver.write("a log"); }, kNothing).compiled == "");
}

BOOST_AUTO_TEST_CASE(ACompilersLibraryIsACompilation) {
  const OtherDriver driver({false, {kCompiler}, false, true});
  const Verdict none = driver.verdict(kNothing, kNothing, {kLong, 1}, kLong);
  BOOST_TEST(none.compiled == "");
  BOOST_TEST(none.judged_by == "libraries");
  void* library = nullptr;
  const auto load = [&] { library = dlopen(COMPILER_OF_THIS_TEST, RTLD_NOW | RTLD_LOCAL); };
  BOOST_TEST(driver.verdict(kNothing, load).compiled ==
             std::string("the first launch loaded ") + kCompiler + ", as a compilation does");
  BOOST_REQUIRE(library);
  // Another program's load brought it in: the clock decides.
  BOOST_TEST(contains(driver.verdict(kNothing, kNothing, {kLong, 1}).compiled, "is the limit"));
  dlclose(library);
}

BOOST_AUTO_TEST_CASE(AChildProcessIsACompilationWhereCompilationsStartThem) {
  const OtherDriver driver({false, {}, true, true});
  BOOST_TEST(driver.verdict(start_a_child, kNothing).compiled == "loading started a process, as a compilation does");
  const Verdict none = driver.verdict(kNothing, kNothing, {kLong, 1}, kLong);
  BOOST_TEST(none.compiled == "");
  BOOST_TEST(none.judged_by == "child processes");
  BOOST_TEST(OtherDriver({}).verdict(start_a_child, kNothing).compiled == "");
}

BOOST_AUTO_TEST_CASE(TheSignThatACompilationLeftIsNamed) {
  const OtherDriver driver({true, {}, true, true});
  BOOST_TEST(driver.verdict(start_a_child, kNothing).judged_by == "child processes");
}

BOOST_AUTO_TEST_CASE(ACompilationThatAlsoLeavesFilesIsJudgedByThem) {
  const OtherDriver driver({true, {kCompiler}, true, true});
  BOOST_TEST(driver.verdict(kNothing, kNothing).judged_by == "files in the driver's cache");
}

BOOST_AUTO_TEST_CASE(WithoutSignsTimesHaveLimits) {
  const OtherDriver driver({});
  const auto verdict = [&](double first_us, double steady_us, double load_us = 0, std::size_t kernels = 1) {
    return driver.verdict(kNothing, kNothing, {first_us, steady_us}, load_us, kernels).compiled;
  };
  BOOST_TEST(verdict(2999, 1000) == "");  // steady, and 2 ms for any first launch
  BOOST_TEST(verdict(3499, 1000) == "");  // half of the steady time on top
  BOOST_TEST(verdict(3600, 1000) == "the first launch took 3600 us, and 3500 us is the limit");
  BOOST_TEST(verdict(1, 1, 19999) == "");  // loading
  BOOST_TEST(verdict(1, 1, 20001) != "");
  BOOST_TEST(verdict(1, 1, 39000, 40) == "");  // half a millisecond for each further kernel
  BOOST_TEST(verdict(1, 1, 40000, 40) != "");
}

BOOST_AUTO_TEST_CASE(WhereTheCompilerRunsInTheProcessItsTimeIsJudged) {
  const OtherDriver driver({false, {}, false, true});
  const Verdict verdict = driver.verdict(kNothing, kNothing, {1, 1}, kLong);  // on the clock
  BOOST_TEST(verdict.compiled == "");
  BOOST_TEST(verdict.judged_by == "processor time");
}

BOOST_AUTO_TEST_CASE(TheSignsOfACompilationOnPurposeAreKept) {
  Signs fresh;
  fresh.files = {{"/cache/AB/program.bc", 5}};
  fresh.libraries = {"libigc.so", "libigdfcl.so"};
  fresh.ended = 3;
  fresh.processor_us = 20001;
  const Control any = control_of(fresh, "");
  BOOST_TEST(any.files);
  BOOST_TEST(!control_of(fresh, ".so").files);  // where a driver unpacks programs, which has bitcode
  const process::ScratchDirectory directory = std::move(*process::ScratchDirectory::create());
  const std::string path = directory.path() + "/control";
  BOOST_REQUIRE(write_control(path, any).ok());
  const Control read = read_control(path);
  BOOST_TEST(read.files);
  BOOST_TEST((read.libraries == fresh.libraries));
  BOOST_TEST(read.children);
  BOOST_TEST(read.in_process);
  fresh.processor_us = 19999;
  BOOST_TEST(!control_of(fresh, "").in_process);
  BOOST_TEST(!read_control(path + "-not").files);
}

BOOST_AUTO_TEST_CASE(ASignThatALoadGivesAsWellTellsNothing) {
  const Control all = {true, {kCompiler, "libother.so"}, true, true};
  Signs load;
  BOOST_TEST(without(all, load).files);
  load.files = {{"/cache/index", 1}};
  load.libraries = {kCompiler};
  load.ended = 1;
  const Control left = without(all, load);
  BOOST_TEST(!left.files);
  BOOST_TEST((left.libraries == std::set<std::string>{"libother.so"}));
  BOOST_TEST(!left.children);
  BOOST_TEST(left.in_process);
}

}  // namespace clbake::builder::test
