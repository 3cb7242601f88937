#include "system/self.hpp"

#include <windows.h>
#include <cstdlib>

namespace clbake::tests {

std::int64_t own_id() { return ::GetCurrentProcessId(); }

std::int64_t parent_id() { return 0; }

void crash() { std::abort(); }

const char* const kCrashed = "ended by exception 0xc0000409";

}  // namespace clbake::tests
