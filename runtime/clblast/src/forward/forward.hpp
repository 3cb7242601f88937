// CLBlast itself, for calls that clbake does not serve: opened when first needed.
#pragma once

#include <clblast.h>

namespace clbake::door {

// The address of a function of CLBlast by its symbol; null without CLBlast, or where its version lacks the function.
// Opens the library at the first call: CLBAKE_CLBLAST_LIBRARY, or else libclblast.so.1, libclblast.so. Any thread.
void* original(const char* symbol) noexcept;

// True once the library was opened.
bool original_is_open() noexcept;

// CLBlast's function of the same name as this library's; null like original().
void* original_of(const void* same) noexcept;

// Calls CLBlast's function of the same name. Not by the API for C: that calls the functions for C++, which the dynamic
// linker binds to this library.
template <typename... Parameters, typename... Arguments>
clblast::StatusCode by_clblast(clblast::StatusCode (*same)(Parameters...), Arguments... arguments) noexcept {
  const auto function = reinterpret_cast<decltype(same)>(original_of(reinterpret_cast<const void*>(same)));
  if (!function) return clblast::StatusCode::kNotImplemented;
  try {
    return function(arguments...);
  } catch (...) {  // CLBlast's API for C++ lets some through
    return clblast::StatusCode::kUnexpectedError;
  }
}

}  // namespace clbake::door
