#include "launch/aliasing.hpp"

#include <algorithm>
#include <utility>

namespace clbake {
namespace {

using Span = std::pair<std::size_t, std::size_t>;  // first element, one past the last

std::size_t matrix_start(const Region& r, std::size_t product) {
  return r.start + (r.offsets ? (*r.offsets)[product].*r.member : product * r.stride);
}

std::size_t length(const Region& r) { return (r.rows - 1) * r.ld + r.cols; }

bool empty(const Region& r) { return r.rows == 0 || r.cols == 0 || r.batch == 0; }

// All rows, in the order of the buffer; rows without a gap are one.
std::vector<Span> spans(const Region& r) {
  std::vector<Span> all;
  for (std::size_t i = 0; i < r.batch; ++i) {
    const std::size_t start = matrix_start(r, i);
    if (r.ld == r.cols) {
      all.emplace_back(start, start + length(r));
      continue;
    }
    for (std::size_t row = 0; row < r.rows; ++row) {
      all.emplace_back(start + row * r.ld, start + row * r.ld + r.cols);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Rows up to which all are compared, at 16 bytes each.
constexpr std::size_t kMostRows = std::size_t{1} << 22;

bool meet(const Span& x, const Span& y) { return x.first < y.second && y.first < x.second; }

bool rows_meet(const std::vector<Span>& x, const std::vector<Span>& y) {
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (meet(x[i], y[j])) return true;
    ++(x[i].second <= y[j].first ? i : j);
  }
  return false;
}

// From the first element to the last.
Span hull(const Region& r) {
  std::size_t first = matrix_start(r, 0);
  std::size_t last = first;
  for (std::size_t i = 0; r.offsets && i < r.batch; ++i) {
    first = std::min(first, matrix_start(r, i));
    last = std::max(last, matrix_start(r, i));
  }
  if (!r.offsets) last = matrix_start(r, r.batch - 1);
  return {first, last + length(r)};
}

// Blocks of one larger matrix whose rows do not cross its edge.
bool same_grid(const Region& x, const Region& y) {
  return x.batch == 1 && y.batch == 1 && !x.offsets && !y.offsets && x.ld == y.ld && x.start % x.ld + x.cols <= x.ld &&
         y.start % y.ld + y.cols <= y.ld;
}

Region region(const Problem& p, std::size_t start, std::size_t stride, std::size_t BatchOffsets::*member) {
  Region r;
  r.start = start;
  r.batch = p.batch;
  r.stride = stride;
  r.offsets = p.offsets.empty() ? nullptr : &p.offsets;
  r.member = member;
  return r;
}

Region shaped(Region r, std::size_t rows, std::size_t cols, std::size_t ld) {
  r.rows = rows;
  r.cols = cols;
  r.ld = ld;
  return r;
}

}  // namespace

Region region_of_a(const Problem& p, std::size_t start) {
  return shaped(region(p, start, p.a_stride, &BatchOffsets::a), p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, p.lda);
}

Region region_of_b(const Problem& p, std::size_t start) {
  return shaped(region(p, start, p.b_stride, &BatchOffsets::b), p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, p.ldb);
}

Region region_of_c(const Problem& p, std::size_t start) {
  return shaped(region(p, start, p.c_stride, &BatchOffsets::c), p.m, p.n, p.ldc);
}

Region region_of_d(const Problem& p, std::size_t start) {
  return shaped(region(p, start, p.epilogue.d_stride, &BatchOffsets::c), p.m, p.n, p.epilogue.ldd);
}

Region region_of_bias(const Problem& p, std::size_t start) {
  const std::size_t length = p.epilogue.bias == Bias::per_row ? p.m : p.n;
  Region r;
  r.start = start;
  r.stride = p.epilogue.bias_stride;
  r.batch = r.stride > 0 ? p.batch : 1;
  return shaped(r, 1, length, length);
}

bool overlap(const Region& x, const Region& y) {
  if (empty(x) || empty(y) || !meet(hull(x), hull(y))) return false;
  if (!same_grid(x, y)) {
    return x.rows > kMostRows / x.batch || y.rows > kMostRows / y.batch || rows_meet(spans(x), spans(y));
  }
  const auto columns = [](const Region& r) { return Span(r.start % r.ld, r.start % r.ld + r.cols); };
  const auto rows = [](const Region& r) { return Span(r.start / r.ld, r.start / r.ld + r.rows); };
  return meet(columns(x), columns(y)) && meet(rows(x), rows(y));
}

}  // namespace clbake
