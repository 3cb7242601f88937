#include <clbake/builder/scratch.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace clbake::builder::process {

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

}  // namespace clbake::builder::process
