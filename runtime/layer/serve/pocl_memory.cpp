#include "serve/pocl_memory.hpp"

#include "settings.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

namespace clbake::layer::serve {
namespace {

namespace fs = std::filesystem;

// The header of a program of clbake's (runtime/src/finalize/poclbin.cpp): its place begins with "ZA" to "ZP".
constexpr std::string_view kMagic("poclbin\0", 8);
constexpr std::size_t kPlaceAt = 36;
constexpr std::size_t kNameAt = kPlaceAt + 3;  // after the slash
constexpr std::size_t kPlaceBytes = 41;
constexpr char kOnDisk = 'Z';
constexpr char kInMemory = 'Y';

// True for a program of clbake's.
bool is_ours(const cache::Bytes& program) {
  return program.size() >= kPlaceAt + kPlaceBytes && std::equal(kMagic.begin(), kMagic.end(), program.begin()) &&
         program[kPlaceAt] == static_cast<std::uint8_t>(kOnDisk) && program[kPlaceAt + 1] >= 'A' &&
         program[kPlaceAt + 1] <= 'P';
}

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

std::uint64_t bytes_in(const std::string& path) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(path, error), end; !error && file != end; file.increment(error)) {
    std::error_code no_file;
    const std::uintmax_t size = file->file_size(no_file);
    if (!no_file) bytes += size;
  }
  return bytes;
}

// The directory in memory; empty if there is none to be used.
std::string memory_directory() {
  struct statvfs info = {};
  const std::string shared = "/dev/shm";
  if (!is_in_memory(shared) || ::statvfs(shared.c_str(), &info) != 0 || (info.f_flag & ST_NOEXEC) != 0) return {};
  std::string own = shared + "/clbake-" + std::to_string(::geteuid());
  return own_directory(own) && bytes_in(own) < kMostBytes ? own : std::string();
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
  static const std::string memory = settings().pocl_memory ? memory_directory() : std::string();
  if (memory.empty()) return;
  const std::string directory = cache_directory();
  if (directory.empty() || is_in_memory(directory)) return;
  const std::string name = {kInMemory, static_cast<char>(program[kPlaceAt + 1])};
  if (!link_to_memory(directory, memory, name)) return;
  program[kPlaceAt] = static_cast<std::uint8_t>(kInMemory);
  for (std::size_t i = 0; i < 16; ++i) program[kNameAt + i] = static_cast<std::uint8_t>('A' + (checksum >> 4 * i & 15));
}

}  // namespace

void place_in_memory(cache::Bytes& program, std::uint64_t checksum) noexcept {
  if (!is_ours(program)) return;
  try {
    place(program, checksum);
  } catch (...) {  // no memory for a path: the files go to the disk
  }
}

}  // namespace clbake::layer::serve
