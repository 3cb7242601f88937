#include <clbake/overlay_directory.hpp>

#include <clbake/cache/writer.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace clbake {
namespace {

Status failure(const char* step, int error) {
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
    if (error == 0) static_cast<void>(cache::sync_directory_of(part));
    if (error != 0 && error != EEXIST && end == std::string::npos) return failure("mkdir", error);
    if (end == std::string::npos) return {};
  }
}

bool others_can_write(const struct stat& info) { return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

Status check(int descriptor, bool writable) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return failure("stat", errno);
  if (info.st_uid != ::geteuid()) {
    return {Code::io, "belongs to user " + std::to_string(info.st_uid) + ", not to user " +
                          std::to_string(::geteuid()) + ": not used as an overlay"};
  }
  if (others_can_write(info)) return {Code::io, "users other than its owner can write to it: not used as an overlay"};
  const bool fit = !writable || ::faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0;
  return fit ? Status() : failure("cannot be written", errno);
}

Result<int> open_and_check(const std::string& path, bool create) {
  if (create) {
    const Status made = make_with_parents(path);
    if (!made) return made;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  // For a symbolic link open() fails with ENOTDIR on Linux and ELOOP on other systems; lstat() is unambiguous.
  struct stat info = {};
  const int error = errno;
  const bool link = descriptor < 0 && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (link) return {Code::io, "is a symbolic link: not used as an overlay"};
  if (descriptor < 0) return failure("cannot be opened", error);
  const Status fit = check(descriptor, create);
  if (fit) return descriptor;
  ::close(descriptor);
  return fit;
}

// Eviction after each write, so that an overlay stays within its size limit.

constexpr std::uint64_t kBlock = 4096;            // what a small file takes on a disk
constexpr std::int64_t kAbandonedSeconds = 3600;  // a write takes less than a second

struct File {
  std::string name;
  std::uint64_t bytes = 0;
  timespec used = {};
};

bool used_before(const File& a, const File& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

// Removes exactly `count` lower-case hexadecimal digits from the front of `text`.
bool consume_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count || text.substr(0, count).find_first_not_of("0123456789abcdef") != text.npos) return false;
  text.remove_prefix(count);
  return true;
}

// Removes the name of an entry or a rejection mark from the front of `text`.
bool consume_name(std::string_view& text) {
  if (!consume_digits(text, 32)) return false;
  std::string_view ending = ".clbake";
  if (!text.empty() && text[0] == '-') {
    text.remove_prefix(1);
    ending = consume_digits(text, 16) ? ".rejected" : "part";
  }
  if (text.substr(0, ending.size()) != ending) return false;
  text.remove_prefix(ending.size());
  return true;
}

bool is_whole_name(std::string_view text, char behind_digits) {
  return text.size() > 32 && text[32] == behind_digits && consume_name(text) && text.empty();
}

using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;

Listing list(int directory) {
  const int descriptor = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with a position of its own
  if (descriptor < 0) return {nullptr, ::closedir};
  Listing listing(::fdopendir(descriptor), ::closedir);
  if (!listing) ::close(descriptor);
  return listing;
}

// Lists the entries and marks; removes abandoned temporary files.
void list_files(const PrivateDirectory& directory, DIR* listing, std::vector<File>& files) {
  while (const dirent* item = ::readdir(listing)) {
    File file;
    file.name = item->d_name;
    const bool temporary = is_temporary_name(file.name);
    if (!temporary && !is_entry_name(file.name) && !is_mark_name(file.name)) continue;
    struct stat info = {};
    if (::fstatat(directory.descriptor(), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;  // removed meanwhile
    if (temporary) {
      if (std::time(nullptr) - info.st_mtime > kAbandonedSeconds) directory.remove(file.name);
      continue;
    }
    file.bytes = (static_cast<std::uint64_t>(info.st_size) / kBlock + 1) * kBlock;  // an empty mark counts as one block
    file.used = info.st_mtim;
    files.push_back(std::move(file));
  }
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::open(const std::string& given, bool create) {
  if (given.empty()) return {Argument::directory, "the overlay's directory is not named"};
  std::string path = without_trailing_slashes(given);
  const Result<int> descriptor = open_and_check(path, create);
  if (!descriptor) return descriptor.status().within(path);
  return PrivateDirectory(std::move(path), *descriptor);
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool PrivateDirectory::holds(const std::string& name, std::int64_t* unused_seconds) const {
  struct stat info = {};
  if (::fstatat(descriptor_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (unused_seconds) *unused_seconds = std::int64_t{std::time(nullptr)} - info.st_mtime;
  return S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && !others_can_write(info);
}

void PrivateDirectory::touch(const std::string& name) const {
  ::utimensat(descriptor_, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void PrivateDirectory::remove(const std::string& name) const { ::unlinkat(descriptor_, name.c_str(), 0); }

bool is_entry_name(const std::string& name) { return is_whole_name(name, '.'); }

bool is_mark_name(const std::string& name) { return is_whole_name(name, '-'); }

bool is_temporary_name(const std::string& name) {
  constexpr std::string_view mark = ".tmp.";
  std::string_view text = name;
  return consume_name(text) && text.substr(0, mark.size()) == mark;
}

Status evict(const PrivateDirectory& directory, std::uint64_t max_bytes, const std::string& newest) {
  const Listing listing = list(directory.descriptor());
  if (!listing) return {Code::io, directory.path() + ": cannot be listed: " + std::strerror(errno)};
  std::vector<File> files;
  list_files(directory, listing.get(), files);
  std::uint64_t total = 0;
  for (const File& file : files) total += file.bytes;
  if (total <= max_bytes) return {};
  std::sort(files.begin(), files.end(), used_before);
  for (const File& file : files) {
    if (total <= max_bytes) break;
    if (file.name == newest) continue;
    directory.remove(file.name);
    total -= file.bytes;
  }
  return {};
}

}  // namespace clbake
