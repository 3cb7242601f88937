#include "learn/work_lock.hpp"

#include <clbake/os/paths.hpp>
#include <clbake/os/private_directory.hpp>

#include <filesystem>
#include <utility>

namespace clbake::builder::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "lock";

// Byte 0 of the file is the lock, the others are places to wait.
Status take_lock(const os::LockFile& file) {
  Result<bool> waits = false;
  for (std::uint32_t place = 1; waits && !*waits && place <= WorkLock::kMostWaiting; ++place) {
    waits = file.try_lock(place);
  }
  if (!waits) return waits.status();
  return *waits ? file.lock(0) : Status(Code::cancelled, "enough learners wait for their turn");
}

void remove_leftovers(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(os::native(directory), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename() != kFile) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Result<WorkLock> WorkLock::take(const std::string& overlay) {
  std::string path = overlay + "/learning";
  const Result<os::PrivateDirectory> directory = os::PrivateDirectory::open(path, true);
  if (!directory) return directory.status();
  Result<os::LockFile> file = os::LockFile::open(path + "/" + kFile);
  if (!file) return file.status();
  const Status taken = take_lock(*file);
  if (!taken) return taken.code() == Code::cancelled ? taken.within(path) : taken;
  remove_leftovers(path);
  return WorkLock(std::move(path), std::move(*file));
}

}  // namespace clbake::builder::learn
