// Products of different sizes, one by one and as a group: `bench gemm --group`.
#pragma once

#include "cli/cli.hpp"

namespace clbake::tool {

// Prints the medians of all products one by one, waiting once at the end, and as a group, and the sum of each one's
// shortest time on the device. Throws UsageError and Failure.
int bench_group(const Cli& cli);

}  // namespace clbake::tool
