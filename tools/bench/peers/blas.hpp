// Constants that the C interfaces of BLAS (cblas.h) and CLBlast (clblast_c.h) share.
#pragma once

namespace clbake::tool {

constexpr int kRowMajor = 101;

// Not transposed, transposed, or conjugate transposed.
constexpr int blas_operation(bool transposed, bool conjugated) { return !transposed ? 111 : conjugated ? 113 : 112; }

}  // namespace clbake::tool
