// Libraries that are opened by their names when they are asked for, and the constants of their C interfaces.
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

// False if the library is null or lacks the function.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  return function != nullptr;
}

// The constants of BLAS (cblas.h) and CLBlast (clblast_c.h): row-major; not transposed, transposed, or conjugate
// transposed.
constexpr int kRowMajor = 101;
constexpr int blas_operation(bool transposed, bool conjugated) { return !transposed ? 111 : conjugated ? 113 : 112; }

}  // namespace clbake::tool
