// How long a driver alone takes to compile a variant, one thread, in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// Compiles the variant of the job `path` from source to the state in which `build` packs it, and writes JSON to
// `output`: milliseconds in clBuildProgram, in the first launch of each shape (less what a second one takes) and in the
// query of the binary.
Status compile_trial(const std::string& path, const std::string& output);

}  // namespace clbake::tool
