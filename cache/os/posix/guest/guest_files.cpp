#include <clbake/os/guest_files.hpp>

#include "posix/descriptor.hpp"
#include "posix/own_descriptor.hpp"

#include <dirent.h>
#include <sys/file.h>
#include <atomic>

namespace clbake::os {
namespace {

Status failure(const std::string& path, int error) { return {Code::io, path + ": " + std::strerror(error)}; }

int open_new(const std::string& path, int flags) {
  return posix::above_standard_streams(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600));
}

// 0 or the error.
int write_and_close(int file, std::string_view bytes) {
  const std::size_t kept = bytes.find_last_not_of('\0') + 1;
  const bool written =
      posix::write_all(file, bytes.substr(0, kept)).ok() && ::ftruncate(file, static_cast<::off_t>(bytes.size())) == 0;
  const int error = written ? 0 : errno;
  return ::close(file) != 0 && written ? errno : error;
}

}  // namespace

struct GuestFile::File {
  posix::OwnDescriptor descriptor;
};

GuestFile::GuestFile() : file_(std::make_unique<File>()) {}
GuestFile::~GuestFile() = default;

Status GuestFile::create(const std::string& path) {
  const int file = open_new(path, O_APPEND);
  if (file < 0 && errno == EEXIST) return {Code::invalid_argument, path + ": exists already"};
  if (file >= 0) static_cast<void>(::flock(file, LOCK_SH | LOCK_NB));
  path_ = path;
  return file_->descriptor.take(file) ? Status() : failure(path, errno);
}

bool GuestFile::is_open() const noexcept { return file_->descriptor.number() >= 0; }

Status GuestFile::append(std::string_view bytes) const {
  return posix::write_all(file_->descriptor.number(), bytes).within(path_);
}

void make_guest_directory(const std::string& path) { static_cast<void>(::mkdir(path.c_str(), 0700)); }

Status write_guest_file(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> number = 0;
  const std::string temporary = path + "." + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".new";
  const int file = open_new(temporary, 0);
  if (file < 0) return failure(path, errno);
  int error = write_and_close(file, bytes);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  static_cast<void>(::unlink(temporary.c_str()));
  return failure(path, error);
}

std::uint64_t room_of_files(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  std::uint64_t bytes = 0;
  while (const dirent* item = listing ? ::readdir(listing.get()) : nullptr) {
    struct stat info = {};
    const bool is_known = ::fstatat(::dirfd(listing.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_known && S_ISREG(info.st_mode)) bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

}  // namespace clbake::os
