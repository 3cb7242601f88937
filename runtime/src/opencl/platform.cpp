#include <clbake/platform.hpp>

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

}  // namespace

const Platform& platform_named(const std::string& name) {
  const Platform* row = kPlatforms;
  while (row->id != Id::other && name != row->name) ++row;
  return *row;
}

const Platform& platform_of(const cache::Target& target) { return platform_named(target.platform_name); }

}  // namespace clbake
