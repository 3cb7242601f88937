// One process at a time on a piece of work, also across machines where the file system has flock.
#pragma once

#include <clbake/status.hpp>

#include <memory>
#include <string>

namespace clbake::builder::fleet {

// Held as long as the object lives. The kernel releases the lock of a process that is killed.
class PieceLock {
 public:
  // Null when another process holds it. Fails with io when the file cannot be created or locked.
  static Result<std::unique_ptr<PieceLock>> try_lock(const std::string& path);
  PieceLock(const PieceLock&) = delete;
  PieceLock& operator=(const PieceLock&) = delete;
  ~PieceLock();  // removes the file

 private:
  PieceLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

}  // namespace clbake::builder::fleet
