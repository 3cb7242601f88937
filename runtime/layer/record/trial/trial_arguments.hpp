// The arguments of a launch, as a trial states them; and contents of memory objects, copied by the queue that launches
// the kernel.
#pragma once

#include "record/kernels.hpp"

#include <CL/cl_layer.h>

#include <optional>
#include <string>
#include <vector>

namespace clbake::layer::record {

// A buffer or an image, as a manifest states it.
struct Memory {
  cl_mem handle = nullptr;
  std::string fields;  // of its argument in a trial: the object's text, without a content
  bool is_image = false;
  bool has_content = true;            // false: kernels only write it, so that zeros take the place of its content
  std::size_t element_bytes = 1;      // of a pixel
  std::size_t region[3] = {1, 1, 1};  // pixels; bytes of a buffer

  std::size_t bytes() const { return element_bytes * region[0] * region[1] * region[2]; }
};

struct TrialArgument {
  std::string fields;            // of the manifest: an object's text, whole unless there is a memory object
  std::optional<Memory> memory;  // whose content is part of it
};

// Sets `arguments` to those that `state` holds. Returns why the launch cannot be tried; empty when it can.
std::string arguments_of(cl_kernel kernel, const KernelState& state, std::vector<TrialArgument>& arguments);

// Enqueues the copy, which does not block. `to` has room for all bytes, and lasts until the event ends. Returns
// OpenCL's error.
cl_int enqueue_read(cl_command_queue queue, const Memory& memory, cl_uint waits, const cl_event* wait_list, void* to,
                    cl_event* event);

}  // namespace clbake::layer::record
