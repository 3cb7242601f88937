// reference.cl as a variant, correct or with a defect.
#pragma once

#include <clbake/builder/jobs.hpp>

#include <string>

namespace clbake::tests {

kernels::Kernel reference_kernel(Precision precision, bool trans_a, bool trans_b);

// For test_device.hpp's device, single precision, not transposed. `defect` breaks the kernel, by an edit of its source
// that reference_kernel.cpp lists: WRONG_LAST_PRODUCT, WRONG_CORNER, WRITES_BESIDE, WRITES_BEHIND, READS_C,
// READS_BESIDE_A, ALWAYS_ZERO, IGNORES_OFFSET, HANGS, CRASHES, NO_KERNEL, SYNTAX_ERROR. Throws std::out_of_range for
// any other.
builder::Job reference_job(const std::string& defect = {});

}  // namespace clbake::tests
