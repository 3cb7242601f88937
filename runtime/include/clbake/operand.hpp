// Operands: the places of a problem's matrices in their buffers.
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/weights/format.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace clbake {

// A matrix as it is stored, and the same for each product of a batch: `rows` rows of `cols` neighbours, `ld` apart.
// All in elements; a sum that is too large is SIZE_MAX. The rows of a column-major matrix are its columns.
struct Operand {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t ld = 1;
  std::size_t batch = 1;
  std::size_t stride = 0;                               // between the matrices of a batch
  const std::vector<BatchOffsets>* offsets = nullptr;   // in place of the stride; owned by the problem
  std::size_t BatchOffsets::*which = &BatchOffsets::a;  // of those offsets
  std::size_t offset = 0;                               // before all matrices: Matrix::offset

  bool empty() const { return rows == 0 || cols == 0 || batch == 0; }

  // From the first to the last element of one matrix. Requires one that is not empty; so do the functions below.
  std::size_t length() const { return sum(product(rows - 1, ld), cols); }

  // The first element of product i.
  std::size_t start(std::size_t i) const { return sum(offset, offsets ? (*offsets)[i].*which : product(i, stride)); }
  std::size_t first_start() const {
    std::size_t first = start(0);
    for (std::size_t i = 1; offsets && i < batch; ++i) first = std::min(first, start(i));
    return first;
  }
  std::size_t last_start() const {
    std::size_t last = start(batch - 1);
    for (std::size_t i = 0; offsets && i < batch; ++i) last = std::max(last, start(i));
    return last;
  }

  // Elements that the buffer must have. Unlike the functions above, 0 for an empty operand.
  std::size_t extent() const { return empty() ? 0 : sum(last_start(), length()); }

  // Calls use(first element) for each row of each matrix.
  template <typename Use>
  void for_each_row(const Use& use) const {
    for (std::size_t i = 0; i < batch && cols > 0; ++i) {
      for (std::size_t row = 0; row < rows; ++row) use(start(i) + row * ld);
    }
  }

 private:
  static std::size_t sum(std::size_t x, std::size_t y) { return x > SIZE_MAX - y ? SIZE_MAX : x + y; }
  static std::size_t product(std::size_t x, std::size_t y) { return y > 0 && x > SIZE_MAX / y ? SIZE_MAX : x * y; }
};

// The operands of a problem, which must outlive them. `offset` is that of the caller's Matrix. Those that the epilogue
// does not have are empty.
inline Operand make_operand(const Problem& p, bool along_columns, std::size_t rows, std::size_t cols, std::size_t ld,
                            std::size_t stride, std::size_t BatchOffsets::*which, std::size_t offset) {
  if (along_columns) std::swap(rows, cols);
  return {rows, cols, ld, p.batch, stride, p.offsets.empty() ? nullptr : &p.offsets, which, offset};
}
// Packed weights are one row of bytes. Element: q4 or q8; n: their columns.
inline Operand make_weights(const Problem& p, Element element, std::size_t n, std::size_t stride,
                            std::size_t BatchOffsets::*which, std::size_t offset) {
  const Quantization& q = p.quantization;
  const WeightFormat format{p.k, n, element == Element::q4 ? std::size_t{4} : 8, q.weight_group, q.weight_zeros};
  const std::size_t bytes = p.k == 0 || n == 0 ? 0 : weight_bytes(format);
  return {1, bytes, bytes, p.batch, stride, p.offsets.empty() ? nullptr : &p.offsets, which, offset};
}
inline Operand operand_a(const Problem& p, std::size_t offset = 0) {
  if (is_weights(element_a(p.precision))) {
    return make_weights(p, element_a(p.precision), p.m, p.a_stride, &BatchOffsets::a, offset);
  }
  return make_operand(p, p.trans_a != (p.layout == Layout::column_major), p.m, p.k, p.lda, p.a_stride, &BatchOffsets::a,
                      offset);
}
inline Operand operand_b(const Problem& p, std::size_t offset = 0) {
  if (is_weights(element_b(p.precision))) {
    return make_weights(p, element_b(p.precision), p.n, p.b_stride, &BatchOffsets::b, offset);
  }
  return make_operand(p, p.trans_b != (p.layout == Layout::column_major), p.k, p.n, p.ldb, p.b_stride, &BatchOffsets::b,
                      offset);
}
inline Operand operand_c(const Problem& p, std::size_t offset = 0) {
  return make_operand(p, p.layout == Layout::column_major, p.m, p.n, p.ldc, p.c_stride, &BatchOffsets::c, offset);
}
inline Operand operand_d(const Problem& p, std::size_t offset = 0) {
  return make_operand(p, p.layout == Layout::column_major, p.epilogue.has_d ? p.m : 0, p.n, p.epilogue.ldd,
                      p.epilogue.d_stride, &BatchOffsets::c, offset);
}
inline Operand make_vector(const Problem& p, std::size_t length, std::size_t stride, std::size_t offset) {
  const std::size_t batch = stride > 0 ? p.batch : std::min<std::size_t>(p.batch, 1);
  return {std::min<std::size_t>(p.m * p.n, 1), length, length, batch, stride, nullptr, &BatchOffsets::c, offset};
}
inline Operand operand_bias(const Problem& p, std::size_t offset = 0) {
  const Epilogue& e = p.epilogue;
  const std::size_t length = e.bias == Bias::none ? 0 : e.bias == Bias::per_row ? p.m : p.n;
  return make_vector(p, length, e.bias_stride, offset);
}
inline Operand operand_row_scales(const Problem& p, std::size_t offset = 0) {
  const Quantization& q = p.quantization;
  return make_vector(p, q.row_scales ? p.m : 0, q.row_scale_stride, offset);
}
inline Operand operand_column_scales(const Problem& p, std::size_t offset = 0) {
  const Quantization& q = p.quantization;
  return make_vector(p, q.column_scales ? p.n : 0, q.column_scale_stride, offset);
}

}  // namespace clbake
