// Names of NVIDIA's architectures.
#include "device/cuda_architecture.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {

BOOST_AUTO_TEST_CASE(TheCapabilityIsTheNumberInTheName) {
  BOOST_TEST(cuda_capability("sm_50") == 50);
  BOOST_TEST(cuda_capability("sm_121") == 121);
}

BOOST_AUTO_TEST_CASE(ASuffixIsRefusedUnlessItIsExpected) {
  for (const char* name : {"sm_90a", "sm_100f"}) BOOST_TEST(cuda_capability(name) == 0, name);
  BOOST_TEST(cuda_capability("sm_90a", true) == 90);
  BOOST_TEST(cuda_capability("sm_100f", true) == 100);
  BOOST_TEST(cuda_capability("sm_90", true) == 90);
}

BOOST_AUTO_TEST_CASE(WhatIsNoArchitectureIsZero) {
  for (const char* name : {"", "sm_", "sm_a", "sm_0", "sm_09", "sm_9x", "sm_90b", "sm_90aa", "sm_1000", "sm_-9", "90",
                           "compute_90", "gfx90a", " sm_90", "sm_90 "}) {
    BOOST_TEST(cuda_capability(name) == 0, name);
    BOOST_TEST(cuda_capability(name, true) == 0, name);
  }
}

}  // namespace clbake::builder::test
