#include "launch/aliasing.hpp"

#include <algorithm>
#include <utility>

namespace clbake {
namespace {

using Span = std::pair<std::size_t, std::size_t>;  // first element, one past the last

// All rows, in the order of the buffer; rows without a gap are one.
std::vector<Span> spans(const Operand& x) {
  std::vector<Span> all;
  if (x.ld == x.cols) {
    for (std::size_t i = 0; i < x.batch; ++i) all.emplace_back(x.start(i), x.start(i) + x.length());
  } else {
    x.for_each_row([&](std::size_t first) { all.emplace_back(first, first + x.cols); });
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
Span hull(const Operand& x) { return {x.first_start(), x.extent()}; }

// Blocks of one larger matrix whose rows do not cross its edge.
bool same_grid(const Operand& x, const Operand& y) {
  const auto is_block = [](const Operand& o) { return o.batch == 1 && !o.offsets && o.offset % o.ld + o.cols <= o.ld; };
  return x.ld == y.ld && is_block(x) && is_block(y);
}

}  // namespace

bool overlap(const Operand& x, const Operand& y) {
  if (x.empty() || y.empty() || !meet(hull(x), hull(y))) return false;
  if (!same_grid(x, y)) {
    return x.rows > kMostRows / x.batch || y.rows > kMostRows / y.batch || rows_meet(spans(x), spans(y));
  }
  const auto columns = [](const Operand& o) { return Span(o.offset % o.ld, o.offset % o.ld + o.cols); };
  const auto rows = [](const Operand& o) { return Span(o.offset / o.ld, o.offset / o.ld + o.rows); };
  return meet(columns(x), columns(y)) && meet(rows(x), rows(y));
}

}  // namespace clbake
