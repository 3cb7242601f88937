// IEEE 754 half precision on the host: storage only, computed with as double.
#pragma once

#include <CL/cl_half.h>

namespace clbake::builder {

struct Half {
  cl_half bits = 0;
  Half() = default;
  explicit Half(double value) : bits(cl_half_from_double(value, CL_HALF_RTE)) {}
  operator double() const { return static_cast<double>(cl_half_to_float(bits)); }
};

}  // namespace clbake::builder
