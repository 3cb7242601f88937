// XXH64, the checksum of the bundle format, after its public specification:
// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::cache {

std::uint64_t xxh64(const std::uint8_t* data, std::size_t bytes, std::uint64_t seed);

inline std::uint64_t xxh64(ByteView view, std::uint64_t seed) { return xxh64(view.data, view.size, seed); }

}  // namespace clbake::cache
