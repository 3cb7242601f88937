// The functions below the layer: the loader's, which lead to the drivers.
#pragma once

#include <CL/cl_layer.h>

#include "opencl/table/table.hpp"

#include <type_traits>

namespace clbake::layer {

// Null where the loader has no such function. The layer's own code calls OpenCL by this table only, as does the runtime
// inside the layer, so that no call comes back to the layer.
inline const cl_icd_dispatch& down() { return opencl::functions(); }

// Puts a function of the layer into the loader's table. One that the loader does not have gets no replacement.
template <typename Function>
void replace(Function& entry, std::common_type_t<Function> with) {
  if (entry) entry = with;
}

}  // namespace clbake::layer
