// No exception crosses the library's boundary: the only one that can occur becomes a Status.
#pragma once

#include <clbake/status.hpp>

#include <new>
#include <utility>

namespace clbake::cache {

// What `work` returns (a Status or a Result), or out_of_memory.
template <typename Work>
auto guarded(Work&& work) -> decltype(std::forward<Work>(work)()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "out of memory");
  }
}

}  // namespace clbake::cache
