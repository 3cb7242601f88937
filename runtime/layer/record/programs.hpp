// Programs as the process makes them: their texts, from creation to the last build.
#pragma once

#include "record/seen.hpp"

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Replaces the functions that make programs.
void install_programs(cl_icd_dispatch& table);

// The recorded program of a handle from which a kernel was made; null: it is not recorded. With seen_mutex held.
SeenProgram* built_program(cl_program program);

// clCreateProgramWithILKHR, for a name that a program asks for; null for other names.
void* il_extension(const char* name);

}  // namespace clbake::layer::record
