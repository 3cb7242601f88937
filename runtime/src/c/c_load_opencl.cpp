// The C API's way to OpenCL's functions, of a library that links none.
#include <clbake/opencl/load.h>
#include <clbake/opencl/load.hpp>

#include "c/c_api.hpp"

using namespace clbake::c;

clbake_code clbake_load_opencl(const char* path, clbake_error* error) {
  return run(error, [&] { return clbake::load_opencl(path ? path : ""); });
}

clbake_code clbake_use_opencl(clbake_opencl_lookup lookup, void* data, clbake_error* error) {
  return run(error, [&] { return clbake::use_opencl(lookup, data); });
}
