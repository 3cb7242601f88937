#include "select/problem.hpp"

#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>

namespace clbake {
namespace {

Status too_large(const char* field, std::size_t value) {
  return {Code::invalid_argument, std::string(field) + " = " + std::to_string(value) + " is more than the " +
                                      std::to_string(INT_MAX) + " that a kernel can count"};
}

Status check_leading_dimension(const char* field, std::size_t value, std::size_t length) {
  if (value > INT_MAX) return too_large(field, value);
  const std::size_t least = length > 0 ? length : 1;
  if (value >= least) return {};
  return {Code::invalid_argument, std::string(field) + " = " + std::to_string(value) + " is less than the " +
                                      std::to_string(least) + " elements of a stored row or column"};
}

// Elements from the first to the last of a rows x cols matrix. At most 2^62: both factors are below 2^31.
std::size_t extent(std::size_t rows, std::size_t cols, std::size_t ld) {
  return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

// Distances of matrices are limited so that sums of them with a matrix's extent do not overflow.
constexpr std::size_t kMaxDistance = std::size_t{1} << 62;

Status check_distance(const char* field, std::size_t value, std::size_t most = kMaxDistance) {
  if (value <= most) return {};
  return {Code::invalid_argument, std::string(field) + " = " + std::to_string(value) + " is more than the " +
                                      std::to_string(most) + " elements that can be addressed"};
}

Status check_batch(const Problem& p) {
  if (p.batch > INT_MAX) return too_large("batch", p.batch);
  if (p.offsets.empty()) {
    if (p.batch <= 1) return {};
    if (p.c_stride == 0) return {Code::invalid_argument, "c_stride = 0: all products would write to the same C"};
    const std::size_t most = kMaxDistance / p.batch;
    Status status = check_distance("a_stride", p.a_stride, most);
    if (status) status = check_distance("b_stride", p.b_stride, most);
    return status ? check_distance("c_stride", p.c_stride, most) : status;
  }
  if (p.offsets.size() != p.batch) {
    return {Code::invalid_argument,
            "offsets has " + std::to_string(p.offsets.size()) + " members, batch is " + std::to_string(p.batch)};
  }
  Status status;
  for (const BatchOffsets& product : p.offsets) {
    if (status) status = check_distance("an offset of A", product.a);
    if (status) status = check_distance("an offset of B", product.b);
    if (status) status = check_distance("an offset of C", product.c);
  }
  return status;
}

// How far the last of a batch's matrices lies behind the first.
std::size_t last_matrix(const Problem& p, std::size_t stride, std::size_t BatchOffsets::*offset) {
  if (p.offsets.empty()) return (p.batch - 1) * stride;
  std::size_t furthest = 0;
  for (const BatchOffsets& product : p.offsets) furthest = std::max(furthest, product.*offset);
  return furthest;
}

Status check_problem(const Problem& p) {
  if (p.precision != Precision::half_precision && p.precision != Precision::single_precision &&
      p.precision != Precision::double_precision) {
    return {Code::invalid_argument, "precision is neither half, single nor double"};
  }
  if (p.layout != Layout::row_major && p.layout != Layout::column_major) {
    return {Code::invalid_argument, "layout is neither row-major nor column-major"};
  }
  if (p.m > INT_MAX) return too_large("m", p.m);
  if (p.n > INT_MAX) return too_large("n", p.n);
  if (p.k > INT_MAX) return too_large("k", p.k);
  // A stored row of A holds k elements (m when transposed); column-major exchanges the two.
  const bool column_major = p.layout == Layout::column_major;
  Status status = check_leading_dimension("lda", p.lda, p.trans_a != column_major ? p.m : p.k);
  if (status) status = check_leading_dimension("ldb", p.ldb, p.trans_b != column_major ? p.k : p.n);
  if (status) status = check_leading_dimension("ldc", p.ldc, column_major ? p.m : p.n);
  return status ? check_batch(p) : status;
}

}  // namespace

Problem row_major(const Problem& problem) {
  if (problem.layout == Layout::row_major) return problem;
  Problem p = problem;
  p.layout = Layout::row_major;
  p.trans_a = problem.trans_b;
  p.trans_b = problem.trans_a;
  p.m = problem.n;
  p.n = problem.m;
  p.lda = problem.ldb;
  p.ldb = problem.lda;
  p.a_stride = problem.b_stride;
  p.b_stride = problem.a_stride;
  for (BatchOffsets& product : p.offsets) std::swap(product.a, product.b);
  return p;
}

Status check(const Problem& p) {
  return exceptions_to_status([&] { return check_problem(p); });
}

const char* name(Origin origin) {
  switch (origin) {
    case Origin::native: return "native";
    case Origin::portable: return "portable";
    case Origin::overlay: return "overlay";
    case Origin::source: break;
  }
  return "source";
}

Extents extents(const Problem& problem) {
  const Problem p = row_major(problem);
  Extents e;
  e.a = p.trans_a ? extent(p.k, p.m, p.lda) : extent(p.m, p.k, p.lda);
  e.b = p.trans_b ? extent(p.n, p.k, p.ldb) : extent(p.k, p.n, p.ldb);
  e.c = extent(p.m, p.n, p.ldc);
  if (p.batch == 0) e = {};
  if (e.a > 0) e.a += last_matrix(p, p.a_stride, &BatchOffsets::a);
  if (e.b > 0) e.b += last_matrix(p, p.b_stride, &BatchOffsets::b);
  if (e.c > 0) e.c += last_matrix(p, p.c_stride, &BatchOffsets::c);
  if (problem.layout == Layout::column_major) std::swap(e.a, e.b);
  return e;
}

}  // namespace clbake
