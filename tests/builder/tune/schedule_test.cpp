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
  list.push_back(schedule.final_races());
  return list;
}

// How long each race has for its turns, if it compiles for so many seconds.
std::vector<double> seconds_of_races(double seconds, const std::vector<double>& compiling) {
  std::vector<double> list;
  double now = kBegin;
  for (std::size_t i = 0; i < compiling.size(); ++i) {
    now += compiling[i];
    const double deadline = race_deadline(now, {kBegin + seconds, compiling.size() - i}, compiling[i]);
    list.push_back(deadline - now);
    now = deadline;
  }
  BOOST_TEST(now <= kBegin + seconds + 1e-9);
  return list;
}

}  // namespace

BOOST_AUTO_TEST_CASE(RacesHaveSomeOfBothListsOfShapes) {
  using Shapes = std::vector<std::uint32_t>;
  BOOST_TEST((in_turn({1, 2, 3}, {7, 8}) == Shapes{1, 7, 2, 8, 3}));
  BOOST_TEST((in_turn({1}, {7, 8, 9}) == Shapes{1, 7, 8, 9}));
  BOOST_TEST((in_turn({}, {7}) == Shapes{7}));
}

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

BOOST_AUTO_TEST_CASE(OnAGpuTheFinalRacesGetMostOfAllStages) {
  for (const std::size_t pairs : {1U, 4U}) {
    const Schedule schedule(Strategy::staged, DeviceType::gpu, pairs, kBegin, kEnd);
    const double begin = pairs == 1 ? schedule.refine() : schedule.refine_other(pairs - 1);
    BOOST_TEST(std::abs(schedule.final_races() - begin - 0.45 * (kEnd - kBegin)) < 1e-9);
    BOOST_TEST(begin - schedule.refine() < schedule.final_races() - begin);
  }
}

BOOST_AUTO_TEST_CASE(FinalRacesHaveTurnsForEquallyLong) {
  for (const double seconds : seconds_of_races(40, {0, 0, 0, 0})) BOOST_TEST(std::abs(seconds - 10) < 1e-9);
  for (const double seconds : seconds_of_races(40, {3, 3, 3, 3})) BOOST_TEST(std::abs(seconds - 7) < 1e-9);
}

BOOST_AUTO_TEST_CASE(ARaceThatCompilesForLongTakesFromAllLaterOnes) {
  const std::vector<double> seconds = seconds_of_races(60, {1, 12, 1, 1});
  for (const double s : seconds) BOOST_TEST(s > 5);
  BOOST_TEST(std::abs(seconds[2] - seconds[3]) < 1e-9);
}

// However long compiling takes, half of what is left is for turns.
BOOST_AUTO_TEST_CASE(EveryRaceThatIsCompiledInTimeHasTurns) {
  for (const double s : seconds_of_races(40, {6, 6, 6, 6})) BOOST_TEST(s > 1);
  for (const double s : seconds_of_races(40, {20, 2, 2, 2})) BOOST_TEST(s > 1);
  BOOST_TEST(race_deadline(kEnd + 5, {kEnd, 2}, 3) == kEnd + 5);
}

BOOST_AUTO_TEST_CASE(WithoutABudgetNoRaceEnds) {
  BOOST_TEST(std::isinf(race_deadline(kBegin, {INFINITY, 3}, 1)));
  BOOST_TEST(std::isinf(race_deadline(kBegin, {INFINITY, 1}, 1)));
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
