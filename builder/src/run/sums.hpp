// Sums of products in double precision: the work of all references, in blocks that stay in a core's cache.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

namespace clbake::builder {

// Calls work(0), work(1), ... below `count`, on all cores at once if there are so many operations that it pays, and
// returns the largest result.
double largest_of(std::size_t count, double operations, const std::function<double(std::size_t)>& work);

inline constexpr std::size_t kSumRows = 16, kSumColumns = 256, kSumDepth = 32;

// A block of numbers as parts: real, imaginary (of complex numbers), and sizes.
template <typename Wide>
struct Parts {
  static constexpr bool is_complex = !std::is_same_v<Wide, double>;
  explicit Parts(std::size_t count) : real(count), imaginary(is_complex ? count : 0), size(count) {}
  std::vector<double> real, imaginary, size;

  void set(std::size_t at, const Wide& x) {
    real[at] = std::real(x);
    if constexpr (is_complex) imaginary[at] = x.imag();
    size[at] = std::abs(x);
  }
  Wide value(std::size_t at) const {
    if constexpr (is_complex)
      return {real[at], imaginary[at]};
    else
      return real[at];
  }
};

// sums[j] += sign * (a[0] * b[0][j] + a[1] * b[1][j] + ...), where rows of b are kSumColumns apart.
void add_products(const double* a, const double* b, double sign, std::size_t depth, std::size_t columns, double* sums);

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
    Parts<Wide> sums(height * kSumColumns), x(kSumDepth), y(std::min(kSumDepth, k) * kSumColumns);
    for (std::size_t begin = 0; begin < k; begin += kSumDepth) {
      const std::size_t depth = std::min(kSumDepth, k - begin);
      const auto take = [&](std::size_t l, std::size_t j) { y.set(l * kSumColumns + j, b(begin + l, column + j)); };
      for (std::size_t l = 0; !b_down && l < depth; ++l) {
        for (std::size_t j = 0; j < width; ++j) take(l, j);
      }
      for (std::size_t j = 0; b_down && j < width; ++j) {
        for (std::size_t l = 0; l < depth; ++l) take(l, j);
      }
      for (std::size_t i = 0; i < height; ++i) {
        for (std::size_t l = 0; l < depth; ++l) x.set(l, a(rows[row + i], begin + l));
        const auto add = [&](const auto& of_a, const auto& of_b, double sign, auto& to) {
          add_products(of_a.data(), of_b.data(), sign, depth, width, to.data() + i * kSumColumns);
        };
        add(x.real, y.real, 1, sums.real);
        add(x.size, y.size, 1, sums.size);
        if constexpr (Parts<Wide>::is_complex) {
          add(x.imaginary, y.imaginary, -1, sums.real);
          add(x.real, y.imaginary, 1, sums.imaginary);
          add(x.imaginary, y.real, 1, sums.imaginary);
        }
      }
    }
    double worst = 0;
    for (std::size_t i = 0; i < height; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        const std::size_t at = i * kSumColumns + j;
        worst = std::max(worst, use(rows[row + i], column + j, sums.value(at), sums.size[at]));
      }
    }
    return worst;
  };
  const double operations = static_cast<double>(rows.size()) * static_cast<double>(n) * static_cast<double>(k);
  return largest_of(groups * strips, operations, block);
}

}  // namespace clbake::builder
