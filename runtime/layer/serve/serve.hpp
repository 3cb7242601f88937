// Mode that serves: programs that a bundle or the overlay has are loaded instead of compiled.
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::serve {

// Replaces functions of the loader's table. Called once, before any other thread can use the layer.
void install(cl_icd_dispatch& table);

}  // namespace clbake::layer::serve
