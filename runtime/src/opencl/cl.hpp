// OpenCL for the runtime's own sources. CLHPP manages the handles; its macros must not reach a public header.
#pragma once

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <clbake/status.hpp>

#include <CL/opencl.hpp>
#include <string>

namespace clbake {

// "CL_OUT_OF_RESOURCES (-5)"; "OpenCL error -9999" for numbers that the standard does not know.
std::string opencl_error(cl_int error);

// Ok for CL_SUCCESS; else a Status of code opencl, or out_of_memory for allocation failures, with a message such as
// "clCreateKernel: CL_INVALID_KERNEL_NAME (-46)".
Status opencl_status(const char* call, cl_int error);

// The error of a call that makes `object`. Of a driver that reports success and gives none: CL_INVALID_VALUE.
template <typename Object>
cl_int error_of(const Object& object, cl_int error) {
  return error == CL_SUCCESS && !object() ? CL_INVALID_VALUE : error;
}

}  // namespace clbake
