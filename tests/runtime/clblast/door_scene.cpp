#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

namespace clbake::tests {
namespace {

template <typename T>
constexpr Precision kPrecision = Precision::half_precision;  // cl_half
template <>
constexpr Precision kPrecision<float> = Precision::single_precision;
template <>
constexpr Precision kPrecision<double> = Precision::double_precision;
template <>
constexpr Precision kPrecision<std::complex<float>> = Precision::complex_single;
template <>
constexpr Precision kPrecision<std::complex<double>> = Precision::complex_double;

// The number as the reference's type; a real type takes the real part.
template <typename To>
To number(std::complex<double> value) {
  if constexpr (builder::is_complex_type<To>) {
    return To(value);
  } else {
    return static_cast<To>(value.real());
  }
}

}  // namespace

Problem Shape::problem(Precision precision) const {
  using clblast::Transpose;
  const bool rows = layout == clblast::Layout::kRowMajor;
  Problem p = make_problem({precision, trans_a != Transpose::kNo, trans_b != Transpose::kNo}, m, n, k,
                           rows ? Layout::row_major : Layout::column_major);
  p.conj_a = is_complex(precision) && trans_a == Transpose::kConjugate;
  p.conj_b = is_complex(precision) && trans_b == Transpose::kConjugate;
  for (std::size_t* ld : {&p.lda, &p.ldb, &p.ldc}) *ld += padding;
  return p;
}

std::size_t a_extent(const Shape& shape) { return operand_a(shape.problem()).length(); }
std::size_t b_extent(const Shape& shape) { return operand_b(shape.problem()).length(); }
std::size_t c_extent(const Shape& shape) { return operand_c(shape.problem()).length(); }

builder::Session& session() {
  static Result<builder::Session> opened = builder::Session::open(device());
  if (!opened) throw std::runtime_error(opened.status().message());
  return *opened;
}

cl_command_queue queue() { return session().queue(); }

template <typename T>
T scalar(std::complex<double> value) {
  const auto rounded = number<typename ElementOf<T>::type>(value);
  T bits;
  static_assert(sizeof bits == sizeof rounded);
  std::memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

template <typename T>
Elements<T>::Elements(const Operand& matrix, const std::vector<std::size_t>& starts, std::size_t behind, bool defined,
                      unsigned seed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  values.assign(*std::max_element(starts.begin(), starts.end()) + matrix.length() + behind, number<Value>({nan, nan}));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::size_t start : starts) {
    matrix.for_each_row([&](std::size_t row) {
      for (std::size_t i = 0; i < matrix.cols && defined; ++i) {
        values[start + row + i] = number<Value>({uniform(random), uniform(random)});
      }
    });
  }
  buffer = clCreateBuffer(session().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                          values.data(), nullptr);
}

template <typename T>
std::vector<typename Elements<T>::Value> Elements<T>::read() const {
  std::vector<Value> now(values.size());
  clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, now.size() * sizeof(T), now.data(), 0, nullptr, nullptr);
  return now;
}

// Behind each C are 7 elements that nothing may write.
template <typename T>
Matrices<T>::Matrices(const Shape& s, std::vector<std::size_t> as, std::vector<std::size_t> bs,
                      std::vector<std::size_t> cs)
    : shape(s),
      problem(s.problem(kPrecision<T>)),
      a_starts(std::move(as)),
      b_starts(std::move(bs)),
      c_starts(std::move(cs)),
      a(operand_a(problem), a_starts, 0, true, 1),
      b(operand_b(problem), b_starts, 0, true, 2),
      c(operand_c(problem), c_starts, 7, s.beta != 0.0, 3) {}

template <typename T>
std::string Matrices<T>::failure(const std::vector<std::complex<double>>& alphas,
                                 const std::vector<std::complex<double>>& betas) const {
  using Value = typename ElementOf<T>::type;
  using Scalar = builder::Scalar<Value>;
  const auto result = c.read();
  std::vector<bool> written(result.size());
  std::vector<std::size_t> rows(problem.m);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Operand matrix = operand_c(problem);
  double worst = 0;
  for (std::size_t i = 0; i < c_starts.size(); ++i) {
    const builder::HostOperands<Value> operands{problem,
                                                number<Scalar>(alphas[std::min(i, alphas.size() - 1)]),
                                                number<Scalar>(betas[std::min(i, betas.size() - 1)]),
                                                a.values,
                                                a_starts[i],
                                                b.values,
                                                b_starts[i],
                                                c.values,
                                                c_starts[i]};
    worst = std::max(worst, builder::max_error(operands, result, rows));
    matrix.for_each_row([&](std::size_t row) {
      for (std::size_t j = 0; j < matrix.cols; ++j) written[c_starts[i] + row + j] = true;
    });
  }
  const double tolerance = builder::tolerance(problem.precision, problem.k);
  std::string text;
  if (!(worst <= tolerance)) text = "error " + std::to_string(worst) + ", tolerance " + std::to_string(tolerance);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!written[i] && std::memcmp(&result[i], &c.values[i], sizeof result[i]) != 0) text += "; wrote outside C";
  }
  return text;
}

template <typename T>
clblast::StatusCode gemm(const Matrices<T>& on, cl_command_queue queue, cl_event* event) {
  const Shape& s = on.shape;
  return clblast::Gemm<T>(s.layout, s.trans_a, s.trans_b, s.m, s.n, s.k, scalar<T>(s.alpha), on.a.buffer, s.a_offset,
                          s.lda(), on.b.buffer, s.b_offset, s.ldb(), scalar<T>(s.beta), on.c.buffer, s.c_offset,
                          s.ldc(), &queue, event);
}

#define CLBAKE_OF(T)                          \
  template class Elements<T>;                 \
  template struct Matrices<T>;                \
  template T scalar<T>(std::complex<double>); \
  template clblast::StatusCode gemm<T>(const Matrices<T>&, cl_command_queue, cl_event*);
CLBAKE_OF(cl_half)
CLBAKE_OF(float)
CLBAKE_OF(double)
CLBAKE_OF(std::complex<float>)
CLBAKE_OF(std::complex<double>)

}  // namespace clbake::tests
