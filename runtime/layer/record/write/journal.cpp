#include "record/write/journal.hpp"

#include "log.hpp"
#include "posix/own_descriptor.hpp"
#include "record/write/json_text.hpp"

#include <clbake/cache/blake2b.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

namespace clbake::layer::record {
namespace {

constexpr int kMostJournals = 10000;  // of processes with one id, in one directory

struct State {
  std::mutex mutex;
  std::string directory;
  os::posix::OwnDescriptor journal;
  std::set<std::string> notes;
  std::set<std::string> stored;
  std::atomic<bool> failed = false;
};

// Never destroyed: a driver's thread may still report when the process ends.
State& state() {
  static State& only = *new State;
  return only;
}

void fail(const std::string& path, int error) {
  if (state().failed.exchange(true)) return;
  log("recording ends: " + path + ": " + std::strerror(error));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string executable() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string text(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return is_utf8(text) ? text : "";
}

// At 3 or above: see above_standard_streams.
int open_file(const std::string& path, int flags) {
  return os::posix::above_standard_streams(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600));
}

// With a lock that lasts as long as a process may add to it, so that `clbake capture` does not remove it before.
int open_new(const std::string& directory) {
  const std::string stem = directory + "/process-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < kMostJournals; ++i) {
    const std::string path = stem + std::to_string(i) + ".jsonl";
    const int file = open_file(path, O_APPEND);
    if (file >= 0) static_cast<void>(::flock(file, LOCK_SH | LOCK_NB));
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// A line goes out in one piece: lines of threads and forked children stay whole. A program that closes the journal gets
// a further one.
void add_locked(State& s, const std::string& json) {
  if (s.failed) return;
  if (s.journal.number() < 0) {
    static_cast<void>(::mkdir(s.directory.c_str(), 0700));
    if (!s.journal.take(open_new(s.directory))) return fail(s.directory, errno);
    add_locked(s, Object()
                      .add("clbake_recording", "1")
                      .add("executable", quoted(executable()))
                      .add("pid", std::to_string(::getpid()))
                      .text());
  }
  if (!write_all(s.journal.number(), json + "\n")) fail(s.directory, errno);
}

// The file appears whole or not at all. Zeros at its end take no room on the disk.
bool write_new(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> number = 0;
  const std::string temporary = path + "." + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".new";
  const int file = open_file(temporary, 0);
  if (file < 0) return false;
  const std::size_t kept = bytes.find_last_not_of('\0') + 1;
  const bool written =
      write_all(file, bytes.substr(0, kept)) && ::ftruncate(file, static_cast<off_t>(bytes.size())) == 0;
  const int error = errno;
  const bool closed = ::close(file) == 0;
  if (written && closed && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (!written) errno = error;
  const int cause = errno;
  static_cast<void>(::unlink(temporary.c_str()));
  errno = cause;
  return false;
}

}  // namespace

void open_journal(const std::string& directory) { state().directory = directory; }

bool has_failed() { return state().failed; }

void add_line(const std::string& json) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  add_locked(s, json);
}

void note(const std::string& text) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (!s.notes.insert(text).second) return;
  if (is_utf8(text)) add_locked(s, Object().add("note", quoted(text)).text());
}

std::uint64_t stored_contents() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir((state().directory + "/data").c_str()), ::closedir);
  std::uint64_t bytes = 0;
  while (const dirent* item = listing ? ::readdir(listing.get()) : nullptr) {
    struct stat info = {};
    const bool is_known = ::fstatat(::dirfd(listing.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_known && S_ISREG(info.st_mode)) bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

std::string digest_text(std::string_view bytes) {
  const auto digest = cache::blake2b_256({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return hex(digest.data(), 16);
}

std::string store(const char* folder, const char* ending, std::string_view bytes) {
  State& s = state();
  if (s.failed) return {};
  const std::string name = std::string(folder) + "/" + digest_text(bytes) + ending;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    if (s.stored.count(name) != 0) return name;
  }
  static_cast<void>(::mkdir(s.directory.c_str(), 0700));
  static_cast<void>(::mkdir((s.directory + "/" + folder).c_str(), 0700));
  const std::string path = s.directory + "/" + name;
  if (!write_new(path, bytes)) {
    fail(path, errno);
    return {};
  }
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.stored.insert(name);
  return name;
}

}  // namespace clbake::layer::record
