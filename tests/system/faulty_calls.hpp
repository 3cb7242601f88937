// System calls on files that fail on demand, or are recorded, in executables that have faulty_calls.cpp among their
// sources: its definitions come before the C library's, for the product's own calls and those of the C++ library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace clbake::tests {

struct CallFault {
  std::size_t at = 0;          // the number of the call that fails; 0: the next one
  int error = 0;               // errno; 0: the call, if it is a write, writes half of its bytes, else it works
  bool and_all_after = false;  // of the same kind: "the disk is full"
};

// From now on calls of all threads are counted, and fail as told.
void fail_calls(const CallFault& fault);
// Ends that. The name of the call that failed last, such as "fsync"; null when none did.
const char* stop_failing_calls();

// Changes of a directory's files, in order.
struct FileChange {
  enum class Kind { create, write, sync, rename, unlink, sync_directory, make_directory, acknowledged };
  Kind kind = Kind::acknowledged;
  std::string path;  // absolute; of a sync_directory the directory's
  std::string to;    // of a rename
  int file = 0;      // identifies what was created, whatever its name becomes
  std::vector<std::uint8_t> bytes;
};

// From now on changes below `directory` (absolute, no symbolic links) by open (O_CREAT), write, fsync, rename, unlink
// and mkdir are recorded.
void record_changes(const std::string& directory);
// Adds Kind::acknowledged: from here on the caller was told that what came before is done.
void record_acknowledgement();
// Ends that.
std::vector<FileChange> stop_recording();

// ---- Power loss ----

// Possible contents of the disk when the power fails after the first `count` changes. Only synced bytes are sure to be
// there: the bytes of a file by its own fsync, names by that of their directory.
enum class Survival {
  synced,         // nothing else
  names,          // all names, but only synced bytes: new names for files without bytes
  random_choice,  // of the rest an arbitrary part, by `seed`
};
using Disk = std::map<std::string, std::vector<std::uint8_t>>;  // bytes by path
Disk after_power_loss(const std::vector<FileChange>& changes, std::size_t count, Survival survival, unsigned seed);

// Writes the disk's files below `from` to `to`, in place of all that is there.
void write_disk(const Disk& disk, const std::string& from, const std::string& to);

}  // namespace clbake::tests
