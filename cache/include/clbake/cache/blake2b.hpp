// BLAKE2b of 32 bytes, without a key (RFC 7693): the digest of an application's program.
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::cache {

// Any thread.
ContentDigest blake2b_256(ByteView bytes);

}  // namespace clbake::cache
