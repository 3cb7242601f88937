// Variables of the environment by which compilers of OpenCL take options that no program gives. A program's digest does
// not know them, so what is compiled then must serve no other process. The runtime itself reads no environment: this is
// for the layer and for what bakes. Not installed.
#pragma once

#include <clbake/status.hpp>

#include <cstdlib>
#include <string>

namespace clbake {

inline constexpr const char* kAddedOptions[] = {
    // PoCL, Oclgrind
    "POCL_EXTRA_BUILD_FLAGS", "OCLGRIND_BUILD_OPTIONS",
    // AMD; the first and the third take the place of the program's options
    "AMD_OCL_BUILD_OPTIONS", "AMD_OCL_BUILD_OPTIONS_APPEND", "AMD_OCL_LINK_OPTIONS", "AMD_OCL_LINK_OPTIONS_APPEND",
    // Mesa's clover
    "CLOVER_EXTRA_BUILD_OPTIONS", "CLOVER_EXTRA_COMPILE_OPTIONS", "CLOVER_EXTRA_LINK_OPTIONS",
    // Intel: of graphics, and of processors
    "IGC_ExtraOCLOptions", "IGC_ExtraOCLInternalOptions", "CL_CONFIG_USE_FAST_RELAXED_MATH"};

// Fails with invalid_argument, and names the variable, if one of them is set now. Not beside setenv in another thread,
// as the drivers' own reading.
inline Status no_added_options() {
  for (const char* name : kAddedOptions) {
    if (!std::getenv(name)) continue;
    return {Argument::options, std::string(name) + " is set: options that clbake does not see; unset it"};
  }
  return {};
}

}  // namespace clbake
