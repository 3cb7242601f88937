// The test device and buffers on it, for calls of the door.
#pragma once

#include "test_device.hpp"

#include <clbake/builder/devices.hpp>

#include <clblast.h>

#include <vector>

namespace clbake::tests {

// Session and queue of the test device; opened once.
builder::Session& session();
cl_command_queue queue();

// Buffers of single precision: A and B hold ones, C holds NaN.
struct Buffers {
  Buffers(std::size_t count_a, std::size_t count_b, std::size_t count_c);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  std::vector<float> read_c() const;

  std::size_t count;  // of C
  cl_mem a, b, c;
};

}  // namespace clbake::tests
