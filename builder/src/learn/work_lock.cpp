#include "learn/turn.hpp"

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

constexpr const char* kFile = "turn";

// Byte 0 of the file is the turn, the others are places to wait. The locks belong to the open file: they go with it.
int lock(int file, off_t byte, bool wait) {
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

Status take_turn(int file) {
  int error = EAGAIN;
  for (int place = 1; (error == EAGAIN || error == EACCES) && place <= Turn::kMostWaiting; ++place) {
    error = lock(file, place, false);
  }
  if (error == EAGAIN || error == EACCES) return {Code::cancelled, "enough learners wait for their turn"};
  if (error == 0) error = lock(file, 0, true);
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

Result<Turn> Turn::wait(const std::string& overlay) {
  std::string path = overlay + "/learning";
  const Result<PrivateDirectory> directory = PrivateDirectory::open(path, true);
  if (!directory) return directory.status();
  const int file = openat(directory->descriptor(), kFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return {Code::io, path + ": cannot be written: " + std::strerror(errno)};
  Turn turn(std::move(path), file);
  const Status taken = take_turn(file);
  if (!taken) return taken.within(turn.directory());
  remove_leftovers(turn.directory());
  return turn;
}

Turn::Turn(Turn&& other) noexcept : directory_(std::move(other.directory_)), file_(std::exchange(other.file_, -1)) {}

Turn::~Turn() {
  if (file_ >= 0) close(file_);
}

}  // namespace clbake::builder::learn
