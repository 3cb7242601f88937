// The compiling workers.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::builder {

// Worker, in a process of its own: compiles the only variant of the bundle `job` for the bundle's only target,
// finalizes it unless `plain`, and writes the same bundle with the program or programs in it (not proven) to `output`.
Status compile_job(const std::string& job, const std::string& output, bool plain);

// The same for an offline target, with its tools instead of a driver. Killing the worker's process group kills the
// compiler, too.
Status compile_offline_job(const std::string& job, const std::string& output);

}  // namespace clbake::builder
