// The functions below the layer: the loader's, which lead to the drivers.
#pragma once

#include <CL/cl_layer.h>

#include <cstddef>
#include <type_traits>

namespace clbake::layer {

// Null where the loader has no such function. The layer's own code calls OpenCL by this table only. The runtime inside
// the layer calls cl* by name: hidden functions of these names lead here, so that no call comes back to the layer.
const cl_icd_dispatch& down();

// Takes over the first `entries` functions of the loader's table, which may have fewer or more than this version of
// OpenCL's headers knows. Called once, before any other thread can use the layer.
void set_down(const cl_icd_dispatch* table, std::size_t entries);

// Puts a function of the layer into the loader's table. One that the loader does not have gets no replacement.
template <typename Function>
void replace(Function& entry, std::common_type_t<Function> with) {
  if (entry) entry = with;
}

}  // namespace clbake::layer
