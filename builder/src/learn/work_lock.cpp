#include "learn/work_lock.hpp"

#include <clbake/os/listing.hpp>
#include <clbake/os/private_directory.hpp>
#include <clbake/os/work_directories.hpp>

#include <utility>

namespace clbake::builder::learn {
namespace {

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
  const Result<std::vector<os::Item>> items = os::list_directory(directory);
  if (!items) return;
  for (const os::Item& item : *items) {
    if (item.name != kFile) os::remove_directory(item.path);
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
