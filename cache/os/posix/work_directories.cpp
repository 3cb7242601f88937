#include <clbake/os/paths.hpp>
#include <clbake/os/work_directories.hpp>

#include "posix/descriptor.hpp"

#include <sys/file.h>
#include <sys/stat.h>

namespace clbake::os {

Result<std::string> make_temporary_directory(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path base = parent.empty() ? std::filesystem::temp_directory_path(error) : native(parent);
  if (error) return {Code::io, "TMPDIR names no directory for temporary files: " + error.message()};
  std::string path = utf8(base / "clbake-XXXXXX");
  if (!::mkdtemp(path.data())) return posix::io_failure("cannot create", errno).within(path);
  return path;
}

void remove_directory(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(native(path), ignored);
}

Result<std::optional<DirectoryLock>> DirectoryLock::take(const std::string& path) {
  const bool is_new = ::mkdir(path.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) return posix::io_failure("cannot create", errno).within(path);
  DirectoryLock lock(path, ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int directory = static_cast<int>(lock.handle_);
  if (directory < 0) return posix::io_failure("cannot open", errno).within(path);
  struct stat info = {};
  const bool locked = ::flock(directory, LOCK_EX | LOCK_NB) == 0;
  // A link count of 0: who held the lock has just removed the directory.
  if (!locked || ::fstat(directory, &info) != 0 || info.st_nlink == 0) return std::optional<DirectoryLock>();
  if (!is_new && info.st_uid != ::geteuid()) return {Code::io, path + ": belongs to another user"};
  return std::optional<DirectoryLock>(std::move(lock));
}

DirectoryLock::DirectoryLock(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

DirectoryLock::~DirectoryLock() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

bool DirectoryLock::is_own_file(const std::string& /*name*/) { return false; }

void DirectoryLock::remove_if_empty() {
  ::rmdir(path_.c_str());
  if (handle_ >= 0) ::close(static_cast<int>(std::exchange(handle_, -1)));
}

}  // namespace clbake::os
