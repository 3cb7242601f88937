// What a caller may pass to enqueue, checked before anything is enqueued.
#pragma once

#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

namespace clbake {

// All fail with invalid_argument, naming the argument; or with opencl or out_of_memory.
Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device);

// That the device is one of the context's.
Status check_device(cl_context context, cl_device_id device);

// That there are `count` events, none of them null.
Status check_wait_list(cl_uint count, const cl_event* list);

// How a failure names a buffer.
struct BufferArgument {
  const char* name;
  Argument argument;  // null, not a buffer, of another context
  Argument size;      // too small
  bool written = false;
};
inline constexpr BufferArgument kBufferA{"A", Argument::a, Argument::a_size};
inline constexpr BufferArgument kBufferB{"B", Argument::b, Argument::b_size};
inline constexpr BufferArgument kBufferC{"C", Argument::c, Argument::c_size, true};
inline constexpr BufferArgument kBufferD{"D", Argument::d, Argument::d_size};
inline constexpr BufferArgument kBias{"the bias", Argument::bias_vector, Argument::bias_size};
inline constexpr BufferArgument kWorkspace{"the workspace", Argument::workspace, Argument::workspace};

// That it is a buffer of the context, holds `extent` elements from the matrix's offset on and, if it is written, is not
// read-only to kernels.
Status check_buffer(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element);

}  // namespace clbake
