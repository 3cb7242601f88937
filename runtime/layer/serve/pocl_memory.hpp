// Files that PoCL makes of a baked program, in memory instead of on a disk.
#pragma once

#include <clbake/cache/model.hpp>

#include <cstdint>

namespace clbake::layer::serve {

// Gives a program of PoCL's a place behind a link to memory, "YA" to "YP" in PoCL's cache directory, which no program
// of PoCL or of the embedded runtime has: PoCL unpacks a binary there and syncs each file, which takes 20 ms to seconds
// on a disk for forty kernels. `checksum`: of the bytes, so that no two programs share a place. Any thread. Changes
// nothing where CLBAKE_POCL_MEMORY is off, the bytes are no slim_poclbin(), or PoCL's directory is in memory already;
// where /dev/shm is not, does not allow machine code, or has a directory there that is not the user's own; or where,
// after programs that no process has loaded for a week were removed, less than half of it would stay free or 512
// programs are there.
void place_in_memory(cache::Bytes& program, std::uint64_t checksum) noexcept;

}  // namespace clbake::layer::serve
