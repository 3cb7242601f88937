#include "record/write/journal.hpp"

#include "log.hpp"
#include "record/write/json_text.hpp"

#include <clbake/cache/blake2b.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/os/guest_files.hpp>
#include <clbake/os/libraries.hpp>

#include <atomic>
#include <mutex>
#include <set>

namespace clbake::layer::record {
namespace {

constexpr int kMostJournals = 10000;  // of processes with one id, in one directory

struct State {
  std::mutex mutex;
  std::string directory;
  os::GuestFile journal;
  std::set<std::string> notes;
  std::set<std::string> stored;
  std::atomic<bool> failed = false;
};

// Never destroyed: a driver's thread may still report when the process ends.
State& state() {
  static State& only = *new State;
  return only;
}

void fail(const Status& status) {
  if (state().failed.exchange(true)) return;
  log("recording ends: " + status.message());
}

std::string executable() {
  const std::string path = os::path_of_program();
  return is_utf8(path) ? path : "";
}

// Held as long as a process may add to it, so that `clbake capture` does not remove it before.
Status create_journal(State& s) {
  os::make_guest_directory(s.directory);
  const std::string stem = s.directory + "/process-" + std::to_string(os::process_id()) + "-";
  Status status;
  for (int i = 0; i < kMostJournals; ++i) {
    status = s.journal.create(stem + std::to_string(i) + ".jsonl");
    if (status.code() != Code::invalid_argument) break;
  }
  return status;
}

// A line goes out in one piece: lines of threads and forked children stay whole. A program that closes the journal gets
// a further one.
void add_locked(State& s, const std::string& json) {
  if (s.failed) return;
  if (!s.journal.is_open()) {
    const Status created = create_journal(s);
    if (!created) return fail(created);
    add_locked(s, Object()
                      .add("clbake_recording", "1")
                      .add("executable", quoted(executable()))
                      .add("pid", std::to_string(os::process_id()))
                      .text());
  }
  const Status added = s.journal.append(json + "\n");
  if (!added) fail(added);
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

std::uint64_t stored_contents() { return os::room_of_files(state().directory + "/data"); }

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
  os::make_guest_directory(s.directory);
  os::make_guest_directory(s.directory + "/" + folder);
  const Status written = os::write_guest_file(s.directory + "/" + name, bytes);
  if (!written) {
    fail(written);
    return {};
  }
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.stored.insert(name);
  return name;
}

}  // namespace clbake::layer::record
