// CLBlast's products on this machine's device, through the door, against the reference in double precision.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <clblast.h>

#include <string>
#include <vector>

namespace clbake::tests {

// Of the test device; opened once.
builder::Session& session();
cl_command_queue queue();

template <typename T>
struct ElementOf {  // what the reference calls it
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
  double alpha = 1.5, beta = 0;

  std::size_t lda() const { return (rows_a() ? k : m) + padding; }
  std::size_t ldb() const { return (rows_b() ? n : k) + padding; }
  std::size_t ldc() const { return (row_major() ? n : m) + padding; }
  bool row_major() const { return layout == clblast::Layout::kRowMajor; }
  bool rows_a() const { return row_major() == (trans_a == clblast::Transpose::kNo); }  // stored line by line of op(A)
  bool rows_b() const { return row_major() == (trans_b == clblast::Transpose::kNo); }
  std::size_t a_extent() const { return ((rows_a() ? m : k) - 1) * lda() + (rows_a() ? k : m); }
  std::size_t b_extent() const { return ((rows_b() ? k : n) - 1) * ldb() + (rows_b() ? n : k); }
  std::size_t c_extent() const { return ((row_major() ? m : n) - 1) * ldc() + (row_major() ? n : m); }
};

// A matrix in the host's memory and on the device: NaN where nothing may be read.
template <typename T>
class Operand {
 public:
  using Value = typename ElementOf<T>::type;

  // Elements of lines of `length`, `ld` apart, from each start on, are random.
  Operand(std::size_t elements, const std::vector<std::size_t>& starts, std::size_t lines, std::size_t length,
          std::size_t ld, unsigned seed);
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() { clReleaseMemObject(buffer); }

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

  // Empty when each C is alpha * op(A) * op(B) + beta * C within the tolerance and nothing else was written; else what
  // is wrong. One alpha and beta, or one for each product.
  std::string failure(const std::vector<double>& alphas, const std::vector<double>& betas) const;
  std::string failure() const { return failure({shape.alpha}, {shape.beta}); }

  Shape shape;
  std::vector<std::size_t> a_starts, b_starts, c_starts;
  Operand<T> a, b, c;
};

// The call of CLBlast for a shape.
template <typename T>
clblast::StatusCode gemm(const Matrices<T>& on, cl_command_queue queue, cl_event* event = nullptr);

// alpha or beta as CLBlast gets it.
template <typename T>
T scalar(double value);

}  // namespace clbake::tests
