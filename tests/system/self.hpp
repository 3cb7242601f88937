// The process that a test's helper is.
#pragma once

#include <cstdint>

namespace clbake::tests {

std::int64_t own_id();
std::int64_t parent_id();  // 0 on Windows

// By abort, whatever catches that; leaves no core file.
[[noreturn]] void crash();

extern const char* const kCrashed;  // the end of one that did, in os::describe

}  // namespace clbake::tests
