// Limits of FORMAT.md that those who make bundles keep to.
#pragma once

#include <cstddef>

namespace clbake::cache {

// Launches of a variant, by kernel and local size. What learning and merging find beyond these is dropped: the program
// stays, and a launch of such a size may compile.
constexpr std::size_t kMaxLaunches = 4096;

constexpr std::size_t kMaxLogBytes = std::size_t{16} << 10;  // of a build's log, with an entry

}  // namespace clbake::cache
