// CLBlast itself, for calls that clbake does not serve. CLBlast is what the program links; else what
// CLBAKE_CLBLAST_LIBRARY names, or the first of its usual names, opened by the first call that may open it; the others
// take it if it is in the process.
#pragma once

#include "in_c.hpp"

#include <clbake/os/guest.hpp>

#include <clblast.h>

namespace clbake::door {

// The address of CLBlast's function for C++ of the same name as this library's `same`; on Windows, where compilers do
// not agree on names for C++, of its function for C. Elsewhere that one would call the function for C++, which the
// dynamic linker binds to this library. Null without CLBlast, or where its version lacks the function. Any thread.
void* original_of(const void* same, const char* name_in_c, bool may_open) noexcept;

// Calls CLBlast's function, or returns `otherwise` where there is none.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode call_or(clblast::StatusCode otherwise, bool may_open, Function* same, const Named<CFunction>& in_c,
                            Arguments... arguments) noexcept {
  void* const original = original_of(reinterpret_cast<const void*>(same), in_c.name, may_open);
  if (!original) return otherwise;
  try {
    if (os::kInterposes) return reinterpret_cast<Function*>(original)(arguments...);
    return static_cast<clblast::StatusCode>(reinterpret_cast<CFunction*>(original)(to_c(arguments)...));
  } catch (...) {  // CLBlast's API for C++ lets some through
    return clblast::StatusCode::kUnexpectedError;
  }
}

// Calls CLBlast's function.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode by_clblast(Function* same, const Named<CFunction>& in_c, Arguments... arguments) noexcept {
  return call_or(clblast::StatusCode::kNotImplemented, true, same, in_c, arguments...);
}

// The same if CLBlast is in the process; else there is nothing to do.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode by_present_clblast(Function* same, const Named<CFunction>& in_c, Arguments... arguments) noexcept {
  return call_or(clblast::StatusCode::kSuccess, false, same, in_c, arguments...);
}

}  // namespace clbake::door
