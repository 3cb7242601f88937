// Digests and signatures: FORMAT.md, "Digests and signatures". Where they lie and whether they are well formed; nothing
// here computes or checks one.
#pragma once

#include "read/layout.hpp"

#include <vector>

namespace clbake::cache {

// In the order of the file. Fails with checksum, malformed or unsupported_version.
Result<std::vector<Signature>> read_signatures(const BundleView& view);

// The end of what is signed, from the start of the bundle. REQUIRES: has_digests().
std::uint64_t index_end(const BundleView& view);

}  // namespace clbake::cache
