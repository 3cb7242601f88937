// The compiling worker.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::builder {

// Worker, in a process of its own: compiles the only variant of the bundle `job` for the bundle's only target,
// finalizes it unless `plain`, and writes the same bundle with the program or programs in it (not proven) to `output`.
Status compile_job(const std::string& job, const std::string& output, bool plain);

}  // namespace clbake::builder
