// The error of a call of OpenCL that leads nowhere.
#pragma once

#include <CL/cl.h>

namespace clbake {

// No driver returns it. Of a function that the table (opencl/table/table.hpp) does not have.
constexpr cl_int kNoFunction = -9100;

}  // namespace clbake
