// Libraries that are opened by their names when they are asked for.
#pragma once

#include <dlfcn.h>
#include <vector>

namespace clbake::tool {

// The first of the libraries that can be opened; null if none can. It stays open.
inline void* open_library(const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

// A function of the library; null if the library is null or lacks it.
template <typename Function>
Function function_of(void* library, const char* name) {
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

// False if the library is null or lacks the function.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = function_of<Function>(library, name);
  return function != nullptr;
}

}  // namespace clbake::tool
