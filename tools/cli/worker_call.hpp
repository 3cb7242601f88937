// How the benchmarks run a part of themselves in a child process.
#pragma once

#include "cli/json.hpp"

#include <string>
#include <vector>

namespace clbake::tool {

// `clbake worker ARGUMENTS` to its end, with the driver's cache in the directory `cache`. Fails with what happened to
// the child.
Status call_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log);

// The same, waited for exactly and without a limit: milliseconds from its start to its end. The worker has to end
// itself when its driver hangs.
Result<double> time_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log);

// What a worker left.
Result<Json> read_json(const std::string& path);

}  // namespace clbake::tool
