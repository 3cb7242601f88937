// A file of a library in a process whose program may close any descriptor and open its own files at that number.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace clbake::os::posix {

// The descriptor at 3 or above, since a program that closed its standard streams opens them anew. Closes the given one
// if it moved. -1, with errno, after a failure.
inline int above_standard_streams(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(descriptor);
  return moved;
}

// Not safe for several threads at once.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;
  ~OwnDescriptor() { close(); }

  // Takes the descriptor over. False, with errno, where there is none.
  bool take(int descriptor) noexcept {
    close();
    number_ = above_standard_streams(descriptor);
    return number_ >= 0 && ::fstat(number_, &identity_) == 0;
  }

  // -1: it has none, or the program has closed it. Asked before each use.
  int number() const noexcept {
    struct stat now = {};
    const bool is_ours =
        number_ >= 0 && ::fstat(number_, &now) == 0 && now.st_dev == identity_.st_dev && now.st_ino == identity_.st_ino;
    return is_ours ? number_ : -1;
  }

  void close() noexcept {
    if (number() >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
  struct stat identity_ = {};
};

}  // namespace clbake::os::posix
