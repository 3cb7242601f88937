// The time that variants get on fast and slow machines.
#include "tune/timing/machine_limit.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::tune {

using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_CASE(TheFastestCompilationDecides) {
  MachineLimit limit(seconds(0));
  BOOST_TEST(limit.now().count() == 180);
  limit.compiled(milliseconds(40100));
  BOOST_TEST(limit.now().count() == 401);
  limit.compiled(seconds(90));
  BOOST_TEST(limit.now().count() == 401);
  limit.compiled(milliseconds(30));
  BOOST_TEST(limit.now().count() == 20);
}

BOOST_AUTO_TEST_CASE(AGivenLimitStays) {
  MachineLimit limit(seconds(5));
  limit.compiled(seconds(40));
  BOOST_TEST(limit.now().count() == 5);
}

}  // namespace clbake::builder::tune
