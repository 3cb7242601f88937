// The size of the largest single allocation by operator new in this process, for tests that bound it.
#pragma once

#include <cstddef>

namespace clbake::cache::test {

void reset_largest_allocation();
std::size_t largest_allocation();  // bytes, since the reset

}  // namespace clbake::cache::test
