// GEMM on the host in double precision, and how far from it a result may be.
#pragma once

#include <clbake/builder/bfloat16.hpp>
#include <clbake/builder/half.hpp>
#include <clbake/clbake.hpp>

#include <type_traits>
#include <vector>

namespace clbake::builder {

// Largest error that a product of depth k may show, in units of |alpha| * sum_p |a_ip| |b_pj| + |beta| |c_ij|.
// u is the unit roundoff: 2^-24 single, 2^-53 double. The error of a sum of k products is at most about (k + 2) u
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1) and, for the random data that clbake checks
// with, grows like sqrt(k) u: tolerance = u * min(k + 3, 4 sqrt(k) + 16), one u for the final rounding. 16 bits
// are computed in single and rounded once more at the end, half to 2^-11, bfloat16 to 2^-8; below 2^-14, where half's
// numbers lie 2^-24 apart, its errors are counted in units of that sum + 2^-14.
double tolerance(Precision precision, std::size_t k);

// The same with the problem's epilogue, in units of that sum with the bias, or of the result if that is larger: an
// activation multiplies errors by its steepest slope (1.1 for SiLU, 1.13 for GELU) and adds its own: 16 u where it is
// made of exp and a division, 40 u for erfc, which OpenCL allows 3, 2.5 and 16 units in the last place ("Relative Error
// as ULPs").
double tolerance(const Problem& problem);

// What the epilogue's activation makes of x.
double activated(const Epilogue& epilogue, double x);

// What alpha and beta are rounded to.
template <typename T>
using Scalar = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Operands of a row-major problem, contiguous in the host's memory at the offsets and leading dimensions of the
// device's buffers. T is Half, Bfloat16, float or double.
template <typename T>
struct HostOperands {
  const Problem& problem;
  Scalar<T> alpha;  // as the kernel gets them
  Scalar<T> beta;
  const std::vector<T>& a;
  std::size_t a_offset;
  const std::vector<T>& b;
  std::size_t b_offset;
  const std::vector<T>& c;  // before the product; not read when beta = 0
  std::size_t c_offset;
  const std::vector<T>* d = nullptr;  // where the problem's epilogue has them
  std::size_t d_offset = 0;
  const std::vector<T>* bias = nullptr;
  std::size_t bias_offset = 0;
};

// The largest normalised error of rows `rows` of `result` (laid out like c). Infinity when an element or its
// reference is not finite, unless both are the same infinity.
template <typename T>
double max_error(const HostOperands<T>& operands, const std::vector<T>& result, const std::vector<std::size_t>& rows);

}  // namespace clbake::builder
