#include <clbake/builder/reference.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

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

double product_of(double x, double y) { return x * y; }
// Not the operator, which makes infinities of some NaNs.
std::complex<double> product_of(std::complex<double> x, std::complex<double> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

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

// Row i of op(A) * op(B), and of |op(A)| * |op(B)|, in double precision.
template <typename T>
void product_row(const HostOperands<T>& o, std::size_t i, std::vector<Wide<T>>& sum, std::vector<double>& magnitude) {
  const Problem& p = o.problem;
  std::fill(sum.begin(), sum.end(), Wide<T>());
  std::fill(magnitude.begin(), magnitude.end(), 0.0);
  const T* a = o.a.data() + o.a_offset;
  const T* b = o.b.data() + o.b_offset;
  const bool a_down = down_columns(p, p.trans_a);
  const bool b_down = down_columns(p, p.trans_b);
  const std::size_t b_row = b_down ? 1 : p.ldb;
  const std::size_t b_column = b_down ? p.ldb : 1;
  for (std::size_t l = 0; l < p.k; ++l) {
    const auto x = conjugated(wide(a_down ? a[l * p.lda + i] : a[i * p.lda + l]), p.conj_a);
    const T* row = b + l * b_row;
    for (std::size_t j = 0; j < p.n; ++j) {
      const auto y = conjugated(wide(row[j * b_column]), p.conj_b);
      sum[j] += product_of(x, y);
      magnitude[j] += std::abs(x) * std::abs(y);
    }
  }
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

template <typename T>
double row_error(const HostOperands<T>& o, const std::vector<T>& result, std::size_t i, std::vector<Wide<T>>& sum,
                 std::vector<double>& magnitude) {
  const Problem& p = o.problem;
  const auto alpha = wide(o.alpha);
  const bool reads_operands = alpha != 0.0;
  if (reads_operands) {
    product_row(o, i, sum, magnitude);
  } else {
    std::fill(sum.begin(), sum.end(), Wide<T>());
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
  }
  double worst = 0;
  for (std::size_t j = 0; j < p.n; ++j) {
    const std::size_t at = o.c_offset + element(p, i, j, p.ldc);
    const Wide<T> old = old_of(o, i, j);
    const Wide<T> bias = bias_of(o, i, j);
    const Wide<T> expected = with_epilogue(p.epilogue, scaled(alpha, sum[j]) + old + bias);
    const double terms = std::abs(alpha) * magnitude[j] + std::abs(old) + std::abs(bias);
    const double scale = std::max(terms, std::abs(expected)) + least_normal<T>;
    const Wide<T> got = wide(result[at]);
    if (got == expected) continue;  // equal infinities too
    const bool comparable = is_finite(got) && is_finite(expected) && scale > 0;
    if (!comparable) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(got - expected) / scale);
  }
  return worst;
}

}  // namespace

double tolerance(Precision precision, std::size_t k) {
  if (is_complex(precision)) return 1.5 * tolerance(real_precision(precision), 2 * k + 4);
  const double depth = sums_integers(precision) ? 5 : static_cast<double>(k);  // whole sums are exact, scales are not
  const double arithmetic = unit_roundoff(precision) * std::min(depth + 3, 4 * std::sqrt(depth) + 16);
  const Element a = element_a(precision), b = element_b(precision);
  const double unpacked = has_weights(precision) ? rounding_of(is_weights(a) ? b : a) : 0;
  const bool of_14_bits = is_mixed(precision) && !sums_integers(precision) && !has_weights(precision);
  return arithmetic + rounding_of(element_c(precision)) + unpacked + (of_14_bits ? 0x1p-12 : 0);
}

double tolerance(const Problem& problem) {
  const Epilogue& e = problem.epilogue;
  const double sum = tolerance(problem.precision, problem.k + (e.bias == Bias::none ? 0 : 1));
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
double max_error(const HostOperands<T>& operands, const std::vector<T>& result, const std::vector<std::size_t>& rows) {
  const std::size_t n = operands.problem.n;
  const double work =
      static_cast<double>(rows.size()) * static_cast<double>(n) * static_cast<double>(operands.problem.k);
  const unsigned threads = work < 1e6 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<double> worst(threads, 0.0);
  std::atomic<std::size_t> next{0};
  const auto work_on = [&](unsigned thread) {
    std::vector<Wide<T>> sum(n);
    std::vector<double> magnitude(n);
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      worst[thread] = std::max(worst[thread], row_error(operands, result, rows[i], sum, magnitude));
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work_on, t);
  work_on(0);
  for (std::thread& helper : helpers) helper.join();
  return *std::max_element(worst.begin(), worst.end());
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
