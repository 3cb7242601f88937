// OpenCL's functions in a table, where the library links no OpenCL: in the layer, and with CLBAKE_LOAD_OPENCL. The
// runtime's sources call OpenCL by name; table.cpp defines functions of these names, hidden ones, that lead to the
// table.
#pragma once

#include <CL/cl_icd.h>

#include <cstddef>

namespace clbake::opencl {

// Null where there is no such function.
const cl_icd_dispatch& functions();

// Takes over the first `entries` functions, which may be fewer or more than this version of OpenCL's headers knows.
// Called before any other thread can use the library.
void set_functions(const cl_icd_dispatch* from, std::size_t entries);

}  // namespace clbake::opencl
