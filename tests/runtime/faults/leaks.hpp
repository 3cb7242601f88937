// Leaks: a test on the fake driver must leave nothing behind.
#pragma once

#include "fake_opencl/fake_opencl.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace clbake::test {

inline void check_nothing_is_left() {
  BOOST_TEST(fake::leaks() == "");
  for (const std::string& complaint : fake::complaints()) BOOST_TEST_ERROR(complaint);
}

}  // namespace clbake::test
