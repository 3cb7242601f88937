// libclbake-preload.so, for loaders without layers: loaded before the program's libOpenCL, it has OpenCL's functions,
// and puts libclbake-layer.so, which is beside it, between the program and the functions of that libOpenCL.
#include "opencl/table/forward.hpp"
#include "opencl/table/functions.hpp"

#include <CL/cl_layer.h>

#include <dlfcn.h>
#include <string>

namespace {

#define CLBAKE_FUNCTIONS(X) CLBAKE_RUNTIME_FUNCTIONS(X) CLBAKE_MORE_FUNCTIONS(X) CLBAKE_OTHER_FUNCTIONS(X)

// The libOpenCL that is linked; else one that is loaded for itself, as modules of Python's link theirs out of sight.
void* libopencl() {
  return dlsym(RTLD_NEXT, "clGetPlatformIDs") ? RTLD_NEXT : dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
}

// Null where that libOpenCL has no such function.
cl_icd_dispatch next_functions() {
  cl_icd_dispatch table = {};
  void* const library = libopencl();
  if (!library) return table;  // null would be all libraries, with this one
#define CLBAKE_NEXT(n, name) table.name = reinterpret_cast<decltype(table.name)>(dlsym(library, #name));
  CLBAKE_FUNCTIONS(CLBAKE_NEXT)
#undef CLBAKE_NEXT
  return table;
}

std::string beside_this(const char* file) {
  static const char here = 0;
  Dl_info info = {};
  if (dladdr(&here, &info) == 0 || !info.dli_fname) return file;
  const std::string own = info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + file;
}

// The layer's functions, or those of libOpenCL where there is no layer. Both need no end.
const cl_icd_dispatch& functions() {
  static const cl_icd_dispatch below = next_functions();
  static const cl_icd_dispatch* const table = [] {
    const cl_icd_dispatch* made = &below;
    void* const layer = dlopen(beside_this("libclbake-layer.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const init = layer ? dlsym(layer, "clInitLayer") : nullptr;
    cl_uint entries = sizeof below / sizeof(void*);
    if (init) static_cast<void>(reinterpret_cast<pfn_clInitLayer>(init)(entries, &below, &entries, &made));
    return made;
  }();
  return *table;
}

}  // namespace

#pragma GCC visibility push(default)
#define CLBAKE_EXPORTED(n, name) CLBAKE_FORWARD(n, name, functions(), CL_INVALID_OPERATION)
CLBAKE_FUNCTIONS(CLBAKE_EXPORTED)
#pragma GCC visibility pop
