// Names of NVIDIA's architectures.
#include <clbake/compute_capability.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake::test {

BOOST_AUTO_TEST_CASE(TheCapabilityIsTheNumberInTheName) {
  BOOST_TEST(compute_capability("sm_50") == 50);
  BOOST_TEST(compute_capability("sm_121") == 121);
}

BOOST_AUTO_TEST_CASE(ASuffixIsRefusedUnlessItIsExpected) {
  for (const char* name : {"sm_90a", "sm_100f"}) BOOST_TEST(compute_capability(name) == 0, name);
  BOOST_TEST(compute_capability("sm_90a", true) == 90);
  BOOST_TEST(compute_capability("sm_100f", true) == 100);
  BOOST_TEST(compute_capability("sm_90", true) == 90);
}

BOOST_AUTO_TEST_CASE(AnyOtherTextIsZero) {
  for (const char* name : {"", "sm_", "sm_a", "sm_0", "sm_09", "sm_9x", "sm_90b", "sm_90aa", "sm_1000", "sm_-9", "90",
                           "compute_90", "gfx90a", " sm_90", "sm_90 "}) {
    BOOST_TEST(compute_capability(name) == 0, name);
    BOOST_TEST(compute_capability(name, true) == 0, name);
  }
}

}  // namespace clbake::test
