// Worker processes: how `clbake worker VERB FILES...` is started, and what its exit status says.
#pragma once

#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

namespace clbake::builder {

// `arguments` are the worker's verb and files, the output last: what an earlier run left there is removed. `cache`
// takes the driver's caches.
Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log);

// Whether a worker ended with kWorkerIoExit, kWorkerWrongExit, kWorkerNearMissExit.
bool is_full_disk(const Exit& exit);
bool is_wrong_result(const Exit& exit);
bool is_near_miss(const Exit& exit);

}  // namespace clbake::builder
