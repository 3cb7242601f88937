// Evicts files after each write, so that an overlay stays within its size limit.
#include "overlay/private_directory.hpp"

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
#include <vector>

namespace clbake {
namespace {

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
    if (!consume_digits(text, 16)) return false;
    ending = ".rejected";
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
