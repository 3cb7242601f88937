// Files. Any thread may call these functions at any time. Messages of failures begin with the path. Nothing here opens
// a file for a child process.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace clbake::os {

// The bytes of a file, in place. Copies share one mapping, which lives as long as `owner`.
struct Mapping {
  std::shared_ptr<const void> owner;
  const std::uint8_t* data = nullptr;  // null for an empty file
  std::size_t size = 0;                // bytes
};

// Maps a regular file read-only; the file may be replaced or removed meanwhile. Fails with not_found or io.
Result<Mapping> map_file(const std::string& path);

// All of a regular file; anything else is not opened. Fails with not_found; io; or malformed when it has more than
// `most_bytes`.
Result<std::string> read_file(const std::string& path, std::uintmax_t most_bytes);

// All of a file or a pipe, for whose writer it waits. Fails like read_file.
Result<std::string> read_file_or_pipe(const std::string& path, std::uintmax_t most_bytes);

// Fails like read_file, with a message that begins with "standard input".
Result<std::string> read_standard_input(std::uintmax_t most_bytes);

// Replaces a file atomically: `path` is the old file or the complete new one at any moment. Writes a temporary file in
// the same directory, syncs it, renames it; then removes temporary files of `path` that are older than an hour, which
// killed processes left behind. On failure (io) the temporary file is removed and the old file is untouched; so is
// what is not a regular file, such as a device.
Status write_file(const std::string& path, std::string_view bytes);

// Fails with io where write_file would leave what is there.
Status check_replaceable(const std::string& path);

// Like write_file, for a file that only its user may read and write; replaces what is not a regular file as well.
Status write_private_file(const std::string& path, std::string_view bytes);

enum class Access {
  user,      // only the user of the process may read and write
  everyone,  // everybody may read
};

// Creates a file. Fails with io, and leaves none behind then; with invalid_argument when there is one already.
Status create_file(const std::string& path, std::string_view bytes, Access access);

// The first `most_bytes` of a file that only its owner may use, of a pipe or, for "-", of standard input, without a
// copy in memory but `text`. Fails with not_found; io; or invalid_argument when others may read the file.
Status read_secret(const std::string& path, std::string& text, std::size_t most_bytes);

// Makes the name of a file that was just written durable, where the system can. Fails with io.
Status sync_directory_of(const std::string& path);

// False when there is no such file, or it cannot be removed. Not for directories.
bool remove_file(const std::string& path);

}  // namespace clbake::os
