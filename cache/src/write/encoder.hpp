// The end of writing, for programs that were compressed before: by `pack`, on all cores.
#pragma once

#include <clbake/cache/writer.hpp>

#include "write/canonical.hpp"

namespace clbake::cache {

// The stored form of an entry's program. Equal programs have equal ones.
struct PackedProgram {
  ByteView frame;                // a zstd frame; empty if the program is stored as it is
  std::uint32_t dictionary = 0;  // of the frame: 0, or 1 + the entry whose program it is
};

// The bytes of a bundle. `programs` has one item for each entry, in the same order; `digest` may be null.
Result<Bytes> encode_canonical(const CanonicalContents& contents, const std::vector<PackedProgram>& programs,
                               DigestFunction digest);

}  // namespace clbake::cache
