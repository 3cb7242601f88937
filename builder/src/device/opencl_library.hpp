#pragma once

#include <clbake/status.hpp>

namespace clbake::builder {

// Opens OpenCL where the command does not link it (CLBAKE_LOAD_OPENCL); any number of times. Fails like load_opencl.
Status open_opencl();

}  // namespace clbake::builder
