// CLBlast's products on this machine's device, through the door, against the reference in double precision.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <clbake/operand.hpp>

#include <clblast.h>

#include <complex>
#include <string>
#include <vector>

namespace clbake::tests {

// Session and queue of the test device; opened once.
builder::Session& session();
cl_command_queue queue();

template <typename T>
struct ElementOf {  // the reference's type for CLBlast's
  using type = T;
};
template <>
struct ElementOf<cl_half> {
  using type = builder::Half;
};

// A product as CLBlast's API has it; the leading dimensions are `padding` more than they must be.
struct Shape {
  clblast::Layout layout = clblast::Layout::kRowMajor;
  clblast::Transpose trans_a = clblast::Transpose::kNo;
  clblast::Transpose trans_b = clblast::Transpose::kNo;
  std::size_t m = 37, n = 41, k = 43;
  std::size_t padding = 0;
  std::size_t a_offset = 0, b_offset = 0, c_offset = 0;
  std::complex<double> alpha = {1.5, -0.5}, beta = 0;  // real precisions use the real part

  // The same product for the reference.
  Problem problem(Precision precision = Precision::single_precision) const;
  std::size_t lda() const { return problem().lda; }
  std::size_t ldb() const { return problem().ldb; }
  std::size_t ldc() const { return problem().ldc; }
};

// Elements from the first to the last of A, B and C.
std::size_t a_extent(const Shape& shape);
std::size_t b_extent(const Shape& shape);
std::size_t c_extent(const Shape& shape);

// A matrix, or several, in the host's memory and on the device: random elements, and NaN around them.
template <typename T>
class Elements {
 public:
  using Value = typename ElementOf<T>::type;

  // The matrix lies at each of `starts`; `behind` it are more elements. `defined`: whether it holds numbers.
  Elements(const Operand& matrix, const std::vector<std::size_t>& starts, std::size_t behind, bool defined,
           unsigned seed);
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() { clReleaseMemObject(buffer); }

  std::vector<Value> read() const;

  std::vector<Value> values;
  cl_mem buffer = nullptr;
};

// The matrices of one or more products of a shape, whose first elements are at these offsets.
template <typename T>
struct Matrices {
  Matrices(const Shape& shape, std::vector<std::size_t> a_starts, std::vector<std::size_t> b_starts,
           std::vector<std::size_t> c_starts);
  explicit Matrices(const Shape& of) : Matrices(of, {of.a_offset}, {of.b_offset}, {of.c_offset}) {}

  // Empty when each C is alpha * op(A) * op(B) + beta * C within the tolerance and nothing else was written; else the
  // error. One alpha and beta, or one for each product.
  std::string failure(const std::vector<std::complex<double>>& alphas,
                      const std::vector<std::complex<double>>& betas) const;
  std::string failure() const { return failure({shape.alpha}, {shape.beta}); }

  Shape shape;
  Problem problem;
  std::vector<std::size_t> a_starts, b_starts, c_starts;
  Elements<T> a, b, c;
};

// The call of CLBlast for a shape.
template <typename T>
clblast::StatusCode gemm(const Matrices<T>& on, cl_command_queue queue, cl_event* event = nullptr);

// alpha or beta as CLBlast gets it.
template <typename T>
T scalar(std::complex<double> value);

}  // namespace clbake::tests
