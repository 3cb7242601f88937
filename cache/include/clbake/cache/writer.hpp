// The writing side of a bundle: used by the builder, the tools, and the runtime's overlay.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// Whether what is large and read once (sources, profiles, programs) is compressed: for bundles that are kept; or not:
// milliseconds less for those that only pass from one process to another. Readers take either.
enum class Packing { compressed, plain };

// The bytes of a bundle. Equal contents give equal bytes, in whatever order its lists are: records are sorted and
// the indices between them renumbered; targets, sources, variants and programs that are equal are stored once.
// Fails with invalid_argument when an index points nowhere, two variants that differ share a name, two entries
// share target, variant and form, a target has two profiles, a program is empty, or a size is over the limits
// of FORMAT.md.
Result<Bytes> encode(const Contents& contents, Packing packing = Packing::compressed);

// Writes a file so that at any moment `path` is either the old file or the complete new one: a temporary file in
// the same directory, fsync, rename, fsync of the directory. On failure (io; the message begins with the path)
// the temporary file is removed and the old file is untouched.
Status write_file(const std::string& path, ByteView bytes);

// The same in an open directory, whose file descriptor stays the caller's, for a file that only its owner may read and
// write. The temporary file, which a killed process leaves behind, has the name "<name>.tmp." and more.
Status write_private_file(int directory, const std::string& name, ByteView bytes);

}  // namespace clbake::cache
