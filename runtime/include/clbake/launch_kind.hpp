// Launches of one kind run one compiled function, on all drivers that are known: PoCL has others for large grids and
// for global offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace clbake {

// `local`: the local size, as JSON. `global` and `offset`: numbers.
template <typename Sizes>
std::string launch_kind(const std::string& local, const Sizes& global, const Sizes& offset) {
  constexpr std::uint64_t kLargeGrid = 65535;
  const bool large = std::any_of(std::begin(global), std::end(global), [](std::uint64_t n) { return n >= kLargeGrid; });
  const bool moved = std::any_of(std::begin(offset), std::end(offset), [](std::uint64_t n) { return n != 0; });
  return local + (large ? " large" : "") + (moved ? " moved" : "");
}

}  // namespace clbake
