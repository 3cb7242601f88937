// Handles of memory objects and samplers: what tells them from numbers among the values of arguments, where a driver
// does not say which arguments are which.
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Replaces the functions that make memory objects and samplers.
void install_handles(cl_icd_dispatch& table);

// True for one that was made in this process. Any thread.
bool is_memory(cl_mem handle);
bool is_sampler(cl_sampler handle);

}  // namespace clbake::layer::record
