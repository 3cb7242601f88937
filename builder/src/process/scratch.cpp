#include <clbake/builder/scratch.hpp>

#include <clbake/os/paths.hpp>
#include <clbake/os/work_directories.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace clbake::builder::process {
namespace {

namespace fs = std::filesystem;

// PoCL has 1,024 bytes for a file of its cache: this directory, a hash and the name of a kernel, twice.
constexpr std::size_t kMaxPath = 700;

// Files that builds, tunings and write_file create here, and leftover scratch directories.
bool is_ours(const fs::path& path) {
  const std::string name = os::utf8(path.filename());
  if (name.rfind("clbake-", 0) == 0) return fs::is_directory(path);
  const char* parts[] = {".job", ".compiled", ".proven", ".control", ".log", ".journal"};
  if (os::DirectoryLock::is_own_file(name)) return true;
  return fs::is_regular_file(path) && std::any_of(std::begin(parts), std::end(parts), [&](const char* part) {
           return name.find(part) != std::string::npos;
         });
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
  std::error_code ignored;
  const std::size_t length = os::utf8(fs::absolute(os::native(path), ignored)).size();
  if (length > kMaxPath) {
    return {Code::io, path + ": the path is too long for the caches of drivers: " + std::to_string(length) +
                          " bytes, at most " + std::to_string(kMaxPath)};
  }
  Result<std::optional<os::DirectoryLock>> lock = os::DirectoryLock::take(path);
  if (!lock) return lock.status();
  if (!*lock) return {Code::io, path + ": another build or tuning is at work here"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(os::native(path), error)) {
    if (!is_ours(entry.path())) {
      return {Code::io, path + ": is needed for unfinished work, but contains a foreign file: " +
                            os::utf8(entry.path().filename())};
    }
  }
  return WorkDirectory(path, std::move(**lock));
}

void WorkDirectory::remove() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(os::native(path_), error)) {
    std::error_code ignored;
    if (is_ours(entry.path())) fs::remove_all(entry.path(), ignored);
  }
  remove_if_empty();
}

void WorkDirectory::remove_if_empty() { lock_.remove_if_empty(); }

}  // namespace clbake::builder::process
