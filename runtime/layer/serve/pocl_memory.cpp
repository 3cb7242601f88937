#include "serve/pocl_memory.hpp"

#include "finalize/poclbin.hpp"
#include "settings.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace clbake::layer::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameAt = kPoclPlaceAt + 3;  // after the slash
constexpr char kInMemory = 'Y';

constexpr std::uint64_t kMostPrograms = 512;
constexpr std::uint64_t kInodes = 10000;  // more than a program takes
constexpr std::chrono::hours kUnused{7 * 24};

bool is_in_memory(const std::string& path) {
  struct statfs info = {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC;
}

// PoCL's cache directory, as it finds it; empty if there is none.
std::string cache_directory() {
  const auto variable = [](const char* name) {
    const char* const value = ::secure_getenv(name);
    return std::string(value ? value : "");
  };
  const std::string own = variable("POCL_CACHE_DIR"), caches = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!own.empty()) return own;
  if (!caches.empty()) return caches + "/pocl/kcache";
  return home.empty() ? home : home + "/.cache/pocl/kcache";
}

// A directory that only this user can look into; made if it is not there.
bool own_directory(const std::string& path) {
  static_cast<void>(::mkdir(path.c_str(), 0700));
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Directories in a directory of tmpfs, which counts them as its links.
std::uint64_t directories_in(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && info.st_nlink > 2 ? info.st_nlink - 2 : 0;
}

// Programs that lie in memory.
std::uint64_t programs_in(const std::string& memory) {
  std::uint64_t programs = 0;
  for (char letter = 'A'; letter <= 'P'; ++letter) programs += directories_in(memory + "/" + kInMemory + letter);
  return programs;
}

// Removes the programs that nobody has loaded for long: place() sets their time.
void drop_unused(const std::string& memory) {
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  for (char letter = 'A'; letter <= 'P'; ++letter) {
    std::error_code end;
    for (fs::directory_iterator it(memory + "/" + kInMemory + letter, end), last; !end && it != last;
         it.increment(end)) {
      const auto used = it->last_write_time(error);
      if (!error && now - used > kUnused) fs::remove_all(it->path(), error);
    }
  }
}

// True when a program of these bytes has room: PoCL ends the process where a file cannot be written. Machine code that
// PoCL makes for further launches comes on top, and half of the memory is left to others.
bool has_room(const std::string& memory, std::uint64_t bytes) {
  struct statvfs info = {};
  if (::statvfs(memory.c_str(), &info) != 0 || (info.f_flag & ST_NOEXEC) != 0) return false;
  const std::uint64_t left = std::uint64_t{info.f_bavail} * info.f_frsize, all = info.f_blocks * info.f_frsize;
  const bool has_inodes = info.f_files == 0 || info.f_favail > kInodes;  // 0: without limit
  return left >= all / 2 + 4 * bytes && has_inodes && programs_in(memory) < kMostPrograms;
}

// The directory in memory; empty if there is none with room.
std::string memory_directory(std::uint64_t bytes) {
  const std::string shared = "/dev/shm";
  if (!is_in_memory(shared)) return {};
  std::string own = shared + "/clbake-" + std::to_string(::geteuid());
  if (!own_directory(own)) return {};
  if (!has_room(own, bytes)) drop_unused(own);
  return has_room(own, bytes) ? own : std::string();
}

// Makes DIRECTORY/NAME lead to MEMORY/NAME.
bool link_to_memory(const std::string& directory, const std::string& memory, const std::string& name) {
  const std::string target = memory + "/" + name, link = directory + "/" + name;
  if (!own_directory(target)) return false;
  static_cast<void>(::symlink(target.c_str(), link.c_str()));
  std::error_code error;
  return fs::read_symlink(link, error) == target && !error;
}

void place(cache::Bytes& program, std::uint64_t checksum) {
  if (!settings().pocl_memory) return;
  const std::string directory = cache_directory();
  if (directory.empty() || is_in_memory(directory)) return;
  const std::string memory = memory_directory(program.size());
  if (memory.empty()) return;
  const std::string name = {kInMemory, static_cast<char>(program[kPoclPlaceAt + 1])};
  if (!link_to_memory(directory, memory, name)) return;
  program[kPoclPlaceAt] = static_cast<std::uint8_t>(kInMemory);
  for (std::size_t i = 0; i < 16; ++i) program[kNameAt + i] = static_cast<std::uint8_t>('A' + (checksum >> 4 * i & 15));
  const char* const place = reinterpret_cast<const char*>(&program[kPoclPlaceAt]);
  const std::string files = memory + "/" + std::string(place, strnlen(place, kPoclPlaceBytes));
  static_cast<void>(::utimensat(AT_FDCWD, files.c_str(), nullptr, 0));  // used now
}

}  // namespace

void place_in_memory(cache::Bytes& program, std::uint64_t checksum) noexcept {
  if (!is_slim_poclbin({program.data(), program.size()})) return;
  try {
    place(program, checksum);
  } catch (...) {  // no memory for a path: the files go to the disk
  }
}

}  // namespace clbake::layer::serve
