// Sizes of packed weights (kernels/WEIGHTS.md): for the runtime, the packer and the builder.
#pragma once

#include <clbake/gemm_kind.hpp>

#include <cstddef>

namespace clbake {

inline constexpr std::size_t kWeightPanel = 16;   // columns that lie side by side
inline constexpr std::size_t kWeightHeader = 64;  // bytes before the first panel
inline constexpr std::size_t kWeightAlignment = 16;

// A matrix of packed weights: op(B), k x n.
struct WeightFormat {
  std::size_t k = 0;  // a multiple of the group
  std::size_t n = 0;
  std::size_t bits = 4;    // 4 or 8
  std::size_t group = 32;  // steps of k that share a scale: 32, 64 or 128
  bool has_zeros = false;  // a zero point for each scale; else all are the middle code, 8 or 128
};

constexpr bool is_weight_group(std::size_t group) { return group == 32 || group == 64 || group == 128; }

// Bytes of a group of one panel before its codes, and all of them.
constexpr std::size_t weight_head(const WeightFormat& f) { return kWeightPanel * (f.has_zeros ? 3 : 2); }
constexpr std::size_t weight_block(const WeightFormat& f) {
  return weight_head(f) + kWeightPanel * f.group * f.bits / 8;
}

// The one of four steps of k in a word that a byte has, and the byte that has a step: each the inverse of the other.
constexpr std::size_t swapped_in_word(std::size_t step) { return step % 4 / 2 + step % 2 * 2; }

// Bytes of all. Requires k and n below 2^31.
constexpr std::size_t weight_bytes(const WeightFormat& f) {
  return kWeightHeader + (f.n + kWeightPanel - 1) / kWeightPanel * (f.k / f.group) * weight_block(f);
}

}  // namespace clbake
