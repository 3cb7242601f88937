// The writing side of a bundle: used by the builder, the tools, and the runtime's overlay.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// compressed: sources, profiles and programs are zstd frames; for bundles that are kept.
// plain: nothing is; saves milliseconds for bundles that only pass from one process to another. Readers take either.
enum class Packing { compressed, plain };

// Writes the digest of `bytes` to `digest`, 32 bytes: FORMAT.md, "Digests and signatures", says of which function. This
// library has none of its own, as what embeds it may have no use for one. Called by several threads at once.
using DigestFunction = void (*)(ByteView bytes, std::uint8_t* digest);

// The bytes of a bundle. Equal contents in any order give equal bytes: records are sorted, the indices between them
// renumbered, and equal targets, sources, variants and programs stored once. Fails with invalid_argument when an index
// is out of range, two different variants have one name, two entries have the same target, variant and form, a target
// has two profiles, a program is empty, or a size exceeds the limits of FORMAT.md.
Result<Bytes> encode(const Contents& contents, Packing packing = Packing::compressed);

// os::write_file, without its exceptions.
Status write_file(const std::string& path, ByteView bytes);

}  // namespace clbake::cache
