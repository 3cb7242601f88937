// No exception crosses a library's boundary: those that the standard library can throw there become a Status.
#pragma once

#include <clbake/status.hpp>

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace clbake {

// What `work` returns (a Status or a Result), or out_of_memory: of memory, or of what locks and threads need.
template <typename Work>
auto exceptions_to_status(Work&& work) -> decltype(std::forward<Work>(work)()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, {});  // a message would need memory
  } catch (const std::length_error&) {
    return Status(Code::out_of_memory, {});  // more than a container can ever hold
  } catch (const std::system_error&) {
    return Status(Code::out_of_memory, {});
  }
}

}  // namespace clbake
