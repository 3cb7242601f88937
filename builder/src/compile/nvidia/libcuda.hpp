// NVIDIA's driver library, libcuda, as an assembler.
#pragma once

#include "compile/nvidia/cubin.hpp"

namespace clbake::builder {

// Assembles for the device's own compute capability, `capability` = 10 * major + minor. Does not look at what comes
// out. Fails with no_device (no driver, or no such device) or build_failed.
Result<Cubin> link_with_libcuda(const std::string& ptx, int capability);

}  // namespace clbake::builder
