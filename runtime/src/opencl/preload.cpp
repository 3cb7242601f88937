#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/platform.hpp>

#include "opencl/cl.hpp"

#include <dlfcn.h>

namespace clbake {
namespace {

// Opens the library by the name by which the driver does, so that the first program finds it loaded. Never closes it,
// as the driver does not close it either.
Status preload_for(cl_platform_id id) {
  if (!id) return {Argument::platform, "platform is null"};
  cl_int error = CL_SUCCESS;
  const std::string name = platform_text(id, CL_PLATFORM_NAME, error);
  if (error != CL_SUCCESS) return opencl_status("clGetPlatformInfo", error);
  const char* const library = platform_named(name).preloadable;
  if (!library || dlopen(library, RTLD_NOW | RTLD_LOCAL)) return {};
  return {Code::not_found, std::string(library) + " is not in the search path of libraries"};
}

}  // namespace

Status preload(cl_platform_id platform) {
  return exceptions_to_status([&] { return preload_for(platform); });
}

}  // namespace clbake
