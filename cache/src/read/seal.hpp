// Digests and signatures: FORMAT.md, "Digests and signatures". Where they lie and whether they are well formed; nothing
// here computes or checks one.
#pragma once

#include "read/layout.hpp"

#include <vector>

namespace clbake::cache {

// In the order of the file. Fails with checksum, malformed or unsupported_version.
Result<std::vector<Signature>> read_signatures(const BundleView& view);

// Digests and signatures come together. What is signed lies in one piece before the first blob, and the signatures end
// the file, so that signing moves nothing. Checked by who asks for trust: opening a bundle does not pay for it. Fails
// with malformed; ok without either.
Status check_digest_layout(const Layout& layout, std::uint64_t file_bytes);

// The end of what is signed, from the start of the bundle. REQUIRES: has_digests().
std::uint64_t index_end(const BundleView& view);

}  // namespace clbake::cache
