#include <clbake/builder/scratch.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace clbake::builder {

Result<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(parent);
  if (error) return {Code::io, "TMPDIR names no directory for temporary files: " + error.message()};
  std::string path = (base / "clbake-XXXXXX").string();
  if (!mkdtemp(path.data())) return {Code::io, path + ": cannot create: " + std::strerror(errno)};
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::pair<std::string, std::string>> driver_cache_environment(const std::string& directory) {
  return {
      {"POCL_CACHE_DIR", directory},         // PoCL
      {"CUDA_CACHE_PATH", directory},        // NVIDIA
      {"MESA_SHADER_CACHE_DIR", directory},  // rusticl, Clover
      {"NEO_CACHE_DIR", directory},          // Intel GPUs
      {"XDG_CACHE_HOME", directory},         // drivers that fall back to it, such as AMD's
      // Overrides the user's settings that disable a cache: a measurement with a warm cache needs one.
      {"POCL_KERNEL_CACHE", "1"},
      {"CUDA_CACHE_DISABLE", "0"},
      {"MESA_SHADER_CACHE_DISABLE", "false"},
      {"NEO_CACHE_PERSISTENT", "1"},
  };
}

std::vector<std::pair<std::string, std::string>> steady_environment() { return {{"POCL_AFFINITY", "1"}}; }

}  // namespace clbake::builder
