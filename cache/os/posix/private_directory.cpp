#include <clbake/os/private_directory.hpp>

#include "posix/descriptor.hpp"

#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>
#include <algorithm>
#include <ctime>

namespace clbake::os {
namespace posix {
namespace {

Status directory_failure(const char* step, int error) {
  return {error == ENOENT ? Code::not_found : Code::io, std::string(step) + ": " + std::strerror(error)};
}

// A slash or "/." at the end would make the system follow a symbolic link.
std::string without_end(std::string path) {
  const auto is_part = [&](std::size_t i) { return path[i] == '/' || (path[i] == '.' && path[i - 1] == '/'); };
  while (path.size() > 1 && is_part(path.size() - 1)) path.pop_back();
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

// `owners`: those that a directory may belong to.
Status check(const struct stat& info, const std::vector<uid_t>& owners) {
  if (std::find(owners.begin(), owners.end(), info.st_uid) == owners.end()) {
    std::string names;
    for (const uid_t owner : owners) names += (names.empty() ? "" : " or ") + std::to_string(owner);
    return {Code::io,
            "belongs to user " + std::to_string(info.st_uid) + ", not to user " + names + ": not used as an overlay"};
  }
  if (others_can_write(info)) return {Code::io, "users other than its owner can write to it: not used as an overlay"};
  return {};
}

struct Opened {
  std::intptr_t descriptor = -1;
  std::string owner;
};

Result<Opened> open_and_check(const std::string& path, const std::vector<uid_t>& owners, bool writable) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  // For a symbolic link open() fails with ENOTDIR on Linux and ELOOP on other systems; lstat() is unambiguous.
  struct stat info = {};
  const int error = errno;
  const bool link = !directory && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (link) return {Code::io, "is a symbolic link: not used as an overlay"};
  if (!directory) return directory_failure("cannot be opened", error);
  if (::fstat(directory.get(), &info) != 0) return directory_failure("stat", errno);
  const Status fit = check(info, owners);
  if (!fit) return fit;
  if (writable && ::faccessat(directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return directory_failure("cannot be written", errno);
  }
  return Opened{directory.release(), std::to_string(info.st_uid)};
}

// The number of a user, by name or number; of an empty name root's.
Result<uid_t> user_named(const std::string& name) {
  if (name.empty()) return uid_t{0};
  if (name.size() < 10 && name.find_first_not_of("0123456789") == name.npos) {
    return static_cast<uid_t>(std::stoul(name));
  }
  char room[4096];
  struct passwd user = {};
  struct passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &user, room, sizeof room, &found) == 0 && found) return user.pw_uid;
  return {Code::io, "its owner should be '" + name + "': there is no such user"};
}

}  // namespace
}  // namespace posix

Result<PrivateDirectory> PrivateDirectory::open(const std::string& given, bool create) {
  std::string path = posix::without_end(given);
  const Status made = create ? posix::make_with_parents(path) : Status();
  if (!made) return made.within(path);
  Result<posix::Opened> opened = posix::open_and_check(path, {::geteuid()}, create);
  if (!opened) return opened.status().within(path);
  return PrivateDirectory(std::move(path), opened->descriptor, std::move(opened->owner));
}

Result<PrivateDirectory> PrivateDirectory::open_shared(const std::string& given, const std::string& owner) {
  std::string path = posix::without_end(given);
  const Result<uid_t> user = posix::user_named(owner);
  if (!user) return user.status().within(path);
  Result<posix::Opened> opened =
      posix::open_and_check(path, *user == 0 ? std::vector<uid_t>{0} : std::vector<uid_t>{0, *user}, false);
  if (!opened) return opened.status().within(path);
  return PrivateDirectory(std::move(path), opened->descriptor, std::move(opened->owner));
}

PrivateDirectory::~PrivateDirectory() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

std::optional<PrivateDirectory::File> PrivateDirectory::find(const std::string& name) const {
  struct stat info = {};
  if (::fstatat(static_cast<int>(handle_), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || std::to_string(info.st_uid) != owner_ || posix::others_can_write(info)) {
    return std::nullopt;
  }
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
