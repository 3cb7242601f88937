// Which program is the dictionary of which other one.
#pragma once

#include <clbake/cache/model.hpp>

#include <vector>

namespace clbake::cache {

// How much two programs have in common is estimated without compressing them.

// A sample of a program's pieces of 8 bytes: the smallest of their hashes, ascending. The same for all programs, so
// that what two programs share is in both samples.
using Sketch = std::vector<std::uint64_t>;

constexpr std::uint64_t kSketchHashes = 256;  // at most

Sketch sketch_of(ByteView program);

// How much of program `a` is also in program `b`, from 0 to kSketchHashes.
std::uint64_t shared_part(const Sketch& a, const Sketch& b);

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
