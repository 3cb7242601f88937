// Worker processes: how `clbake worker VERB FILES...` is started, and what its exit status says.
#pragma once

#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

namespace clbake::builder::process {

// `arguments` are the worker's verb and files, the output last: what an earlier run left there is removed. `cache`
// takes the driver's caches.
Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log);

// A line of a worker's log that begins with this says what the worker tries next.
inline constexpr const char* kTriedMark = "trying ";

// Why a worker failed, for a person: describe(), with what it tried last when it was killed.
std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout);

// True when a worker failed for want of space: it says so (kWorkerIoExit), or the disk of its log is full.
bool is_full_disk(const Exit& exit, const Command& command);

// True when a worker ended with kWorkerWrongExit.
bool is_wrong_result(const Exit& exit);

}  // namespace clbake::builder::process
