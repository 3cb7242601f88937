#include "launch/call_checks.hpp"

#include <algorithm>
#include <vector>

namespace clbake {

Status check_device(cl_context context, cl_device_id device) {
  std::size_t bytes = 0;
  cl_int error = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (error == CL_SUCCESS) error = clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr);
  if (error == CL_INVALID_CONTEXT) return {Argument::context, "context: " + opencl_error(error), error};
  if (error != CL_SUCCESS) return opencl_status("clGetContextInfo", error);
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return {};
  return {Argument::device, "device is none of the context's"};
}

Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device) {
  if (!queue) return {Argument::queue, "queue is null"};
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context, nullptr);
  if (error == CL_SUCCESS) {
    error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, nullptr);
  }
  if (error == CL_INVALID_COMMAND_QUEUE) return {Argument::queue, "queue: " + opencl_error(error), error};
  if (error != CL_SUCCESS) return opencl_status("clGetCommandQueueInfo", error);
  if (queue_context != context()) return {Argument::queue, "queue belongs to another context"};
  if (queue_device != device()) return {Argument::queue, "queue belongs to another device"};
  return {};
}

Status check_wait_list(cl_uint count, const cl_event* list) {
  if (count > 0 && !list) return {Argument::wait_list, "wait_list is null, wait_count is " + std::to_string(count)};
  for (cl_uint i = 0; i < count; ++i) {
    if (!list[i]) return {Argument::wait_list, "wait_list[" + std::to_string(i) + "] is null"};
  }
  return {};
}

Status check_buffer(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element) {
  const auto refused = [&](const char* why) { return Status(as.argument, std::string(as.name) + ": " + why); };
  if (!matrix.buffer) return refused("the buffer is null");
  std::size_t bytes = 0;
  cl_context owner = nullptr;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  cl_int error = clGetMemObjectInfo(matrix.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr);
  if (error == CL_SUCCESS && as.written) {
    error = clGetMemObjectInfo(matrix.buffer, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  }
  if (error == CL_INVALID_MEM_OBJECT) {
    return {as.argument, std::string(as.name) + ": " + opencl_error(error), error};
  }
  if (error != CL_SUCCESS) return opencl_status("clGetMemObjectInfo", error);
  if (owner != context()) return refused("the buffer belongs to another context");
  if (type != CL_MEM_OBJECT_BUFFER) return refused("an image or a pipe, not a buffer");
  if (flags & CL_MEM_READ_ONLY) {
    return {Argument::c_read_only, std::string(as.name) + ": kernels may not write to its buffer (CL_MEM_READ_ONLY)"};
  }
  const std::size_t elements = bytes / bytes_per_element;
  if (extent <= elements && matrix.offset <= elements - extent) return {};
  return {as.size, std::string(as.name) + " needs " + std::to_string(extent) + " elements from offset " +
                       std::to_string(matrix.offset) + ", its buffer has " + std::to_string(elements)};
}

}  // namespace clbake
