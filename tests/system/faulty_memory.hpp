// Allocations that fail on demand, in executables that have faulty_memory.cpp among their sources: those of operator
// new, and of malloc, calloc and realloc where no sanitizer has its own.
#pragma once

#include <cstddef>

namespace clbake::tests {

// From now on the allocation number `nth` (0: the next one) of all threads fails, once or with all that follow.
// `exempt`, if not null: allocations of a thread for which it returns true neither fail nor count.
void fail_allocation(std::size_t nth, bool and_all_that_follow = false, bool (*exempt)() = nullptr);

// Ends that; returns whether an allocation failed.
bool stop_failing_allocations();

}  // namespace clbake::tests
