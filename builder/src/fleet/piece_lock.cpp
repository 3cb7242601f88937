#include "fleet/piece_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clbake::builder {

Result<std::optional<PieceLock>> PieceLock::try_lock(const std::string& path) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return {Code::io, path + ": cannot open: " + std::strerror(errno)};
    PieceLock lock(path, descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(std::exchange(lock.descriptor_, -1));
      if (error == ESTALE) continue;  // removed by another machine
      if (error == EWOULDBLOCK) return std::optional<PieceLock>();
      return {Code::io, path + ": cannot lock: " + std::strerror(error)};
    }
    struct stat state {};
    if (fstat(descriptor, &state) == 0 && state.st_nlink > 0) return std::optional<PieceLock>(std::move(lock));
    close(std::exchange(lock.descriptor_, -1));  // the one that held it has just removed the file: open the next one
  }
}

PieceLock::PieceLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

PieceLock::PieceLock(PieceLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PieceLock& PieceLock::operator=(PieceLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PieceLock::~PieceLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());  // before the lock goes, so that nobody removes the next one's file
  close(descriptor_);
}

}  // namespace clbake::builder
