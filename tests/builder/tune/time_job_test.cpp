// The worker that times a variant, on a real device: it times what is right, and nothing else.
#include "reference_kernel.hpp"
#include "test_device.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/os/line_channel.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>

namespace clbake::builder::test {
using namespace process;
namespace {

using tests::device;
using tests::reference_job;

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLong{60};  // never reached unless something is broken

template <typename T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

// `clbake worker time` for the reference kernel.
class Timer {
 public:
  explicit Timer(const std::string& defect, std::size_t unit = 0) : directory_(required(ScratchDirectory::create())) {
    const std::string job = directory_.path() + "/job";
    if (!write_job(job, reference_job(defect))) throw std::runtime_error("write_job");
    command_.arguments = {CLBAKE_COMMAND, "worker", "time", job, std::to_string(unit)};
    command_.environment = driver_cache_environment(directory_.path());
    command_.log = directory_.path() + "/log";
    child_.emplace(required(os::LineChannel::start(launch_of(command_))));
  }

  // Its next line, or how it ended.
  std::string next() {
    for (const auto end = Clock::now() + kLong; Clock::now() < end;) {
      if (const std::optional<std::string> line = child_->receive()) return *line;
      if (const std::optional<Exit> exit = child_->ended()) return "ended: " + describe(*exit, command_, kLong);
      os::LineChannel::wait({&*child_}, 20);
    }
    return "silent";
  }

  std::string ask(const std::string& line) {
    child_->send(line);
    return next();
  }

 private:
  ScratchDirectory directory_;
  Command command_;
  std::optional<os::LineChannel> child_;
};

std::size_t times_in(const std::string& answer) {
  BOOST_TEST(answer.rfind("us ", 0) == 0U, answer);
  return static_cast<std::size_t>(std::count(answer.begin(), answer.end(), ' '));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(ARightKernelIsTimedAsOftenAsOrdered) {
  Timer timer("");
  BOOST_REQUIRE_EQUAL(timer.next(), "ready");
  BOOST_TEST(times_in(timer.ask("single nn 70x50x30|3|0|0")) == 3U);
  BOOST_TEST(times_in(timer.ask("single nn 70x50x30|1|0|0")) == 1U);
  BOOST_TEST(times_in(timer.ask("single nn 64x64x64|50|0|0.001")) == 1U);  // over the limit: the first is the last
  BOOST_TEST(times_in(timer.ask("single nn 1x1x1|1|3000|0")) > 1U);        // until so many microseconds are over
}

BOOST_AUTO_TEST_CASE(AWrongKernelIsOutBeforeItIsTimed) {
  for (const char* defect : {"WRONG_LAST_PRODUCT", "WRONG_CORNER", "WRITES_BESIDE", "ALWAYS_ZERO"}) {
    Timer timer(defect);
    const std::string end = timer.next();
    BOOST_TEST(contains(end, "ended: "), end);
    BOOST_TEST(contains(end, "wrong result at single nn 9x11x133"), end);
  }
}

BOOST_AUTO_TEST_CASE(AKernelThatIsWrongAtATimedShapeOnlyIsOutThere) {
  Timer timer("READS_C");  // which is NaN where beta is 0, as in what is timed
  BOOST_REQUIRE_EQUAL(timer.next(), "ready");
  const std::string end = timer.ask("single nn 64x64x64|3|0|0");
  BOOST_TEST(contains(end, "wrong result at single nn 64x64x64"), end);
}

BOOST_AUTO_TEST_CASE(AKernelThatDoesNotCompileIsOut) {
  for (const char* defect : {"SYNTAX_ERROR", "NO_KERNEL"}) {
    const std::string end = Timer(defect).next();
    BOOST_TEST(contains(end, "ended: "), end);
  }
}

BOOST_AUTO_TEST_CASE(AShapeWithoutRoomIsToldAndTheNextOneIsTimed) {
  Timer timer("");
  BOOST_REQUIRE_EQUAL(timer.next(), "ready");
  const std::string answer = timer.ask("single nn 2147483647x2147483647x1|3|0|0");
  BOOST_TEST(answer == "us");
  BOOST_TEST(times_in(timer.ask("single nn 64x64x64|3|0|0")) == 3U);
}

BOOST_AUTO_TEST_CASE(WhatIsNoOrderEndsIt) {
  for (const char* line : {"", "hello", "single nn 64x64x64", "single nn 64x64|3|0|0", "single nn 64x64x64|x|0|0"}) {
    Timer timer("");
    BOOST_REQUIRE_EQUAL(timer.next(), "ready");
    const std::string end = timer.ask(line);
    BOOST_TEST(contains(end, "not an order"), end);
  }
}

BOOST_AUTO_TEST_CASE(ADeviceThatIsNotThereIsNamed) {
  const std::string end = Timer("", 1000).next();
  BOOST_TEST(contains(end, device().target.device_name), end);
}

}  // namespace clbake::builder::test
