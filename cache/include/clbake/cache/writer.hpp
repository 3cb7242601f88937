// The writing side of a bundle: used by the builder and tools, never linked by the runtime.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// The bytes of a bundle. Equal contents give equal bytes, in whatever order its lists are: records are sorted and
// the indices between them renumbered; targets, sources, variants and programs that are equal are stored once.
// Fails with invalid_argument when an index points nowhere, two variants that differ share a name, two entries
// share target, variant and form, a target has two profiles, a program is empty, or a size is over the limits
// of FORMAT.md.
Result<Bytes> encode(const Contents& contents);

// Writes a file so that at any moment `path` is either the old file or the complete new one: a temporary file in
// the same directory, fsync, rename, fsync of the directory. On failure (io; the message begins with the path)
// the temporary file is removed and the old file is untouched.
Status write_file(const std::string& path, ByteView bytes);

}  // namespace clbake::cache
