// Sums of products in double precision: the work of all references, in blocks that stay in a core's cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <vector>

namespace clbake::builder {

// Calls work(0), work(1), ... below `count`, on all cores at once if there are so many operations that it pays, and
// returns the largest result.
double largest_of(std::size_t count, double operations, const std::function<double(std::size_t)>& work);

inline constexpr std::size_t kSumRows = 16, kSumColumns = 256, kSumDepth = 32;

inline double product_of(double x, double y) { return x * y; }
// Not the operator, which makes infinities of some NaNs.
inline std::complex<double> product_of(std::complex<double> x, std::complex<double> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// sums[j] += a[0] * b[0][j] + a[1] * b[1][j] + ..., where rows of b are kSumColumns apart. T: double or a complex
// double.
template <typename T>
void add_products(const T* a, const T* b, std::size_t depth, std::size_t columns, T* sums);

// The largest use(i, j, sum, size) of all elements (i, j) of op(A) * op(B), i in `rows`, j < n: the sum of the products
// a(i, l) * b(l, j), l < k in this order, and of the products of their sizes. b_down: columns of op(B) are contiguous.
template <typename Wide, typename A, typename B, typename Use>
double largest_of_sums(const std::vector<std::size_t>& rows, std::size_t n, std::size_t k, bool b_down, const A& a,
                       const B& b, const Use& use) {
  const std::size_t strips = (n + kSumColumns - 1) / kSumColumns;
  const std::size_t groups = (rows.size() + kSumRows - 1) / kSumRows;
  const auto block = [&](std::size_t number) {
    const std::size_t row = number / strips * kSumRows, column = number % strips * kSumColumns;
    const std::size_t height = std::min(kSumRows, rows.size() - row), width = std::min(kSumColumns, n - column);
    const std::size_t steps = std::min(kSumDepth, k);
    std::vector<Wide> sums(height * kSumColumns), x(steps), y(steps * kSumColumns);
    std::vector<double> sizes(sums.size()), x_sizes(x.size()), y_sizes(y.size());
    for (std::size_t begin = 0; begin < k; begin += kSumDepth) {
      const std::size_t depth = std::min(kSumDepth, k - begin);
      const auto take = [&](std::size_t l, std::size_t j) {
        const std::size_t at = l * kSumColumns + j;
        y[at] = b(begin + l, column + j);
        y_sizes[at] = std::abs(y[at]);
      };
      for (std::size_t l = 0; !b_down && l < depth; ++l) {
        for (std::size_t j = 0; j < width; ++j) take(l, j);
      }
      for (std::size_t j = 0; b_down && j < width; ++j) {
        for (std::size_t l = 0; l < depth; ++l) take(l, j);
      }
      for (std::size_t i = 0; i < height; ++i) {
        for (std::size_t l = 0; l < depth; ++l) x[l] = a(rows[row + i], begin + l);
        for (std::size_t l = 0; l < depth; ++l) x_sizes[l] = std::abs(x[l]);
        add_products(x.data(), y.data(), depth, width, &sums[i * kSumColumns]);
        add_products(x_sizes.data(), y_sizes.data(), depth, width, &sizes[i * kSumColumns]);
      }
    }
    double worst = 0;
    for (std::size_t i = 0; i < height; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        const std::size_t at = i * kSumColumns + j;
        worst = std::max(worst, use(rows[row + i], column + j, sums[at], sizes[at]));
      }
    }
    return worst;
  };
  const double operations = static_cast<double>(rows.size()) * static_cast<double>(n) * static_cast<double>(k);
  return largest_of(groups * strips, operations, block);
}

}  // namespace clbake::builder
