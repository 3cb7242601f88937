#include <clbake/os/private_directory.hpp>

#include "posix/descriptor.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <ctime>

namespace clbake::os {
namespace posix {
namespace {

Status directory_failure(const char* step, int error) {
  return {error == ENOENT ? Code::not_found : Code::io, std::string(step) + ": " + std::strerror(error)};
}

// A slash at the end would make the system follow a symbolic link.
std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Status make_with_parents(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    // If a parent cannot be created, neither can the directory inside it, which is then reported.
    const int error = ::mkdir(part.c_str(), 0700) == 0 ? 0 : errno;
    // Makes the new directory's name durable; best effort, as not every parent can be opened.
    if (error == 0) static_cast<void>(sync_directory_of(part));
    if (error != 0 && error != EEXIST && end == std::string::npos) return directory_failure("mkdir", error);
    if (end == std::string::npos) return {};
  }
}

bool others_can_write(const struct stat& info) { return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

Status check(int descriptor, bool writable) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return directory_failure("stat", errno);
  if (info.st_uid != ::geteuid()) {
    return {Code::io, "belongs to user " + std::to_string(info.st_uid) + ", not to user " +
                          std::to_string(::geteuid()) + ": not used as an overlay"};
  }
  if (others_can_write(info)) return {Code::io, "users other than its owner can write to it: not used as an overlay"};
  const bool fit = !writable || ::faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0;
  return fit ? Status() : directory_failure("cannot be written", errno);
}

Result<int> open_and_check(const std::string& path, bool create) {
  if (create) {
    const Status made = make_with_parents(path);
    if (!made) return made;
  }
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  // For a symbolic link open() fails with ENOTDIR on Linux and ELOOP on other systems; lstat() is unambiguous.
  struct stat info = {};
  const int error = errno;
  const bool link = !directory && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (link) return {Code::io, "is a symbolic link: not used as an overlay"};
  if (!directory) return directory_failure("cannot be opened", error);
  const Status fit = check(directory.get(), create);
  return fit ? Result<int>(directory.release()) : fit;
}

}  // namespace
}  // namespace posix

Result<PrivateDirectory> PrivateDirectory::open(const std::string& given, bool create) {
  std::string path = posix::without_trailing_slashes(given);
  const Result<int> descriptor = posix::open_and_check(path, create);
  if (!descriptor) return descriptor.status().within(path);
  return PrivateDirectory(std::move(path), *descriptor);
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)) {}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

std::optional<PrivateDirectory::File> PrivateDirectory::find(const std::string& name) const {
  struct stat info = {};
  if (::fstatat(static_cast<int>(handle_), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || posix::others_can_write(info)) return std::nullopt;
  return File{static_cast<std::uint64_t>(info.st_size),
              std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
              std::int64_t{std::time(nullptr)} - info.st_mtim.tv_sec};
}

Result<std::vector<std::string>> PrivateDirectory::names() const {
  // With a position of its own.
  posix::Descriptor own(::openat(static_cast<int>(handle_), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!listing) return posix::io_failure("cannot be listed", errno);
  own.release();
  std::vector<std::string> names;
  while (const dirent* item = ::readdir(listing.get())) names.emplace_back(item->d_name);
  return names;
}

Result<Mapping> PrivateDirectory::map(const std::string& name) const {
  Result<Mapping> mapping = posix::map_at(static_cast<int>(handle_), name);
  return mapping ? std::move(mapping) : mapping.status().within(name);
}

Status PrivateDirectory::write(const std::string& name, std::string_view bytes) const {
  Status status = posix::write_at(static_cast<int>(handle_), name, 0600, bytes);
  if (status) status = posix::sync_directory(static_cast<int>(handle_));
  return status.within(name);
}

void PrivateDirectory::touch(const std::string& name) const {
  ::utimensat(static_cast<int>(handle_), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void PrivateDirectory::remove(const std::string& name) const { ::unlinkat(static_cast<int>(handle_), name.c_str(), 0); }

}  // namespace clbake::os
