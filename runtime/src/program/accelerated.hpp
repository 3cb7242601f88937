// NVIDIA's architectures with a suffix, such as sm_90a: instructions that only this architecture has.
#pragma once

#include "opencl/cl.hpp"

#include <string>

namespace clbake {

// True when a source, or its PTX, has such an instruction.
bool needs_sm_90a(const std::string& source);

// The driver compiles a source for the plain architecture, whose assembler refuses wgmma; but it has made PTX by then.
// Of a program that could not be built for this reason: one of the same PTX for sm_90a, not built yet. Without such PTX
// no program.
cl::Program for_sm_90a(const cl::Context& context, const cl::Device& device, const cl::Program& refused);

}  // namespace clbake
