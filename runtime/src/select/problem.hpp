// The problem as the kernels see it.
#pragma once

#include <clbake/choice.hpp>

namespace clbake {

// The same problem in row-major order. A column-major matrix is the transpose of the row-major one in the same bytes,
// and C^T = op(B)^T * op(A)^T: so A and B, and m and n, are exchanged. The caller has to exchange the matrices, too.
Problem row_major(const Problem& problem);

// True when the real_product of a complex row-major problem reads a copy of A.
bool copies_a(const Problem& complex);

}  // namespace clbake
