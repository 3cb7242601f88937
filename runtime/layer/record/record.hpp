// Mode that records: the program runs as without the layer, and a directory gets what it compiled and launched.
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Replaces functions of the loader's table. Called once, before any other thread can use the layer.
void install(cl_icd_dispatch& table);

}  // namespace clbake::layer::record
