#include <clbake/joined.hpp>

#include "opencl/cl.hpp"

namespace clbake {
namespace {

// Names of the OpenCL 1.2 error codes that the calls used here can return.
const char* error_name(cl_int error) {
  switch (error) {
#define CLBAKE_NAME(code) \
  case code: return #code;
    CLBAKE_NAME(CL_DEVICE_NOT_FOUND)
    CLBAKE_NAME(CL_DEVICE_NOT_AVAILABLE)
    CLBAKE_NAME(CL_COMPILER_NOT_AVAILABLE)
    CLBAKE_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    CLBAKE_NAME(CL_OUT_OF_RESOURCES)
    CLBAKE_NAME(CL_OUT_OF_HOST_MEMORY)
    CLBAKE_NAME(CL_BUILD_PROGRAM_FAILURE)
    CLBAKE_NAME(CL_INVALID_VALUE)
    CLBAKE_NAME(CL_INVALID_PLATFORM)
    CLBAKE_NAME(CL_INVALID_DEVICE)
    CLBAKE_NAME(CL_INVALID_CONTEXT)
    CLBAKE_NAME(CL_INVALID_COMMAND_QUEUE)
    CLBAKE_NAME(CL_INVALID_MEM_OBJECT)
    CLBAKE_NAME(CL_INVALID_BINARY)
    CLBAKE_NAME(CL_INVALID_BUILD_OPTIONS)
    CLBAKE_NAME(CL_INVALID_PROGRAM)
    CLBAKE_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    CLBAKE_NAME(CL_INVALID_KERNEL_NAME)
    CLBAKE_NAME(CL_INVALID_KERNEL_DEFINITION)
    CLBAKE_NAME(CL_INVALID_KERNEL)
    CLBAKE_NAME(CL_INVALID_ARG_INDEX)
    CLBAKE_NAME(CL_INVALID_ARG_VALUE)
    CLBAKE_NAME(CL_INVALID_ARG_SIZE)
    CLBAKE_NAME(CL_INVALID_KERNEL_ARGS)
    CLBAKE_NAME(CL_INVALID_WORK_GROUP_SIZE)
    CLBAKE_NAME(CL_INVALID_WORK_ITEM_SIZE)
    CLBAKE_NAME(CL_INVALID_EVENT_WAIT_LIST)
    CLBAKE_NAME(CL_INVALID_EVENT)
    CLBAKE_NAME(CL_INVALID_OPERATION)
    CLBAKE_NAME(CL_INVALID_BUFFER_SIZE)
    CLBAKE_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
#undef CLBAKE_NAME
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return nullptr;
  }
}

bool is_allocation_failure(cl_int error) {
  return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES;
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info what, cl_int& error) {
  return cl::text(error, [&](std::size_t size, char* to, std::size_t* size_ret) {
    return clGetPlatformInfo(platform, what, size, to, size_ret);
  });
}

std::string opencl_error(cl_int error) {
  const char* known = error_name(error);
  const std::string number = std::to_string(error);
  return known ? joined({known, " (", number, ")"}) : "OpenCL error " + number;
}

Status opencl_status(const char* call, cl_int error) {
  if (error == CL_SUCCESS) return {};
  return {is_allocation_failure(error) ? Code::out_of_memory : Code::opencl, joined({call, ": ", opencl_error(error)}),
          error};
}

}  // namespace clbake
