// How much two programs have in common, estimated without compressing them.
#pragma once

#include <clbake/cache/model.hpp>

#include <vector>

namespace clbake::cache {

// A sample of a program's pieces of 8 bytes: the smallest of their hashes, ascending. The same for all programs, so
// that what two programs share is in both samples.
using Sketch = std::vector<std::uint64_t>;

constexpr std::uint64_t kSketchHashes = 256;  // at most

Sketch sketch_of(ByteView program);

// How much of program `a` is also in program `b`, from 0 to kSketchHashes.
std::uint64_t shared_part(const Sketch& a, const Sketch& b);

}  // namespace clbake::cache
