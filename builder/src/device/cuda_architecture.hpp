// NVIDIA's names of architectures: "sm_90".
#pragma once

#include <string>

namespace clbake::builder {

// The compute capability, 10 * major + minor: 90 of "sm_90". 0 for anything else, and for "sm_90a" or "sm_100f", whose
// code runs on that architecture only, unless `with_suffix`.
int cuda_capability(const std::string& architecture, bool with_suffix = false);

}  // namespace clbake::builder
