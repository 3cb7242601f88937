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

// Replaces a file atomically: `path` is the old file or the complete new one at any moment. Writes a temporary file in
// the same directory, then fsync, rename, fsync of the directory; then removes temporary files of `path` that are older
// than an hour, which killed processes left behind. On failure (io; the message begins with the path) the
// temporary file is removed and the old file is untouched; so is what is not a regular file, such as a device.
Status write_file(const std::string& path, ByteView bytes);

// The same in an open directory, whose file descriptor stays the caller's, for a file that only its owner may read and
// write; replaces a pipe as well. The temporary file is named "<name>.tmp." and a suffix; a killed process leaves it
// behind.
Status write_private_file(int directory, const std::string& name, ByteView bytes);

// Makes the name of a file that was just written durable. Fails with io; the message does not name the file.
Status sync_directory_of(const std::string& path);

}  // namespace clbake::cache
