// NVIDIA's architectures with a suffix, such as sm_90a: instructions that only this architecture has.
#pragma once

#include "opencl/cl.hpp"

namespace clbake {

// The driver compiles a source for the plain architecture, whose assembler refuses wgmma; but it has made PTX by then.
// If `refused`, a program that was not built for this reason, holds such PTX: the program that is built from it for
// sm_90a. Else, or when that fails, too: no program.
cl::Program built_for_sm_90a(const cl::Context& context, const cl::Device& device, const cl::Program& refused);

}  // namespace clbake
