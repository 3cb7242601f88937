// main of a test executable that needs an OpenCL device. Included once, by the executable's own source file.
#pragma once

#include "selected_devices.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdio>

namespace clbake::tests {

// Listed once.
inline const Result<std::vector<builder::Device>>& devices() {
  static const Result<std::vector<builder::Device>> found = selected_devices();
  return found;
}

}  // namespace clbake::tests

// Exit status 77, "skipped", without a device.
int main(int argc, char** argv) {
  if (!clbake::tests::devices()) {
    std::printf("skipped: %s\n", clbake::tests::devices().status().message().c_str());
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
