// Questions that the layer asks the drivers below it, and answers of any size. Any thread. Texts and lists are empty,
// and handles null, where the driver does not answer.
#pragma once

#include <CL/cl_layer.h>

#include <string>
#include <vector>

namespace clbake::layer {

std::string name_of(cl_kernel kernel);
std::string info_text(cl_program program, cl_program_info what);
std::string build_log_of(cl_program program, cl_device_id device);

// On PoCL, the parents of sub-devices.
std::vector<cl_device_id> devices_of(cl_program program);
std::vector<cl_device_id> devices_of(cl_context context);

cl_device_id device_of(cl_command_queue queue);
cl_platform_id platform_of(cl_device_id device);

// The arguments of clCreateProgramWithSource as one text, as OpenCL joins them.
std::string joined_sources(cl_uint count, const char** strings, const std::size_t* lengths);

}  // namespace clbake::layer
