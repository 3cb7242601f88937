// Which program is the dictionary of which other one.
#pragma once

#include "pack/sketch.hpp"

namespace clbake::cache {

constexpr std::uint32_t kNoDictionary = UINT32_MAX;

// A program, and the others whose dictionary it may be or that may be its dictionary, by index. Who is a neighbour of
// whom is mutual.
struct PackItem {
  ByteView program;
  Sketch sketch;
  std::vector<std::uint32_t> neighbours;
};

// For each item the index of its dictionary, or kNoDictionary. No dictionary has one itself. Each is as large as the
// item or little larger, so that reading an item takes at most about twice the time.
std::vector<std::uint32_t> choose_dictionaries(const std::vector<PackItem>& items);

}  // namespace clbake::cache
