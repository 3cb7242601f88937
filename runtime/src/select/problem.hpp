// The problem as the kernels see it.
#pragma once

#include <clbake/clbake.hpp>

namespace clbake {

// The same problem in row-major order. A column-major matrix is the transpose of the row-major one in the same bytes,
// and C^T = op(B)^T * op(A)^T: so A and B, and m and n, are exchanged. The caller has to exchange the matrices, too.
Problem row_major(const Problem& problem);

// The real product that computes a complex row-major one (kernels/complex.cl): of m x 2n x 2k, with operands that are
// copies of the caller's, except an A that copies_a does not ask for. Without offsets: where the products of a batch
// begin is for the launches to say. Of a real problem: itself.
Problem real_product(const Problem& problem);
bool copies_a(const Problem& complex);

}  // namespace clbake
