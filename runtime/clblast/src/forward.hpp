// CLBlast itself, for calls that clbake does not serve.
#pragma once

#include <clblast.h>

namespace clbake::door {

// The address of CLBlast's function of the same name as this library's; null without CLBlast, or where its version
// lacks the function. CLBlast is what the program links; else what CLBAKE_CLBLAST_LIBRARY names, or libclblast.so.1, or
// libclblast.so, opened by the first call that may_open; the others take it if it is in the process. Any thread.
void* original_of(const void* same, bool may_open) noexcept;

// Calls CLBlast's function, or returns `otherwise` where it is null. Not by the API for C: that calls the functions for
// C++, which the dynamic linker binds to this library.
template <typename Function, typename... Arguments>
clblast::StatusCode call_or(clblast::StatusCode otherwise, void* function, Arguments... arguments) noexcept {
  try {
    return function ? reinterpret_cast<Function>(function)(arguments...) : otherwise;
  } catch (...) {  // CLBlast's API for C++ lets some through
    return clblast::StatusCode::kUnexpectedError;
  }
}

// Calls CLBlast's function of the same name.
template <typename Function, typename... Arguments>
clblast::StatusCode by_clblast(Function same, Arguments... arguments) noexcept {
  return call_or<Function>(clblast::StatusCode::kNotImplemented, original_of(reinterpret_cast<void*>(same), true),
                           arguments...);
}

// The same if CLBlast is in the process; else there is nothing to do.
template <typename Function, typename... Arguments>
clblast::StatusCode by_present_clblast(Function same, Arguments... arguments) noexcept {
  return call_or<Function>(clblast::StatusCode::kSuccess, original_of(reinterpret_cast<void*>(same), false),
                           arguments...);
}

}  // namespace clbake::door
