// Launches: their local sizes, and for some of them trials.
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Replaces the functions that launch kernels.
void install_launches(cl_icd_dispatch& table);

}  // namespace clbake::layer::record
