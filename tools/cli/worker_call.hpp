// Runs a part of a benchmark in a child process.
#pragma once

#include "cli/json.hpp"

#include <string>
#include <vector>

namespace clbake::tool {

// Runs `clbake worker ARGUMENTS` with the driver's cache in the directory `cache` and output in the file `log`. Fails
// with what happened to the child; after three minutes it is killed.
Status call_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log);

// The result that a worker wrote. Fails with malformed.
Result<Json> read_json(const std::string& path);

}  // namespace clbake::tool
