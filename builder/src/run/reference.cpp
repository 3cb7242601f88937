#include <clbake/builder/reference.hpp>

#include "run/sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clbake::builder {
namespace {

// The precision of the arithmetic: 16 bits are computed in single.
constexpr double unit_roundoff(Precision precision) {
  return real_precision(precision) == Precision::double_precision ? 0x1p-53 : 0x1p-24;
}

// Unit roundoff of elements where it is not the arithmetic's.
constexpr double rounding_of(Element element) {
  switch (element) {
    case Element::half: return 0x1p-11;
    case Element::bfloat16: return 0x1p-8;
    case Element::e4m3: return 0x1p-4;
    case Element::e5m2: return 0x1p-3;
    default: return 0;
  }
}

// The smallest normal number where results can be subnormal: only half's range is that small.
template <typename T>
constexpr double least_normal = 0;
template <>
constexpr double least_normal<Half> = 0x1p-14;

double conjugated(double x, bool /*conjugate*/) { return x; }
std::complex<double> conjugated(std::complex<double> x, bool conjugate) { return conjugate ? std::conj(x) : x; }

double scaled(double scalar, double x) { return scalar * x; }
// A real scalar multiplies each part by itself: infinity times 0 would be a NaN.
std::complex<double> scaled(std::complex<double> scalar, std::complex<double> x) {
  return scalar.imag() == 0 ? scalar.real() * x : product_of(scalar, x);
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_finite(std::complex<double> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

double with_epilogue(const Epilogue& e, double x) { return activated(e, x); }
std::complex<double> with_epilogue(const Epilogue& /*e*/, std::complex<double> x) { return x; }

// True when neighbours in memory belong to one column of a matrix, as op() sees it.
bool down_columns(const Problem& p, bool transposed) { return transposed != (p.layout == Layout::column_major); }

// The position of element (i, j) of C or D.
std::size_t element(const Problem& p, std::size_t i, std::size_t j, std::size_t ld) {
  return down_columns(p, false) ? j * ld + i : i * ld + j;
}

// The start of element (i, j) of C: beta times what is added to it, and its bias.
template <typename T>
Wide<T> old_of(const HostOperands<T>& o, std::size_t i, std::size_t j) {
  const Epilogue& e = o.problem.epilogue;
  if (o.beta == Scalar<T>(0)) return 0;
  const T& old = e.has_d ? (*o.d)[o.d_offset + element(o.problem, i, j, e.ldd)]
                         : o.c[o.c_offset + element(o.problem, i, j, o.problem.ldc)];
  return scaled(wide(o.beta), wide(old));
}
template <typename T>
Wide<T> bias_of(const HostOperands<T>& o, std::size_t i, std::size_t j) {
  const Bias bias = o.problem.epilogue.bias;
  return bias == Bias::none ? Wide<T>() : wide((*o.bias)[o.bias_offset + (bias == Bias::per_row ? i : j)]);
}

// The error of element (i, j), of which op(A) * op(B) has this sum of products, and of their sizes.
template <typename T>
double element_error(const HostOperands<T>& o, const std::vector<T>& result, std::size_t i, std::size_t j, Wide<T> sum,
                     double magnitude) {
  const Problem& p = o.problem;
  const auto alpha = wide(o.alpha);
  const Wide<T> old = old_of(o, i, j);
  const Wide<T> bias = bias_of(o, i, j);
  const Wide<T> expected = with_epilogue(p.epilogue, scaled(alpha, sum) + old + bias);
  const double terms = std::abs(alpha) * magnitude + std::abs(old) + std::abs(bias);
  const double scale = std::max(terms, std::abs(expected)) + least_normal<T>;
  const Wide<T> got = wide(result[o.c_offset + element(p, i, j, p.ldc)]);
  if (got == expected) return 0;  // equal infinities too
  const bool comparable = is_finite(got) && is_finite(expected) && scale > 0;
  return comparable ? std::abs(got - expected) / scale : std::numeric_limits<double>::infinity();
}

}  // namespace

double tolerance(Precision precision, std::size_t k, bool cuts_sums) {
  if (is_complex(precision)) return 1.5 * tolerance(real_precision(precision), 2 * k + 4);
  const double depth = sums_integers(precision) ? 5 : static_cast<double>(k);  // whole sums are exact, scales are not
  const double arithmetic = unit_roundoff(precision) * std::min(depth + 3, 4 * std::sqrt(depth) + 16);
  const Element a = element_a(precision), b = element_b(precision);
  const double unpacked = has_weights(precision) ? rounding_of(is_weights(a) ? b : a) : 0;
  const bool of_14_bits = cuts_sums && is_mixed(precision) && !sums_integers(precision) && !has_weights(precision);
  return arithmetic + rounding_of(element_c(precision)) + unpacked + (of_14_bits ? 0x1p-12 : 0);
}

double tolerance(const Problem& problem, bool cuts_sums) {
  const Epilogue& e = problem.epilogue;
  const double sum = tolerance(problem.precision, problem.k + (e.bias == Bias::none ? 0 : 1), cuts_sums);
  const double u = unit_roundoff(problem.precision);
  switch (e.activation) {
    case Activation::none:
    case Activation::relu:
    case Activation::clamp: return sum;
    case Activation::sigmoid: return sum + 16 * u;
    case Activation::silu: return 1.1 * sum + 16 * u;
    case Activation::gelu_tanh: return 1.13 * sum + 16 * u;
    case Activation::gelu: break;
  }
  return 1.13 * sum + 40 * u;
}

double activated(const Epilogue& e, double x) {
  constexpr double pi = 3.14159265358979323846;
  switch (e.activation) {
    case Activation::none: break;
    case Activation::relu: return x < 0 ? 0 : x;
    case Activation::clamp: return x < e.low ? e.low : x > e.high ? e.high : x;
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::gelu: return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    case Activation::gelu_tanh: return x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))) / 2;
  }
  return x;
}

