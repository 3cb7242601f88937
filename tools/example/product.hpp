// A GEMM library, as the example needs it: product_clbake.cpp and product_clblast.cpp implement it. All functions
// return
// "", or what went wrong.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <string>

// C = alpha * A * transpose(B) + C in single precision; A is m x k, B n x k, C m x n, row-major and without gaps.
struct Product {
  std::size_t m, n, k;
  float alpha;
  cl_mem a, b, c;
};

extern const char* const library_name;
std::string start_library(cl_context context, cl_device_id device);
void end_library();
std::string enqueue(cl_command_queue queue, const Product& product);
