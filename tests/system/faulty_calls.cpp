#include "system/faulty_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace {

using clbake::tests::CallFault;
using clbake::tests::FileChange;

std::atomic<bool> armed{false};
std::atomic<std::size_t> count{0};
std::atomic<const char*> failed{nullptr};
CallFault fault;

std::atomic<bool> recording{false};
std::mutex mutex;  // guards what follows
std::string root;
std::vector<FileChange> changes;
std::map<int, int> files;  // descriptor -> FileChange::file
int next_file = 1;

template <typename Function>
Function* next(Function* /*own*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// True when this call fails; errno is set then.
bool fails(const char* call) {
  if (!armed || (fault.error == 0 && std::strcmp(call, "write") != 0)) return false;
  const std::size_t number = count++;
  const bool follows = fault.and_all_after && failed && number > fault.at && std::strcmp(call, failed) == 0;
  if (number != fault.at && !follows) return false;
  failed = call;
  errno = fault.error;
  return true;
}

std::string absolute(int directory, const char* path) {
  if (path[0] == '/') return path;
  char base[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  const char* from = directory == AT_FDCWD ? "/proc/self/cwd" : link.c_str();
  const ssize_t length = ::readlink(from, base, sizeof base - 1);
  return std::string(base, length > 0 ? static_cast<std::size_t>(length) : 0) + "/" + path;
}

bool is_recorded(const std::string& path) { return path.compare(0, root.size(), root) == 0; }

void record(FileChange change) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (is_recorded(change.path)) changes.push_back(std::move(change));
}

void record_created(const std::string& path, int descriptor) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!is_recorded(path)) return;
  files[descriptor] = next_file;
  changes.push_back({FileChange::Kind::create, path, {}, next_file++, {}});
}

void record_of_file(FileChange::Kind kind, int descriptor, std::vector<std::uint8_t> bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto file = files.find(descriptor);
  if (file != files.end()) changes.push_back({kind, {}, {}, file->second, std::move(bytes)});
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  if (fails("open")) return -1;
  const int descriptor = next(&::openat, "openat")(directory, path, flags, mode);
  const int error = errno;
  if (recording && descriptor >= 0 && (flags & O_CREAT)) record_created(absolute(directory, path), descriptor);
  errno = error;
  return descriptor;
}

mode_t mode_of(int flags, va_list arguments) { return (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0; }

}  // namespace

namespace clbake::tests {

void fail_calls(const CallFault& wanted) {
  fault = wanted;
  count = 0;
  failed = nullptr;
  armed = true;
}

const char* stop_failing_calls() {
  armed = false;
  return failed;
}

void record_changes(const std::string& directory) {
  const std::lock_guard<std::mutex> lock(mutex);
  root = directory;
  changes.clear();
  files.clear();
  recording = true;
}

void record_acknowledgement() {
  const std::lock_guard<std::mutex> lock(mutex);
  changes.emplace_back();
}

std::vector<FileChange> stop_recording() {
  recording = false;
  const std::lock_guard<std::mutex> lock(mutex);
  return std::move(changes);
}

}  // namespace clbake::tests

// The C library's functions, with its signatures.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(directory, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  return fails("fopen") ? nullptr : next(&::fopen, "fopen")(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  return fails("fopen") ? nullptr : next(&::fopen64, "fopen64")(path, mode);
}

ssize_t read(int file, void* bytes, size_t size) {
  return fails("read") ? -1 : next(&::read, "read")(file, bytes, size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  const bool faulty = fails("write");
  if (faulty && fault.error != 0) return -1;
  if (faulty && size > 1) size /= 2;
  const ssize_t written = next(&::write, "write")(file, bytes, size);
  if (recording && written > 0) {
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    record_of_file(FileChange::Kind::write, file, {from, from + written});
  }
  return written;
}

int fsync(int file) {
  if (fails("fsync")) return -1;
  if (recording) {
    struct stat info = {};
    const bool directory = ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
    if (directory) {
      std::string path = absolute(file, ".");
      path.resize(path.size() - 2);
      record({FileChange::Kind::sync_directory, path, {}, 0, {}});
    } else {
      record_of_file(FileChange::Kind::sync, file, {});
    }
    return 0;  // what is not recorded as synced is lost; the disk itself need not hear of it
  }
  return next(&::fsync, "fsync")(file);
}

int close(int file) {
  if (recording) {
    const std::lock_guard<std::mutex> lock(mutex);
    files.erase(file);
  }
  const bool faulty = fails("close");
  const int error = errno;
  const int result = next(&::close, "close")(file);  // closed all the same, as the kernel does
  if (faulty) errno = error;
  return faulty ? -1 : result;
}

int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  if (fails("rename")) return -1;
  const int result = next(&::renameat, "renameat")(from_directory, from, to_directory, to);
  if (recording && result == 0) {
    record({FileChange::Kind::rename, absolute(from_directory, from), absolute(to_directory, to), 0, {}});
  }
  return result;
}

int rename(const char* from, const char* to) noexcept { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int directory, const char* path, int flags) noexcept {
  if (fails("unlink")) return -1;
  const int result = next(&::unlinkat, "unlinkat")(directory, path, flags);
  if (recording && result == 0) record({FileChange::Kind::unlink, absolute(directory, path), {}, 0, {}});
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (fails("mkdir")) return -1;
  const int result = next(&::mkdir, "mkdir")(path, mode);
  if (recording && result == 0) record({FileChange::Kind::make_directory, absolute(AT_FDCWD, path), {}, 0, {}});
  return result;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (file >= 0 && fails("mmap")) return MAP_FAILED;
  return next(&::mmap, "mmap")(address, size, protection, flags, file, offset);
}

int flock(int file, int operation) noexcept { return fails("flock") ? -1 : next(&::flock, "flock")(file, operation); }

int fstat(int file, struct stat* info) noexcept { return fails("fstat") ? -1 : next(&::fstat, "fstat")(file, info); }

int fstatat(int directory, const char* path, struct stat* info, int flags) noexcept {
  return fails("fstatat") ? -1 : next(&::fstatat, "fstatat")(directory, path, info, flags);
}

int stat(const char* path, struct stat* info) noexcept {
  return fails("stat") ? -1 : next(&::stat, "stat")(path, info);
}

int utimensat(int directory, const char* path, const struct timespec* times, int flags) noexcept {
  return fails("utimensat") ? -1 : next(&::utimensat, "utimensat")(directory, path, times, flags);
}

int faccessat(int directory, const char* path, int mode, int flags) noexcept {
  return fails("faccessat") ? -1 : next(&::faccessat, "faccessat")(directory, path, mode, flags);
}

DIR* fdopendir(int file) { return fails("fdopendir") ? nullptr : next(&::fdopendir, "fdopendir")(file); }

struct dirent* readdir(DIR* directory) {
  return fails("readdir") ? nullptr : next(&::readdir, "readdir")(directory);
}

}  // extern "C"
