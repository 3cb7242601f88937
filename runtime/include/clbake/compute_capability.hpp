// NVIDIA's names of architectures: "sm_90". For the runtime, the builder and the tools; not installed.
#pragma once

#include <string_view>

namespace clbake {

// The compute capability, 10 * major + minor: 90 of "sm_90". 0 for anything else, and for "sm_90a" or "sm_100f", whose
// code runs on that architecture only, unless `with_suffix`.
int compute_capability(std::string_view architecture, bool with_suffix = false);

}  // namespace clbake
