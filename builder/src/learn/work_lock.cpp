#include "learn/work_lock.hpp"

#include <clbake/overlay_directory.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace clbake::builder::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "lock";

// Byte 0 of the file is the lock, the others are places to wait. They belong to the open file: they go with it.
int lock_byte(int file, off_t byte, bool wait) {
  struct flock region = {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  region.l_start = byte;
  region.l_len = 1;
  int result = 0;
  do {
    result = fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &region);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

Status take_lock(int file) {
  int error = EAGAIN;
  for (int place = 1; (error == EAGAIN || error == EACCES) && place <= WorkLock::kMostWaiting; ++place) {
    error = lock_byte(file, place, false);
  }
  if (error == EAGAIN || error == EACCES) return {Code::cancelled, "enough learners wait for their turn"};
  if (error == 0) error = lock_byte(file, 0, true);
  return error == 0 ? Status() : Status(Code::io, std::string("cannot be locked: ") + std::strerror(error));
}

void remove_leftovers(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename() != kFile) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Result<WorkLock> WorkLock::take(const std::string& overlay) {
  std::string path = overlay + "/learning";
  const Result<PrivateDirectory> directory = PrivateDirectory::open(path, true);
  if (!directory) return directory.status();
  const int file = openat(directory->descriptor(), kFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return {Code::io, path + ": cannot be written: " + std::strerror(errno)};
  WorkLock lock(std::move(path), file);
  const Status taken = take_lock(file);
  if (!taken) return taken.within(lock.directory());
  remove_leftovers(lock.directory());
  return lock;
}

WorkLock::WorkLock(WorkLock&& other) noexcept
    : directory_(std::move(other.directory_)), file_(std::exchange(other.file_, -1)) {}

WorkLock::~WorkLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace clbake::builder::learn
