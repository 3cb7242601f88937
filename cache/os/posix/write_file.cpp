// Atomic replacement of files.
#include "posix/descriptor.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <atomic>
#include <ctime>

namespace clbake::os {
namespace posix {
namespace {

// A new file that is removed with the object, unless it was renamed. Relative paths are resolved against `directory`,
// an open file descriptor.
class TemporaryFile {
 public:
  explicit TemporaryFile(int directory) : directory_(directory) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ >= 0) ::close(file_);
    if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
  }

  Status create_beside(const std::string& path, ::mode_t permissions) {
    static std::atomic<unsigned> serial{0};
    // A killed process that had our id may have left its file behind: then the next name is tried.
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::string name = path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(serial++);
      file_ = ::openat(directory_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
      if (file_ >= 0) {
        name_ = name;
        return {};
      }
      if (errno != EEXIST) break;
    }
    if (errno == ENOENT) return {Code::io, "the directory does not exist"};
    return io_failure("cannot create a temporary file beside it", errno);
  }

  Status write(std::string_view bytes) const { return write_all(file_, bytes); }

  Status sync_and_close() {
    if (::fsync(file_) != 0) return io_failure("fsync", errno);
    if (::close(std::exchange(file_, -1)) != 0) return io_failure("close", errno);
    return {};
  }

  Status rename_to(const std::string& path) {
    if (::renameat(directory_, name_.c_str(), directory_, path.c_str()) != 0) return io_failure("rename", errno);
    name_.clear();
    return {};
  }

 private:
  int directory_;
  int file_ = -1;
  std::string name_;  // empty: nothing to remove
};

// Removes temporary files beside `path` that are older than an hour: their writers were killed. Best effort.
void remove_abandoned(const std::string& path) {
  constexpr std::time_t kAbandonedSeconds = 3600;
  const std::string directory = directory_of(path);
  const std::string prefix = path.substr(path.rfind('/') + 1) + ".tmp.";
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  while (const dirent* item = listing ? ::readdir(listing.get()) : nullptr) {
    const std::string name = item->d_name;
    const bool ours = name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
                      name.find_first_not_of("0123456789.", prefix.size()) == std::string::npos;
    struct stat info = {};
    if (!ours || ::fstatat(::dirfd(listing.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool old = std::time(nullptr) - info.st_mtime > kAbandonedSeconds;
    if (S_ISREG(info.st_mode) && old) ::unlinkat(::dirfd(listing.get()), item->d_name, 0);
  }
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_failure("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Makes a rename durable. File systems that cannot sync a directory return EINVAL; nothing more can be done there.
Status sync_directory(int directory) {
  const int error = ::fsync(directory) == 0 ? 0 : errno;
  if (error == 0 || error == EINVAL) return {};
  return io_failure("written, but fsync of its directory failed", error);
}

Status write_at(int directory, const std::string& path, ::mode_t permissions, std::string_view bytes) {
  TemporaryFile temporary(directory);
  Status status = temporary.create_beside(path, permissions);
  if (status) status = temporary.write(bytes);
  if (status) status = temporary.sync_and_close();
  if (status) status = temporary.rename_to(path);
  return status;
}

}  // namespace posix

Status sync_directory_of(const std::string& path) {
  const posix::Descriptor directory(::open(posix::directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory)
    return posix::io_failure("written, but its directory cannot be opened to sync it", errno).within(path);
  return posix::sync_directory(directory.get()).within(path);
}

// A rename would put a file in the place of a device or a pipe, such as /dev/null.
Status check_replaceable(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return {};
  return {Code::io, path + ": exists and is not a regular file; it stays as it is"};
}

Status write_file(const std::string& path, std::string_view bytes) {
  Status status = check_replaceable(path);
  if (!status) return status;
  status = posix::write_at(AT_FDCWD, path, 0666, bytes);
  if (!status) return status.within(path);
  status = sync_directory_of(path);
  if (status) posix::remove_abandoned(path);
  return status;
}

Status write_private_file(const std::string& path, std::string_view bytes) {
  const Status status = posix::write_at(AT_FDCWD, path, 0600, bytes);
  return status ? sync_directory_of(path) : status.within(path);
}

bool remove_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }

}  // namespace clbake::os
