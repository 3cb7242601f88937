// Locks between processes.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace clbake::os {

// An open file whose bytes, there or not, stand for rights. What it holds goes with the object or its process, however
// that ends. Move-only; one thread.
class LockFile {
 public:
  // Creates the file, for this user alone, when it is not there. Fails with io; the message begins with the path.
  static Result<LockFile> open(const std::string& path);
  LockFile(LockFile&& other) noexcept : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)) {}
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  // False when another open file, of this process or another one, has the byte. Fails with io.
  Result<bool> try_lock(std::uint32_t byte) const;

  // Waits until nobody else has the byte. Fails with io.
  Status lock(std::uint32_t byte) const;

 private:
  LockFile(std::string path, std::intptr_t handle);
  std::string path_;
  std::intptr_t handle_;  // a descriptor or a HANDLE; -1 where the object was moved from
};

}  // namespace clbake::os
