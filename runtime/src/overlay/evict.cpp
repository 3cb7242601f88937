#include <clbake/os/private_directory.hpp>
#include <clbake/overlay_directory.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

// Eviction after each write, so that an overlay stays within its size limit.
namespace clbake {
namespace {

constexpr std::uint64_t kBlock = 4096;            // what a small file takes on a disk
constexpr std::int64_t kAbandonedSeconds = 3600;  // a write takes less than a second

struct File {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
};

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

// The entries and marks among `names`; removes abandoned temporary files.
std::vector<File> files_among(const std::vector<std::string>& names, const os::PrivateDirectory& directory) {
  std::vector<File> files;
  for (const std::string& name : names) {
    const bool temporary = is_temporary_name(name);
    if (!temporary && !is_entry_name(name) && !is_mark_name(name)) continue;
    const std::optional<os::PrivateDirectory::File> file = directory.find(name);
    if (!file) continue;  // removed meanwhile
    if (!temporary) {
      files.push_back({name, (file->bytes / kBlock + 1) * kBlock, file->used_ns});  // an empty mark counts as one block
    } else if (file->unused_seconds > kAbandonedSeconds) {
      directory.remove(name);
    }
  }
  return files;
}

}  // namespace

bool is_entry_name(const std::string& name) { return is_whole_name(name, '.'); }

bool is_mark_name(const std::string& name) { return is_whole_name(name, '-'); }

bool is_temporary_name(const std::string& name) {
  constexpr std::string_view mark = ".tmp.";
  std::string_view text = name;
  return consume_name(text) && text.substr(0, mark.size()) == mark;
}

Status evict(const os::PrivateDirectory& directory, std::uint64_t max_bytes, const std::string& newest) {
  const Result<std::vector<std::string>> names = directory.names();
  if (!names) return names.status().within(directory.path());
  std::vector<File> files = files_among(*names, directory);
  std::uint64_t total = 0;
  for (const File& file : files) total += file.bytes;
  if (total <= max_bytes) return {};
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used_ns < b.used_ns; });
  for (const File& file : files) {
    if (total <= max_bytes) break;
    if (file.name == newest) continue;
    directory.remove(file.name);
    total -= file.bytes;
  }
  return {};
}

}  // namespace clbake
