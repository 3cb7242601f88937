#include "release/store_files.hpp"

#include <clbake/builder/release/split.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/private_directory.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

namespace clbake::builder::release {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;

std::string lock_of(const std::string& store) { return store + "/slices.lock"; }

// The name of a temporary file of `before`, as os::write_file makes it.
bool is_temporary_of(const std::string& name, std::size_t before) {
  const std::string mark = ".tmp.";
  return name.compare(before, mark.size(), mark) == 0 &&
         name.find_first_not_of("0123456789.", before + mark.size()) == name.npos;
}

bool is_old(const std::string& path) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(os::native(path), error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

}  // namespace

Result<std::optional<os::LockFile>> take_turn(const std::string& lock_file, const std::atomic<bool>* cancel) {
  Result<os::LockFile> lock = os::LockFile::open(lock_file);
  Result<bool> taken = lock ? lock->try_lock(0) : lock.status();
  while (taken && !*taken) {
    if (cancel && *cancel) return {Code::cancelled, lock_file + ": cancelled while another writer was waited for"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    taken = lock->try_lock(0);
  }
  if (!taken) return std::optional<os::LockFile>();
  return std::optional<os::LockFile>(std::move(*lock));
}

Result<bool> write_to_store(const std::string& store, const std::string& name, cache::ByteView bytes,
                            const std::atomic<bool>* cancel, const std::function<Status()>& allowed) {
  const std::string path = store + "/" + name;
  if (const Result<os::Mapping> present = os::map_file(path)) {
    if (std::equal(present->data, present->data + present->size, bytes.data, bytes.data + bytes.size)) return false;
  }
  const auto lock = take_turn(lock_of(store), cancel);
  if (!lock) return lock.status();
  const Status may = allowed ? allowed() : Status();
  if (!may) return may;
  const Status written = cache::write_file(path, bytes);
  return written ? Result<bool>(true) : written;
}

void remove_leftovers(const std::string& store, const std::atomic<bool>* cancel) {
  const auto lock = take_turn(lock_of(store), cancel);
  const Result<std::vector<os::Item>> items = os::list_directory(store);
  if (!lock || !*lock || !items) return;
  const bool all_take_turns = os::PrivateDirectory::open(store, false).ok();
  for (const os::Item& item : *items) {
    const std::size_t slice = item.name.find(".clbake.tmp."), index = item.name.find(kIndexExtension);
    const bool of_slice = slice == kDigits && is_temporary_of(item.name, kDigits + std::string(".clbake").size());
    const bool of_index =
        index != item.name.npos && is_temporary_of(item.name, index + std::string(kIndexExtension).size());
    const bool is_dead = of_slice && all_take_turns;
    if (item.is_file && (is_dead || ((of_slice || of_index) && is_old(item.path)))) os::remove_file(item.path);
  }
}

}  // namespace clbake::builder::release
