// A mixed problem's matrices on the host, and its reference: GemmRun's part for them.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/operand.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace clbake::builder {

// The buffers' bytes. Integers are uniform in all of their type, e4m3 and e5m2 and scales in [-1, 1). 7f is where
// nothing may be read: a NaN of e4m3 and e5m2. Packed weights have random codes, scales and zero points.
struct MixedHost {
  std::vector<std::uint8_t> a, b, c, d, bias, row_scales, column_scales;
  std::vector<std::vector<float>> weights;  // packed weights as numbers, k x n, those of each product
};

// `guard`: bytes after C.
MixedHost make_mixed(const Problem& problem, const GemmRunOptions& options, std::size_t guard, std::mt19937& random);

// True when everything between and after the rows of C is unchanged.
bool guards_intact(const MixedHost& before, const Problem& problem, const GemmRunOptions& options,
                   const std::vector<std::uint8_t>& after);

// The largest error of these rows of a product of the batch, as reference.hpp's max_error counts it: an int8 or uint8
// result is right if no whole number is nearer by more than the tolerance, an int32 one only if it is equal.
double max_error(const MixedHost& host, const Problem& problem, const GemmRunOptions& options, std::size_t product,
                 const std::vector<std::uint8_t>& result, const std::vector<std::size_t>& rows);

}  // namespace clbake::builder
