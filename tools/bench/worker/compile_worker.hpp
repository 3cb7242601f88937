// `bench bake`: how long the driver alone takes to compile a variant, in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// Compiles the variant of the job at `path` from source to the state in which `build` packs it, and writes to `output`
// {"build_ms", "launch_ms", "binary_ms"}: milliseconds in clBuildProgram, in the first launches of all shapes beyond
// the time of a second launch, and in the query of the binary.
Status compile_worker(const std::string& path, const std::string& output);

}  // namespace clbake::tool
