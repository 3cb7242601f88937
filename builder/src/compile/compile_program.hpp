// An application's own program on its way into a bundle.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

// To be called before the worker's first call to a driver. On PoCL: compiles the job's program and runs its trials in a
// forked child, so that PoCL's cache directory holds a function for each work-group size in small grids, and asks PoCL,
// by an environment variable that it reads once, for those of large grids. A trial's buffers are too small for a large
// grid, and only one of two functions for a size is made in one process. On other drivers it does nothing. Fails like
// compile_program.
Status specialise_program(const Job& job);

// Compiles the job's program and makes its entries; launches every kernel at its work-group sizes before, where that
// changes the binary. `plain`: takes the driver's binary as it is. Fails with build_failed; with invalid_argument when
// a trial's arguments are not the kernel's; with wrong_result when a kernel writes outside its buffers. Messages name
// kernel and work-group size.
Result<std::vector<cache::Entry>> compile_program(const Job& job, const Device& device, const Session& session,
                                                  bool plain);

}  // namespace clbake::builder
