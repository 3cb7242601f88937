// Shared by the files of this folder.
#pragma once

#include <cstdint>

namespace clbake::os::windows {

// In a pipe: a section of shared memory, open in the receiving process, which closes it.
struct Message {
  std::uint64_t memory = 0;  // the handle
  std::uint64_t bytes = 0;
};

}  // namespace clbake::os::windows
