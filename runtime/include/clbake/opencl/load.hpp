// OpenCL opened at run time: by a libclbake that is built with CLBAKE_LOAD_OPENCL=ON, which links no OpenCL. Another
// libclbake does not have these functions.
//
//   clbake::Status opened = clbake::load_opencl();
//   if (!opened) std::fprintf(stderr, "%s\n", opened.message().c_str());
//
// One of them is called before any other thread uses the library; until then every call that needs OpenCL fails with
// Code::opencl. The functions stay in use until the process ends: a later call succeeds if it finds the same ones.
// Contexts, devices, queues and buffers that are given to the library must be made by the same functions.
#pragma once

#include <clbake/export.h>
#include <clbake/status.hpp>

#include <string>

namespace clbake {

// Opens OpenCL's library and uses its functions. `path`: a file, or a name that the system looks up; empty: the names
// that OpenCL has on this system, one after another. Fails with not_found, and the system's reasons, when none can be
// opened; else like use_opencl.
CLBAKE_API Status load_opencl(const std::string& path = {});

// Any function; it is called with its own type.
using OpenclFunction = void (*)();

// Returns the function of this name, such as "clBuildProgram", or null. Must not throw.
using OpenclLookup = OpenclFunction (*)(const char* name, void* data);

// Uses functions that the application has, which `lookup` finds by their names before use_opencl returns. Those of
// OpenCL 1.2 must be there. Fails with invalid_argument, and changes nothing, when one is missing (the message names
// it), or when other functions are used already.
CLBAKE_API Status use_opencl(OpenclLookup lookup, void* data);

}  // namespace clbake
