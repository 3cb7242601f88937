// When each stage of a search ends.
#include "tune/schedule.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <vector>

namespace clbake::builder::test {
namespace {

using kernels::DeviceType;

constexpr double kBegin = 100;
constexpr double kEnd = 700;

std::vector<double> deadlines(const Schedule& schedule, std::size_t pairs) {
  std::vector<double> list = {schedule.explore(), schedule.range(), schedule.refine()};
  for (std::size_t i = 1; i < pairs; ++i) {
    list.push_back(schedule.carry_over(i));
    list.push_back(schedule.refine_other(i));
  }
  for (std::size_t i = 0; i < pairs; ++i) list.push_back(schedule.final_race(i));
  return list;
}

}  // namespace

BOOST_AUTO_TEST_CASE(StagesEndOneAfterTheOtherAndTheLastAtTheEnd) {
  for (const Strategy strategy : {Strategy::staged, Strategy::random, Strategy::exhaustive}) {
    for (const DeviceType device : {DeviceType::cpu, DeviceType::gpu}) {
      for (const std::size_t pairs : {1U, 2U, 4U}) {
        const std::vector<double> list = deadlines({strategy, device, pairs, kBegin, kEnd}, pairs);
        BOOST_TEST(list.front() > kBegin);
        for (std::size_t i = 1; i < list.size(); ++i) BOOST_TEST(list[i - 1] <= list[i] + 1e-9, i);
        BOOST_TEST(std::abs(list.back() - kEnd) < 1e-9);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(OnePairExploresForHalfOfTheTime) {
  const Schedule schedule(Strategy::staged, DeviceType::cpu, 1, kBegin, kEnd);
  BOOST_TEST(std::abs(schedule.explore() - 400) < 1e-9);
}

BOOST_AUTO_TEST_CASE(OtherPairsGetEqualPartsOfTheirTime) {
  const Schedule schedule(Strategy::staged, DeviceType::gpu, 4, kBegin, kEnd);
  const double first = schedule.refine_other(1) - schedule.refine();
  BOOST_TEST(first > 0);
  BOOST_TEST(std::abs(schedule.refine_other(2) - schedule.refine_other(1) - first) < 1e-9);
  BOOST_TEST(std::abs(schedule.refine_other(3) - schedule.refine_other(2) - first) < 1e-9);
  BOOST_TEST(std::abs(schedule.carry_over(2) - schedule.refine_other(1) - 0.6 * first) < 1e-9);
}

BOOST_AUTO_TEST_CASE(WithoutABudgetNoStageEnds) {
  for (const double deadline : deadlines({Strategy::staged, DeviceType::cpu, 3, 0, INFINITY}, 3)) {
    BOOST_TEST(std::isinf(deadline));
  }
}

BOOST_AUTO_TEST_CASE(TheClockGoesOnWhereEarlierRunsStopped) {
  const TuneClock clock(1000);
  BOOST_TEST(clock.now() >= 1000);
  BOOST_TEST((clock.at(1000) <= std::chrono::steady_clock::now()));
  BOOST_TEST((clock.at(1060) - clock.at(1000) == std::chrono::seconds(60)));
  BOOST_TEST((clock.at(INFINITY) == std::chrono::steady_clock::time_point::max()));
}

}  // namespace clbake::builder::test
