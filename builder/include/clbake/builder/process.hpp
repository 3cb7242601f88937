// Child processes: a driver that crashes or hangs takes a child with it, never the caller.
#pragma once

#include <clbake/builder/scratch.hpp>
#include <clbake/os/child.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::process {

struct Command {
  std::vector<std::string> arguments;                            // arguments[0] is the executable's path
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of the caller's
  std::string log;                                               // file that takes stdout and stderr
  std::string directory = {};                                    // working directory; empty: the caller's
  std::string host = {};     // not empty: of a worker, which may run in a process that has run others of this host
  bool with_caller = false;  // run in the caller's process group: killing the group kills this command
};

// How a child ended.
struct Exit : os::Exit {
  Exit() = default;
  Exit(const os::Exit& exit) : os::Exit(exit) {}
  bool timed_out = false;  // killed by run_all
  bool ok() const { return os::Exit::ok() && !timed_out; }
};

// Exit statuses of a worker, of those in sysexits.h: its program computed something else than the reference
// (EX_DATAERR); a file could not be read or written (EX_IOERR), which is the disk's fault and not the driver's.
inline constexpr int kWorkerWrongExit = 65;
inline constexpr int kWorkerIoExit = 74;

// The end of a process, for a person: "killed by signal 11 (Segmentation fault)", "no end after 120 s", or, after an
// exit status, the last line of the log.
std::string describe(const Exit& exit, const Command& command, std::chrono::seconds timeout);

// The command as the system starts it, in a process group of its own unless it is `with_caller`: then the terminal's
// Ctrl-C reaches only the caller, which decides what to do, and killing the group also kills what a driver started.
os::Launch launch_of(const Command& command);

// Runs all commands, at most `parallel` at a time, and calls done(index, exit) on the calling thread as each ends.
// done may append to `commands`: those run as well. A command that takes longer than `timeout` is killed with its
// children (`with_caller`: without them); one that works, but has had less processor time than that, as other processes
// keep the machine busy, gets more, up to eight times. When `cancel` becomes true the running ones are killed and
// cancelled is returned. Fails with io when a process cannot be started.
// A command with a host runs in a child that has ended one of that host, if there is an idle one, with that one's
// environment; should it fail there, it runs once more, in a process of its own.
Status run_all(std::vector<Command>& commands, unsigned parallel, std::chrono::seconds timeout,
               const std::atomic<bool>& cancel, const std::function<void(std::size_t, const Exit&)>& done);

// The same for one command: how it ended.
Result<Exit> run(const Command& command, std::chrono::seconds timeout, const std::atomic<bool>& cancel);

// Starts this executable anew, with these arguments, in the place of this process. Returns only when it fails, with io.
Status start_anew(const std::vector<std::string>& arguments);

// ---- Worker processes: `clbake worker VERB FILES...`

// `arguments` are the worker's verb and files, the output last: what an earlier run left there is removed. `cache`
// takes the driver's caches.
Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log);

// `clbake worker serve`: a command on each line, its arguments between tabs. The worker answers each that it has done,
// and ends at the first that fails, as it would have ended had it been started for that.
inline constexpr const char* kServe = "serve";
inline constexpr const char* kDoneLine = "done";
inline constexpr const char* kLastLine = "last";  // done, and the next one needs another process

// A line of a worker's log that begins with this says what the worker tries next.
inline constexpr const char* kTriedMark = "trying ";

// The last thing that a worker said it tries, without the mark; empty: nothing. `log`: a path.
std::string last_tried(const std::string& log);

// Why a worker failed, for a person: describe(), with what it tried last when it was killed.
std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout);

// True when a worker failed for want of space: it says so (kWorkerIoExit), or the disk of its log is full.
bool is_full_disk(const Exit& exit, const Command& command);

// True when a worker ended with kWorkerWrongExit.
bool is_wrong_result(const Exit& exit);

}  // namespace clbake::builder::process
