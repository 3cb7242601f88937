// Handles of memory objects and samplers: what tells them from numbers among the values of arguments, where a driver
// does not say which arguments are which. And events that the program ends when it likes.
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Replaces the functions that make, keep and release them.
void install_handles(cl_icd_dispatch& table);

// True for one that was made in this process and is not released. Any thread.
bool is_memory(cl_mem handle);
bool is_sampler(cl_sampler handle);

// True while a user event is there that the program has not ended: commands may wait for it, of any queue.
bool has_open_user_event();

}  // namespace clbake::layer::record
