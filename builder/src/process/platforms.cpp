#include <clbake/builder/platforms.hpp>

#include <algorithm>

namespace clbake::builder::process {
namespace {

using Id = PlatformId;

const std::vector<BuilderPlatform>& rows() {
  // id, caches, alias, is_cpu, finish_waits, assembles, serves_many
  static const std::vector<BuilderPlatform> all = {
      {Id::pocl, {{"POCL_CACHE_DIR", ""}, {"POCL_KERNEL_CACHE", "1"}}, "PoCL", true, true, false, true},
      {Id::nvidia, {{"CUDA_CACHE_PATH", ""}, {"CUDA_CACHE_DISABLE", "0"}}, "", false, true, true, true},
      {Id::amd, {{"XDG_CACHE_HOME", ""}}},
      {Id::intel_gpu, {{"NEO_CACHE_DIR", ""}, {"NEO_CACHE_PERSISTENT", "1"}}, "NEO"},
      {Id::intel_cpu, {}, "", true},
      // finish_waits: rusticl's clFinish was seen to return before such commands had ended.
      {Id::rusticl, {{"MESA_SHADER_CACHE_DIR", ""}, {"MESA_SHADER_CACHE_DISABLE", "false"}}, "", false, false},
      {Id::oclgrind, {}, "", true},
      // Other drivers keep their caches where the desktop's standard says.
      {Id::other, {{"XDG_CACHE_HOME", ""}}},
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

// PoCL's threads are pinned to cores: two of them often share one in a process's first milliseconds otherwise, and a
// launch of a millisecond takes once or twice its time at random.
Environment steady_environment() { return {{"POCL_AFFINITY", "1"}}; }

}  // namespace clbake::builder::process