template <typename T>
double max_error(const HostOperands<T>& o, const std::vector<T>& result, const std::vector<std::size_t>& rows) {
  const Problem& p = o.problem;
  const T* const a = o.a.data() + o.a_offset;
  const T* const b = o.b.data() + o.b_offset;
  const bool a_down = down_columns(p, p.trans_a), b_down = down_columns(p, p.trans_b);
  const auto of_a = [&](std::size_t i, std::size_t l) {
    return conjugated(wide(a[a_down ? l * p.lda + i : i * p.lda + l]), p.conj_a);
  };
  const auto of_b = [&](std::size_t l, std::size_t j) {
    return conjugated(wide(b[b_down ? j * p.ldb + l : l * p.ldb + j]), p.conj_b);
  };
  const auto error = [&](std::size_t i, std::size_t j, Wide<T> sum, double magnitude) {
    return element_error(o, result, i, j, sum, magnitude);
  };
  const std::size_t k = o.alpha == Scalar<T>(0) ? 0 : p.k;  // else A and B are not read
  return largest_of_sums<Wide<T>>(rows, p.n, k, b_down, of_a, of_b, error);
}

template double max_error<Half>(const HostOperands<Half>&, const std::vector<Half>&, const std::vector<std::size_t>&);
template double max_error<Bfloat16>(const HostOperands<Bfloat16>&, const std::vector<Bfloat16>&,
                                    const std::vector<std::size_t>&);
template double max_error<float>(const HostOperands<float>&, const std::vector<float>&,
                                 const std::vector<std::size_t>&);
template double max_error<double>(const HostOperands<double>&, const std::vector<double>&,
                                  const std::vector<std::size_t>&);
template double max_error<std::complex<float>>(const HostOperands<std::complex<float>>&,
                                               const std::vector<std::complex<float>>&,
                                               const std::vector<std::size_t>&);
template double max_error<std::complex<double>>(const HostOperands<std::complex<double>>&,
                                                const std::vector<std::complex<double>>&,
                                                const std::vector<std::size_t>&);

}  // namespace clbake::builder
