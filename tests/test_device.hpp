// Kernels written by hand to the kernel contract (kernels/KERNELS.md), and ways to break it; for a real device.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/scratch.hpp>

#include <string>

namespace clbake::builder::test {

// The device to test on: PoCL if it is here, else the first. Without any the whole program ends as skipped (77).
// The first call points every driver's cache of this process to a directory of its own.
const Device& device();

bool on_pocl();

// A correct kernel, single precision, not transposed. `defect`, a macro of the source in handmade.cpp, breaks it:
// WRONG_LAST_PRODUCT, WRONG_CORNER, WRITES_BESIDE, WRITES_BEHIND, READS_C, READS_BESIDE_A, ALWAYS_ZERO, IGNORES_OFFSET,
// HANGS, CRASHES, NO_KERNEL, SYNTAX_ERROR.
Job handmade_job(const std::string& defect = {});

}  // namespace clbake::builder::test
