#include <clbake/builder/scratch.hpp>

#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/work_directories.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace clbake::builder::process {
namespace {

// PoCL has 1,024 bytes for a file of its cache: this directory, a hash and the name of a kernel, twice.
constexpr std::size_t kMaxPath = 700;

// Files that builds, tunings and write_file create here, and leftover scratch directories.
bool is_ours(const os::Item& item) {
  if (item.name.rfind("clbake-", 0) == 0) return item.is_directory;
  const char* parts[] = {".job", ".compiled", ".proven", ".control", ".log", ".journal"};
  if (os::DirectoryLock::is_own_file(item.name)) return true;
  return item.is_file && std::any_of(std::begin(parts), std::end(parts),
                                     [&](const char* part) { return item.name.find(part) != std::string::npos; });
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  Result<std::string> path = os::make_temporary_directory(parent);
  if (!path) return path.status();
  return ScratchDirectory(std::move(*path));
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDirectory::~ScratchDirectory() {
  if (!path_.empty()) os::remove_directory(path_);
}

Result<WorkDirectory> WorkDirectory::open(const std::string& path) {
  const std::size_t length = os::absolute_path(path).size();
  if (length > kMaxPath) {
    return {Code::io, path + ": the path is too long for the caches of drivers: " + std::to_string(length) +
                          " bytes, at most " + std::to_string(kMaxPath)};
  }
  Result<std::optional<os::DirectoryLock>> lock = os::DirectoryLock::take(path);
  if (!lock) return lock.status();
  if (!*lock) return {Code::io, path + ": another build or tuning is at work here"};
  const Result<std::vector<os::Item>> items = os::list_directory(path);
  if (!items) return items.status();
  for (const os::Item& item : *items) {
    if (!is_ours(item)) {
      return {Code::io, path + ": is needed for unfinished work, but contains a foreign file: " + item.name};
    }
  }
  return WorkDirectory(path, std::move(**lock));
}

void WorkDirectory::remove() {
  const Result<std::vector<os::Item>> items = os::list_directory(path_);
  for (const os::Item& item : items ? *items : std::vector<os::Item>()) {
    if (is_ours(item)) os::remove_directory(item.path);
  }
  remove_if_empty();
}

void WorkDirectory::remove_if_empty() { lock_.remove_if_empty(); }

}  // namespace clbake::builder::process
