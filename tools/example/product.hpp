// A GEMM library, as the example needs it: product_clbake.cpp and product_clblast.cpp implement it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <string>

// C = alpha * A * transpose(B) + C in single precision; A is m x k, B n x k, C m x n, row-major and without gaps.
struct Product {
  std::size_t m, n, k;
  float alpha;
  cl_mem a, b, c;
};

class Multiplier {
 public:
  virtual ~Multiplier() = default;
  virtual std::string enqueue(const Product& product) = 0;  // "", or what went wrong
};

extern const char* const multiplier_name;
// For one queue of the device. `error` says why when there is none.
std::unique_ptr<Multiplier> make_multiplier(cl_context context, cl_device_id device, cl_command_queue queue,
                                            std::string& error);
