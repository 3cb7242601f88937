// The problem as the kernels see it.
#pragma once

#include <clbake/clbake.hpp>

namespace clbake {

// The same problem in row-major order. A column-major matrix is the transpose of the row-major one in the same bytes,
// and C^T = op(B)^T * op(A)^T: so A and B, and m and n, are exchanged. The caller has to exchange the matrices, too.
Problem row_major(const Problem& problem);

// extents() of a problem that is row-major already.
Extents row_major_extents(const Problem& problem);

}  // namespace clbake
