#include <clbake/builder/scratch.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
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
  const std::string name = path.filename().string();
  if (name.rfind("clbake-", 0) == 0) return fs::is_directory(path);
  const char* parts[] = {".job", ".compiled", ".proven", ".control", ".log", ".journal"};
  return fs::is_regular_file(path) && std::any_of(std::begin(parts), std::end(parts), [&](const char* part) {
           return name.find(part) != std::string::npos;
         });
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::error_code error;
  const fs::path base = parent.empty() ? fs::temp_directory_path(error) : fs::path(parent);
  if (error) return {Code::io, "TMPDIR names no directory for temporary files: " + error.message()};
  std::string path = (base / "clbake-XXXXXX").string();
  if (!mkdtemp(path.data())) return {Code::io, path + ": cannot create: " + std::strerror(errno)};
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<WorkDirectory> WorkDirectory::open(const std::string& path) {
  std::error_code ignored;
  const std::size_t length = fs::absolute(path, ignored).string().size();
  if (length > kMaxPath) {
    return {Code::io, path + ": the path is too long for the caches of drivers: " + std::to_string(length) +
                          " bytes, at most " + std::to_string(kMaxPath)};
  }
  const bool is_new = ::mkdir(path.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) {
    return {Code::io, path + ": cannot create: " + std::strerror(errno)};
  }
  WorkDirectory directory(path, ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.descriptor_ < 0) return {Code::io, path + ": cannot open: " + std::strerror(errno)};
  struct stat state {};
  const bool locked = flock(directory.descriptor_, LOCK_EX | LOCK_NB) == 0;
  // A link count of 0: the build that held the lock has just removed the directory.
  if (!locked || fstat(directory.descriptor_, &state) != 0 || state.st_nlink == 0) {
    return {Code::io, path + ": another build or tuning is at work here"};
  }
  // Finished programs in here go into the bundle as it is.
  if (!is_new && state.st_uid != ::geteuid()) return {Code::io, path + ": belongs to another user"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (!is_ours(entry.path())) {
      return {Code::io, path + ": is needed for unfinished work, but contains a foreign file: " +
                            entry.path().filename().string()};
    }
  }
  return directory;
}

WorkDirectory::WorkDirectory(WorkDirectory&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

WorkDirectory::~WorkDirectory() {
  if (descriptor_ >= 0) close(descriptor_);
}

void WorkDirectory::remove() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    std::error_code ignored;
    if (is_ours(entry.path())) fs::remove_all(entry.path(), ignored);
  }
  remove_if_empty();
}

void WorkDirectory::remove_if_empty() const {
  std::error_code ignored;
  fs::remove(path_, ignored);  // refuses while something is left in it
}

}  // namespace clbake::builder::process
