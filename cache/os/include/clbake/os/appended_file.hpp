// Files that grow by lines.
#pragma once

#include <clbake/os/files.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clbake::os {

// An open file to add to. Move-only. Several threads and processes may append at once: what one call writes stays in
// one piece.
class AppendedFile {
 public:
  // Creates the file when it is not there. Fails with io; messages begin with the path.
  static Result<AppendedFile> open(const std::string& path, Access access = Access::everyone);
  AppendedFile(AppendedFile&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)) {}
  AppendedFile& operator=(AppendedFile&&) = delete;
  ~AppendedFile();

  // Keeps the first `bytes`. Fails with io.
  Status truncate(std::uint64_t bytes) const;

  // In the file, for other processes, too, when it returns. Fails with io.
  Status append(std::string_view bytes) const;

 private:
  AppendedFile(std::string path, std::intptr_t handle);
  std::string path_;
  std::intptr_t handle_;  // a descriptor or a HANDLE; -1 where the object was moved from
};

// True when a process has the file open to write to it and holds it by a lock, or the file cannot be opened.
bool is_held(const std::string& path);

}  // namespace clbake::os
