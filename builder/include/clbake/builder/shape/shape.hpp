// A problem as users write it: in shapes files, in profiles and in messages.
#pragma once

#include <clbake/clbake.hpp>

#include <cstddef>
#include <string>

namespace clbake::builder {

// The least and the largest weight of a shape.
constexpr double kLeastWeight = 1e-6;
constexpr double kMostWeight = 1e9;

// A row-major problem, products of a batch one after the other. Sizes are at least 1.
struct Shape : GemmKind {
  std::size_t m = 1;
  std::size_t n = 1;
  std::size_t k = 1;
  // From one stored row to the next, in elements; 0: no gap between rows. Those of A and B only, because a choice goes
  // by their alignment and not by C's.
  std::size_t lda = 0;
  std::size_t ldb = 0;
  std::size_t batch = 1;
  double weight = 1;  // of the time that is gained or lost on it, in the sums that a tuning goes by
};
// Equal as problems; weights do not matter.
bool operator==(const Shape& a, const Shape& b);

// "single nt": a precision and the transposes of A and B.
std::string kind_name(const GemmKind& kind);

// The words of a kind's name, which set that part of it; false for other words.
bool parse_precision(const std::string& word, GemmKind& kind);
bool parse_transposes(const std::string& word, GemmKind& kind);

// "single nt 1024x512x64", or "single nt 1024x512x64 lda 80 ldb 72 batch 16": leading dimensions where rows have gaps.
std::string name(const Shape& shape);
// The same, and " weight 2.5" unless the weight is 1.
std::string weighted_name(const Shape& shape);
// Reads what both of them give. Fails with malformed, which says what word is wrong.
Result<Shape> parse_shape(const std::string& text);

// The problem that a shape stands for, and the other way round for a row-major problem of at least one element, without
// its epilogue and the distances between its products.
Problem problem_of(const Shape& shape);
Shape shape_of(const Problem& problem);

// 2 * m * n * k * batch.
double operations(const Shape& shape);

// That of the real product which computes a complex one (m x 2n x 2k); a real one's own.
Shape real_shape(const Shape& shape);

// Giga-operations per second.
double gflops(const Shape& shape, double median_us);

// The class of a shape, as users speak of it: "batched"; "small" (m, n and k up to 128); "square" (m, n and k within a
// factor of 4 of each other); else the dimensions that are at most an eighth of the largest one: "thin-m", "thin-mk"
// ... or, when there is none, "oblong".
std::string shape_class(const Shape& shape);

}  // namespace clbake::builder
