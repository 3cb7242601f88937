// What a caller may pass to enqueue, checked before anything is enqueued.
#pragma once

#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

namespace clbake {

// All fail with invalid_argument, naming the argument.
Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device);

// That the device is one of the context's.
Status check_device(cl_context context, cl_device_id device);

// That there are `count` events, none of them null.
Status check_wait_list(cl_uint count, const cl_event* list);

// That it is a buffer, of the context, and holds `extent` elements from the matrix's offset on.
Status check_buffer(const char* name, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element);

}  // namespace clbake
