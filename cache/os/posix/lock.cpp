#include <clbake/os/lock.hpp>

#include "posix/descriptor.hpp"

namespace clbake::os {
namespace {

// 0 or the error. These locks belong to the open file.
int lock_byte(std::intptr_t file, std::uint32_t byte, int command) {
  struct flock region = {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  region.l_start = byte;
  region.l_len = 1;
  int result = 0;
  do {
    result = ::fcntl(static_cast<int>(file), command, &region);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

Result<LockFile> LockFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return posix::io_failure("cannot be written", errno).within(path);
  return LockFile(path, file);
}

LockFile::LockFile(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

LockFile::~LockFile() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

Result<bool> LockFile::try_lock(std::uint32_t byte) const {
  const int error = lock_byte(handle_, byte, F_OFD_SETLK);
  if (error == 0) return true;
  if (error == EAGAIN || error == EACCES) return false;
  return posix::io_failure("cannot be locked", error).within(path_);
}

Status LockFile::lock(std::uint32_t byte) const {
  const int error = lock_byte(handle_, byte, F_OFD_SETLKW);
  return error == 0 ? Status() : posix::io_failure("cannot be locked", error).within(path_);
}

}  // namespace clbake::os
