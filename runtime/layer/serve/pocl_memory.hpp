// Files that PoCL makes of a baked program, in memory instead of on a disk.
#pragma once

#include <clbake/cache/model.hpp>

#include <cstdint>

namespace clbake::layer::serve {

// PoCL unpacks a binary into its cache directory and syncs each file to the disk: with forty kernels that takes 20 ms
// to seconds. This gives the program a place behind a link to memory in that directory, "YA" to "YP", which no program
// of PoCL or of the embedded runtime has; all other programs stay where they are. Does nothing unless
// CLBAKE_POCL_MEMORY is on and the bytes are such a program; nor where PoCL's directory is in memory already, /dev/shm
// is not, does not allow machine code or is not the user's own there; nor where less than its half would stay free or
// 512 programs are there, after those were removed that no process has loaded for a week. `checksum`: of the bytes, so
// that no two programs share a place. Any thread.
void place_in_memory(cache::Bytes& program, std::uint64_t checksum) noexcept;

// True for a program of PoCL's that clbake has taken the bitcode from.
bool is_slim_poclbin(const cache::Bytes& program) noexcept;

}  // namespace clbake::layer::serve
