// No exception crosses a library's boundary: those that the standard library can throw there become a Status.
#pragma once

#include <clbake/status.hpp>

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace clbake {

// The Status of the exception that is being handled: out_of_memory, of memory or of what locks and threads need.
// Exceptions that the standard library does not throw here pass on.
inline Status current_exception_to_status() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a container can ever hold
  } catch (const std::system_error&) {
  }
  return Status(Code::out_of_memory, {});  // a message would need memory
}

// Returns the result of `work` (a Status or a Result), or the Status of the exception that it threw.
template <typename Work>
auto exceptions_to_status(Work&& work) -> decltype(std::forward<Work>(work)()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return current_exception_to_status();
  }
}

}  // namespace clbake
