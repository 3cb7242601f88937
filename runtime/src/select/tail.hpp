// The tail of a product whose variant has a split_k of 0: kernels/KERNELS.md, "The tail".
#pragma once

#include <algorithm>
#include <cstddef>

namespace clbake {

struct Tail {
  std::size_t whole = 0;   // tiles of C that are computed over all of k; the others are the tail
  std::size_t tiles = 0;   // of the tail
  std::size_t slices = 1;  // of k, of each of these; 1: nothing is cut

  std::size_t parts() const { return tiles * slices; }
};

// A slice has at least four blocks of k, so that computing it takes longer than beginning it and adding it up. A guess:
// not measured.
constexpr std::size_t kSliceBlocks = 4;

// For so many tiles on so many compute units. The slices are never more than the units, and behind whole tiles fewer:
// on an H200 a full wave of slices lost there what it should gain (kernels/MEASUREMENTS.md).
inline Tail tail_of(std::size_t tiles, std::size_t units, std::size_t k, std::size_t block_k) {
  const std::size_t behind = units == 0 ? 0 : tiles % units;
  const std::size_t room = tiles > behind ? units - 1 : units;
  const std::size_t most = k / (kSliceBlocks * block_k);
  const std::size_t slices = behind == 0 ? 1 : std::min(room / behind, most);
  if (slices <= 1) return {tiles, 0, 1};
  return {tiles - behind, behind, slices};
}

}  // namespace clbake
