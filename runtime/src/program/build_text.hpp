// Programs that are no plain source: linked ones, SPIR-V, sources with headers.
#pragma once

#include "program/program.hpp"

#include <string>

namespace clbake {

// The built program of an encoded text (program_text.hpp) whose options are given: of clBuildProgram, or of
// clLinkProgram for a linked program. `more_options` are added where something is compiled. Fails with build_failed,
// unsupported_version (the driver takes no SPIR-V), malformed, opencl or out_of_memory.
Result<cl::Program> build_text(const cl::Context& context, const cl::Device& device, const std::string& encoded,
                               const std::string& options, const std::string& more_options);

}  // namespace clbake
