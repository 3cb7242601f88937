#include "fleet/piece_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace clbake::builder::fleet {

Result<std::unique_ptr<PieceLock>> PieceLock::try_lock(const std::string& path) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return {Code::io, path + ": cannot open: " + std::strerror(errno)};
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      struct stat state {};
      if (fstat(descriptor, &state) == 0 && state.st_nlink > 0) {
        return std::unique_ptr<PieceLock>(new PieceLock(path, descriptor));
      }
      close(descriptor);  // its holder has just removed the file: open the next one
      continue;
    }
    const int error = errno;
    close(descriptor);
    if (error == EWOULDBLOCK) return std::unique_ptr<PieceLock>();
    if (error != ESTALE) return {Code::io, path + ": cannot lock: " + std::strerror(error)};  // ESTALE: just removed
  }
}

PieceLock::~PieceLock() {
  unlink(path_.c_str());  // before the lock goes, so that nobody removes the next one's file
  close(descriptor_);
}

}  // namespace clbake::builder::fleet
