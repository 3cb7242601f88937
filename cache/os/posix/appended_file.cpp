#include <clbake/os/appended_file.hpp>

#include "posix/descriptor.hpp"

#include <sys/file.h>

namespace clbake::os {

Result<AppendedFile> AppendedFile::open(const std::string& path, Access access) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, access == Access::user ? 0600 : 0666);
  if (file < 0) return posix::io_failure("cannot open", errno).within(path);
  return AppendedFile(path, file);
}

AppendedFile::AppendedFile(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

AppendedFile::~AppendedFile() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

Status AppendedFile::truncate(std::uint64_t bytes) const {
  const bool done = ::ftruncate(static_cast<int>(handle_), static_cast<::off_t>(bytes)) == 0;
  return done ? Status() : posix::io_failure("cannot truncate", errno).within(path_);
}

Status AppendedFile::append(std::string_view bytes) const {
  const Status written = posix::write_all(static_cast<int>(handle_), bytes);
  return written ? Status() : Status(Code::io, path_ + ": cannot " + written.message());
}

bool is_held(const std::string& path) {
  const posix::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return !file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace clbake::os
