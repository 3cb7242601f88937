// GEMM on the host in double precision, and how far from it a result may be.
#pragma once

#include <clbake/builder/sixteen_bits.hpp>
#include <clbake/clbake.hpp>

#include <complex>
#include <type_traits>
#include <vector>

namespace clbake::builder {

// Largest error that a product of depth k may show, in units of |alpha| * sum_p |a_ip| |b_pj| + |beta| |c_ij|.
// u is the unit roundoff: 2^-24 single, 2^-53 double. The error of a sum of k products is at most about (k + 2) u
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1) and, for the random data that clbake checks
// with, grows like sqrt(k) u: tolerance = u * min(k + 3, 4 sqrt(k) + 16), one u for the final rounding. 16 bits
// are computed in single and rounded once more at the end, half to 2^-11, bfloat16 to 2^-8, e4m3 to 2^-4, e5m2 to 2^-3;
// of packed weights, which may be unpacked to these types, so much once more;
// below 2^-14, where half's numbers lie 2^-24 apart, its errors are counted in units of that sum + 2^-14. Of a complex
// product the real and the imaginary part are sums of 2k products, their errors together sqrt(2) times one of them, and
// products with alpha and beta are rounded before and after: 1.5 times what 2k + 4 real products may show.
// `cuts_sums`: NVIDIA's matrix units, which keep about 14 bits of a sum of products of e4m3 and e5m2, compute it: 2^-12
// more (an H200 showed 2^-13, and 2^-11 where all products are positive).
double tolerance(Precision precision, std::size_t k, bool cuts_sums = false);

// The same with the problem's epilogue, in units of that sum with the bias, or of the result if that is larger: an
// activation multiplies errors by its steepest slope (1.1 for SiLU, 1.13 for GELU) and adds its own: 16 u where it is
// made of exp and a division, 40 u for erfc, which OpenCL allows 3, 2.5 and 16 units in the last place ("Relative Error
// as ULPs").
double tolerance(const Problem& problem, bool cuts_sums = false);

// The epilogue's activation of x.
double activated(const Epilogue& epilogue, double x);

template <typename T>
inline constexpr bool is_complex_type = false;
template <typename T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

// The type that alpha and beta are rounded to.
template <typename T>
using Scalar = std::conditional_t<std::is_same_v<T, double> || is_complex_type<T>, T, float>;

// The type that the reference computes with.
template <typename T>
using Wide = std::conditional_t<is_complex_type<T>, std::complex<double>, double>;

// T is Half, Bfloat16, float, double or a complex number of one of the last two.
template <typename T>
Wide<T> wide(const T& x) {
  return static_cast<Wide<T>>(x);
}

// One product in the host's memory, laid out as in the device's buffers; X_offset is where its matrix begins
// (Operand::start).
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
