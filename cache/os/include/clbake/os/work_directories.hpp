// Directories that a program works in.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace clbake::os {

// Creates a directory of this user alone, named clbake-*, in `parent` or (when that is empty) the system's directory
// for temporary files, and returns its path. Fails with io.
Result<std::string> make_temporary_directory(const std::string& parent);

// Removes a file, or a directory and all it holds; best effort. Links in it are removed, not followed.
void remove_directory(const std::string& path);

// The right to work in a directory, until the object or its process ends. Move-only; one thread.
class DirectoryLock {
 public:
  // Creates the directory, for this user alone, when it is not there. Nothing when another process has the right. Fails
  // with io, also when the directory is another user's; messages begin with the path.
  static Result<std::optional<DirectoryLock>> take(const std::string& path);
  DirectoryLock(DirectoryLock&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

  // True for a file in the directory that is the lock's own.
  static bool is_own_file(const std::string& name);

  // Gives the right back, and removes the directory if nothing is in it.
  void remove_if_empty();

 private:
  DirectoryLock(std::string path, std::intptr_t handle);
  std::string path_;
  std::intptr_t handle_;  // a descriptor or a HANDLE; -1 where there is none any more
};

}  // namespace clbake::os
