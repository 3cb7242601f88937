// One process at a time on a piece of work, also across machines where the file system has flock.
#pragma once

#include <clbake/status.hpp>

#include <optional>
#include <string>

namespace clbake::builder {

// Held as long as the object lives. The kernel releases the lock of a process that is killed.
class PieceLock {
 public:
  // Empty when another process holds it. Fails with io when the file cannot be created or locked.
  static Result<std::optional<PieceLock>> try_lock(const std::string& path);
  PieceLock(PieceLock&& other) noexcept;
  PieceLock& operator=(PieceLock&& other) noexcept;
  ~PieceLock();  // removes the file

 private:
  PieceLock(std::string path, int descriptor);
  std::string path_;
  int descriptor_;
};

}  // namespace clbake::builder
