#include <clbake/builder/platforms.hpp>

#include <algorithm>

namespace clbake::builder::process {
namespace {

using Id = PlatformId;

// Seen with Mesa 22.3 to 24.
constexpr const char* kRusticlRemark =
    "rusticl keeps SPIR-V and no machine code: its entries still compile at load, so that little is gained from "
    "baking them";

const std::vector<BuilderPlatform>& rows() {
  // id, alias, is_cpu, finish_waits, assembles, evidence, remark, caches, steady
  static const std::vector<BuilderPlatform> all = {
      // POCL_AFFINITY pins threads to cores: two of them often share one in a process's first milliseconds otherwise,
      // and a launch of a millisecond takes once or twice its time at random.
      {Id::pocl,
       "PoCL",
       true,
       true,
       false,
       Evidence::files,
       nullptr,
       {{"POCL_CACHE_DIR", ""}, {"POCL_KERNEL_CACHE", "1"}},
       {{"POCL_AFFINITY", "1"}}},
      {Id::nvidia,
       "",
       false,
       true,
       true,
       Evidence::cpu_time,
       nullptr,
       {{"CUDA_CACHE_PATH", ""}, {"CUDA_CACHE_DISABLE", "0"}},
       {}},
      {Id::amd, "", false, true, false, Evidence::wall_time, nullptr, {}, {}},
      {Id::intel_gpu,
       "NEO",
       false,
       true,
       false,
       Evidence::wall_time,
       nullptr,
       {{"NEO_CACHE_DIR", ""}, {"NEO_CACHE_PERSISTENT", "1"}},
       {}},
      {Id::intel_cpu, "", true, true, false, Evidence::cpu_time, nullptr, {}, {}},
      // finish_waits: rusticl's clFinish was seen to return before such commands had ended.
      {Id::rusticl,
       "",
       false,
       false,
       false,
       Evidence::cpu_time,
       kRusticlRemark,
       {{"MESA_SHADER_CACHE_DIR", ""}, {"MESA_SHADER_CACHE_DISABLE", "false"}},
       {}},
      {Id::oclgrind, "", true, true, false, Evidence::cpu_time, nullptr, {}, {}},
      // Other drivers, AMD's among them, keep their caches where the desktop's standard says.
      {Id::other, "", false, true, false, Evidence::wall_time, nullptr, {{"XDG_CACHE_HOME", ""}}, {}},
  };
  return all;
}

}  // namespace

const BuilderPlatform& builder_platform_of(const cache::Target& target) {
  const PlatformId id = platform_of(target).id;
  return *std::find_if(rows().begin(), rows().end(), [&](const BuilderPlatform& row) { return row.id == id; });
}

Environment driver_cache_environment(const std::string& directory) {
  Environment all;
  for (const BuilderPlatform& row : rows()) {
    for (const auto& [name, value] : row.caches) all.emplace_back(name, value.empty() ? directory : value);
  }
  return all;
}

Environment steady_environment() {
  Environment all;
  for (const BuilderPlatform& row : rows()) all.insert(all.end(), row.steady.begin(), row.steady.end());
  return all;
}

}  // namespace clbake::builder::process
