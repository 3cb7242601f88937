// Programs that use OpenCL C's built-in functions, each compiled by clang and by NVIDIA's driver, whose results agree.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::tests {

enum class Input { bits, floats, normal_floats, doubles };  // of the buffers: random, with special values
enum class Output { bytes, floats, doubles };

struct NvidiaKernel {
  std::string name;
  Input input = Input::bits;
  Output output = Output::bytes;
  double units = 0;      // units in the last place by which results may differ
  bool flushed = false;  // denormal results count as zero; so they do where units may differ
  // In their order, a letter each:
  //   o      the buffer of results
  //   x y z  buffers of input
  //   l      local memory
  //   s      a sampler
  //   S      a struct
  //   c n v  a char, an int, a float4
  // Images, compared afterwards:
  //   i w    of BGRA bytes
  //   u      of unsigned RGBA bytes
  //   j I    of one float, of one int
  //   1 3    of one and of three dimensions
  //   a A    arrays of lines and of planes
  //   b      of a buffer
  std::string arguments = "oxyz";
  std::size_t global[3] = {1024, 1, 1};
  std::size_t local[3] = {64, 1, 1};
  std::size_t offset[3] = {0, 0, 0};
};

struct NvidiaProgram {
  std::string name;
  std::string options;
  std::string text;
  std::string reference;  // for the driver, where it lacks what the text uses; empty: the same text
  std::vector<NvidiaKernel> kernels;
};

std::vector<NvidiaProgram> nvidia_programs();

}  // namespace clbake::tests
