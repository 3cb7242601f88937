// How long a child may take that gets much, little or no processor time.
#include "process/time_limit.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>

namespace clbake::builder::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The second, of the clock, at which a child is stopped that gets `share` of a processor until the second `idle_from`.
int stopped_after(double share, int idle_from = 1000) {
  const std::chrono::steady_clock::time_point start;
  TimeLimit limit(seconds(8), start);
  milliseconds used{0};
  for (int second = 1; second < 100; ++second) {
    if (second <= idle_from) used += milliseconds(static_cast<int>(1000 * share));
    if (limit.is_over(start + seconds(second), used)) return second;
  }
  return 100;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AChildHasItsTimeoutOfProcessorTime) {
  BOOST_TEST(stopped_after(1) == 9);
  BOOST_TEST(stopped_after(2) == 9);  // two threads
  BOOST_TEST(stopped_after(0.5) == 16);
  BOOST_TEST(stopped_after(0.25) == 32);
}

BOOST_AUTO_TEST_CASE(AChildThatGetsLittleHasEightTimesItsTimeout) { BOOST_TEST(stopped_after(0.01) == 65); }

BOOST_AUTO_TEST_CASE(AChildThatWaitsHasItsTimeout) {
  BOOST_TEST(stopped_after(0) == 9);
  BOOST_TEST(stopped_after(0.001) == 9);
}

BOOST_AUTO_TEST_CASE(AChildThatBeginsToWaitIsStoppedSoon) { BOOST_TEST(stopped_after(0.25, 16) == 18); }

}  // namespace clbake::builder::process
