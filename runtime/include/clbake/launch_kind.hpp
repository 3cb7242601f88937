// Launches of one kind run one compiled function, on all drivers that are known: PoCL has others for large grids and
// for global offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace clbake {

// From this many work-items in x or y on, a grid is large.
inline constexpr std::size_t kLargeGrid = 65535;

template <typename Sizes>
bool is_large_grid(const Sizes& global, std::size_t dimensions) {
  for (std::size_t i = 0; i < std::min<std::size_t>(dimensions, 2); ++i) {
    if (global[i] >= kLargeGrid) return true;
  }
  return false;
}

// `local`: the local size, as JSON. `global` and `offset`: numbers.
template <typename Sizes>
std::string launch_kind(const std::string& local, const Sizes& global, const Sizes& offset) {
  const bool large = is_large_grid(global, std::size(global));
  const bool moved = std::any_of(std::begin(offset), std::end(offset), [](std::uint64_t n) { return n != 0; });
  return local + (large ? " large" : "") + (moved ? " moved" : "");
}

}  // namespace clbake
