#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "opencl/cl.hpp"

#include <dlfcn.h>

namespace clbake {
namespace {

// The name by which NVIDIA's OpenCL library loads it. Loaded here already, it costs the first program nothing. Never
// closed, as the driver does not close it either.
constexpr const char* kNvvm = "libnvidia-nvvm.so.4";

Status preload_for(cl_platform_id id) {
  if (!id) return {Argument::platform, "platform is null"};
  cl_int error = CL_SUCCESS;
  const std::string name = platform_text(id, CL_PLATFORM_NAME, error);
  if (error != CL_SUCCESS) return opencl_status("clGetPlatformInfo", error);
  if (name.find("NVIDIA") == std::string::npos || dlopen(kNvvm, RTLD_NOW | RTLD_LOCAL)) return {};
  return {Code::not_found, std::string(kNvvm) + " is not in the search path of libraries"};
}

}  // namespace

Status preload(cl_platform_id platform) {
  return exceptions_to_status([&] { return preload_for(platform); });
}

}  // namespace clbake
