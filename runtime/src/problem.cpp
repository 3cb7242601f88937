#include "problem.hpp"

#include <clbake/guard.hpp>

#include <climits>
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

Status check_problem(const Problem& p) {
  if (p.precision != Precision::single_precision && p.precision != Precision::double_precision) {
    return {Code::invalid_argument, "precision is neither single nor double"};
  }
  if (p.m > INT_MAX) return too_large("m", p.m);
  if (p.n > INT_MAX) return too_large("n", p.n);
  if (p.k > INT_MAX) return too_large("k", p.k);
  // A stored row of A holds k elements (m when transposed); column-major exchanges the two.
  const bool column_major = p.layout == Layout::column_major;
  Status status = check_leading_dimension("lda", p.lda, p.trans_a != column_major ? p.m : p.k);
  if (status) status = check_leading_dimension("ldb", p.ldb, p.trans_b != column_major ? p.k : p.n);
  if (status) status = check_leading_dimension("ldc", p.ldc, column_major ? p.m : p.n);
  return status;
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
  return p;
}

Status check(const Problem& p) {
  return guarded([&] { return check_problem(p); });
}

Extents extents(const Problem& problem) {
  const Problem p = row_major(problem);
  Extents e;
  e.a = p.trans_a ? extent(p.k, p.m, p.lda) : extent(p.m, p.k, p.lda);
  e.b = p.trans_b ? extent(p.n, p.k, p.ldb) : extent(p.k, p.n, p.ldb);
  e.c = extent(p.m, p.n, p.ldc);
  if (problem.layout == Layout::column_major) std::swap(e.a, e.b);
  return e;
}

}  // namespace clbake
