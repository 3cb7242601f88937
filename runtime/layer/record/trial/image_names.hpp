// OpenCL's names of what images and samplers are made of, as a manifest has them: the constants' without "CL_".
#pragma once

#include <CL/cl_layer.h>

namespace clbake::layer::record {

// Null for values that OpenCL's headers do not know.
const char* order_name(cl_channel_order order);        // "RGBA"
const char* type_name(cl_channel_type type);           // "UNORM_INT8"
const char* image_name(cl_mem_object_type type);       // "2d_array"
const char* addressing_name(cl_addressing_mode mode);  // "CLAMP_TO_EDGE"
const char* filter_name(cl_filter_mode mode);          // "NEAREST"

}  // namespace clbake::layer::record
