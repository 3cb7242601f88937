#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

namespace clbake::tests {
namespace {

// One product, row-major.
template <typename T>
Problem row_major(const Shape& s) {
  using clblast::Transpose;
  Problem p;
  p.precision = std::is_same_v<T, double>  ? Precision::double_precision
                : std::is_same_v<T, float> ? Precision::single_precision
                                           : Precision::half_precision;
  p.k = s.k;
  p.ldc = s.ldc();
  p.m = s.row_major() ? s.m : s.n;
  p.n = s.row_major() ? s.n : s.m;
  p.trans_a = (s.row_major() ? s.trans_a : s.trans_b) != Transpose::kNo;
  p.trans_b = (s.row_major() ? s.trans_b : s.trans_a) != Transpose::kNo;
  p.lda = s.row_major() ? s.lda() : s.ldb();
  p.ldb = s.row_major() ? s.ldb() : s.lda();
  return p;
}

std::size_t end_of(const std::vector<std::size_t>& starts, std::size_t extent) {
  return *std::max_element(starts.begin(), starts.end()) + extent;
}

}  // namespace

builder::Session& session() {
  static Result<builder::Session> opened = builder::Session::open(device());
  if (!opened) throw std::runtime_error(opened.status().message());
  return *opened;
}

cl_command_queue queue() { return session().queue(); }

template <typename T>
T scalar(double value) {
  const typename ElementOf<T>::type rounded(static_cast<typename ElementOf<T>::type>(value));
  T bits;
  static_assert(sizeof bits == sizeof rounded);
  std::memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

template <typename T>
Operand<T>::Operand(std::size_t elements, const std::vector<std::size_t>& starts, std::size_t lines, std::size_t length,
                    std::size_t ld, unsigned seed)
    : values(elements, static_cast<Value>(std::numeric_limits<double>::quiet_NaN())) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const std::size_t start : starts) {
    for (std::size_t line = 0; line < lines; ++line) {
      for (std::size_t i = 0; i < length; ++i) values[start + line * ld + i] = static_cast<Value>(number(random));
    }
  }
  buffer = clCreateBuffer(session().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, elements * sizeof(T),
                          values.data(), nullptr);
}

template <typename T>
std::vector<typename Operand<T>::Value> Operand<T>::read() const {
  std::vector<Value> now(values.size());
  clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, now.size() * sizeof(T), now.data(), 0, nullptr, nullptr);
  return now;
}

// Behind each C are 7 elements that nothing may write.
template <typename T>
Matrices<T>::Matrices(const Shape& s, std::vector<std::size_t> as, std::vector<std::size_t> bs,
                      std::vector<std::size_t> cs)
    : shape(s),
      a_starts(std::move(as)),
      b_starts(std::move(bs)),
      c_starts(std::move(cs)),
      a(end_of(a_starts, s.a_extent()), a_starts, s.rows_a() ? s.m : s.k, s.rows_a() ? s.k : s.m, s.lda(), 1),
      b(end_of(b_starts, s.b_extent()), b_starts, s.rows_b() ? s.k : s.n, s.rows_b() ? s.n : s.k, s.ldb(), 2),
      c(end_of(c_starts, s.c_extent()) + 7, c_starts,
        s.beta == 0     ? 0
        : s.row_major() ? s.m
                        : s.n,
        s.row_major() ? s.n : s.m, s.ldc(), 3) {}

template <typename T>
std::string Matrices<T>::failure(const std::vector<double>& alphas, const std::vector<double>& betas) const {
  using Value = typename ElementOf<T>::type;
  const Problem p = row_major<T>(shape);
  const auto result = c.read();
  std::vector<bool> written(result.size());
  std::vector<std::size_t> rows(p.m);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  double worst = 0;
  for (std::size_t i = 0; i < c_starts.size(); ++i) {
    const auto alpha = static_cast<builder::Scalar<Value>>(alphas[std::min(i, alphas.size() - 1)]);
    const auto beta = static_cast<builder::Scalar<Value>>(betas[std::min(i, betas.size() - 1)]);
    const bool exchanged = !shape.row_major();
    const builder::HostOperands<Value> operands{p,
                                                alpha,
                                                beta,
                                                exchanged ? b.values : a.values,
                                                exchanged ? b_starts[i] : a_starts[i],
                                                exchanged ? a.values : b.values,
                                                exchanged ? a_starts[i] : b_starts[i],
                                                c.values,
                                                c_starts[i]};
    worst = std::max(worst, builder::max_error(operands, result, rows));
    for (std::size_t row = 0; row < p.m; ++row) {
      for (std::size_t j = 0; j < p.n; ++j) written[c_starts[i] + row * p.ldc + j] = true;
    }
  }
  const double tolerance = builder::tolerance(p.precision, p.k);
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

#define CLBAKE_OF(T)            \
  template class Operand<T>;    \
  template struct Matrices<T>;  \
  template T scalar<T>(double); \
  template clblast::StatusCode gemm<T>(const Matrices<T>&, cl_command_queue, cl_event*);
CLBAKE_OF(cl_half)
CLBAKE_OF(float)
CLBAKE_OF(double)

}  // namespace clbake::tests
