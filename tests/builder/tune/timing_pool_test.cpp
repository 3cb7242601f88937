// Which processes time the variants of a race.
#include "tune/timing/timing_pool.hpp"

#include "tune/tune_bench.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

constexpr auto kNever = TimingPool::Clock::time_point::max();

// A bench whose device is a GPU, and the first of its points.
class GpuBench : public SmallBench {
 public:
  GpuBench() {
    options.devices[0].type = kernels::DeviceType::gpu;
    fs::create_directories(options.work);
    const std::vector<kernels::Params> all = points();
    racers.assign(all.begin(), all.begin() + 3);
  }

  // One race of them on the first shape; `deadline` begins to count once they are compiled.
  std::size_t turns(TimingPool& pool, TimingPool::Clock::time_point deadline) {
    fs::remove(shop.path("calls.log"));
    std::size_t count = 0;
    TimingPool::TurnCallbacks callbacks;
    callbacks.turn = [&](std::size_t, std::size_t, const std::vector<double>&) { ++count; };
    callbacks.failed = [](std::size_t, const std::string& cause) { BOOST_ERROR(cause); };
    callbacks.late = [](std::size_t, std::size_t, const std::string&) { return false; };
    callbacks.wanted = [](std::size_t, std::size_t, unsigned) { return true; };
    callbacks.compiled = [&] { return deadline; };
    BOOST_TEST(outcome(pool.take_turns(racers, {{square()}}, 2, callbacks, kNever)) == "ok");
    return count;
  }

  std::vector<kernels::Params> racers;
};

}  // namespace

BOOST_AUTO_TEST_CASE(ProcessesOfAGpuServeTheNextRace) {
  GpuBench bench;
  const std::atomic<bool> never{false};
  TimingPool pool(bench.options, never);
  BOOST_TEST(bench.turns(pool, kNever) == 6U);
  BOOST_TEST(calls_of(bench, "time").size() == 3U);
  BOOST_TEST(bench.turns(pool, kNever) == 6U);
  BOOST_TEST(calls_of(bench, "time").empty());
  BOOST_TEST(calls_of(bench, "next").size() == 3U);
}

// The deadline is over while all of them prepare the first shape: a new context for each would cost the next race
// seconds of its time.
BOOST_AUTO_TEST_CASE(SoDoThoseThatADeadlineInterrupts) {
  GpuBench bench;
  const std::atomic<bool> never{false};
  TimingPool pool(bench.options, never);
  BOOST_TEST(bench.turns(pool, TimingPool::Clock::now()) == 0U);
  BOOST_TEST(calls_of(bench, "time").size() == 3U);
  BOOST_TEST(bench.turns(pool, kNever) == 6U);
  BOOST_TEST(calls_of(bench, "time").empty());
  BOOST_TEST(calls_of(bench, "next").size() == 3U);
}

// On a CPU each variant has a process of its own.
BOOST_AUTO_TEST_CASE(ProcessesOfACpuServeOneVariant) {
  GpuBench bench;
  bench.options.devices[0].type = kernels::DeviceType::cpu;
  const std::atomic<bool> never{false};
  TimingPool pool(bench.options, never);
  for (const auto deadline : {TimingPool::Clock::now(), kNever}) {
    bench.turns(pool, deadline);
    BOOST_TEST(calls_of(bench, "time").size() == 3U);
    BOOST_TEST(calls_of(bench, "next").empty());
  }
}

}  // namespace clbake::builder::test
