#include <clbake/platform.hpp>

#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "opencl/cl.hpp"

#include <dlfcn.h>

namespace clbake {
namespace {

using Id = PlatformId;
using A = Architecture;
using B = Binaries;

// The last row stands for all other names.
constexpr Platform kPlatforms[] = {
    // name, id, binaries, architecture, loads_older_code, needs_events, unpacks_programs, preloadable
    {"Portable Computing Language", Id::pocl, B::functions, A::llvm_cpu, false, true, true, nullptr},
    {"NVIDIA CUDA", Id::nvidia, B::intermediate, A::compute_capability, true, false, false, "libnvidia-nvvm.so.4"},
    {"AMD Accelerated Parallel Processing", Id::amd, B::after_launches, A::gfx_name, false, true, false, nullptr},
    {"Intel(R) OpenCL HD Graphics", Id::intel_gpu, B::after_launches, A::none, false, true, false, nullptr},
    {"Intel(R) OpenCL Graphics", Id::intel_gpu, B::after_launches, A::none, false, true, false, nullptr},
    {"Intel(R) OpenCL", Id::intel_cpu, B::after_launches, A::none, false, true, false, nullptr},
    {"rusticl", Id::rusticl, B::intermediate, A::none, false, true, false, nullptr},
    {"Oclgrind", Id::oclgrind, B::after_launches, A::none, false, true, false, nullptr},
    {"", Id::other, B::after_launches, A::gfx_name, false, true, false, nullptr},
};

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

const Platform& platform_named(const std::string& name) {
  const Platform* row = kPlatforms;
  while (row->id != Id::other && name != row->name) ++row;
  return *row;
}

const Platform& platform_of(const cache::Target& target) { return platform_named(target.platform_name); }

Status preload(cl_platform_id platform) {
  return exceptions_to_status([&] { return preload_for(platform); });
}

}  // namespace clbake
