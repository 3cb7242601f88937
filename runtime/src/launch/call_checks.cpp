#include "launch/call_checks.hpp"

#include <algorithm>
#include <vector>

namespace clbake {

Status check_device(cl_context context, cl_device_id device) {
  std::size_t bytes = 0;
  cl_int error = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (error == CL_SUCCESS) error = clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr);
  if (error == CL_INVALID_CONTEXT) return {Code::invalid_argument, "context: " + opencl_error(error)};
  if (error != CL_SUCCESS) return opencl_failure("clGetContextInfo", error);
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return {};
  return {Code::invalid_argument, "device is none of the context's"};
}

Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device) {
  if (!queue) return {Code::invalid_argument, "queue is null"};
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context, nullptr);
  if (error == CL_SUCCESS) {
    error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, nullptr);
  }
  if (error == CL_INVALID_COMMAND_QUEUE) return {Code::invalid_argument, "queue: " + opencl_error(error)};
  if (error != CL_SUCCESS) return opencl_failure("clGetCommandQueueInfo", error);
  if (queue_context != context()) return {Code::invalid_argument, "queue belongs to another context"};
  if (queue_device != device()) return {Code::invalid_argument, "queue belongs to another device"};
  return {};
}

Status check_wait_list(cl_uint count, const cl_event* list) {
  if (count > 0 && !list) return {Code::invalid_argument, "wait_list is null, wait_count is " + std::to_string(count)};
  for (cl_uint i = 0; i < count; ++i) {
    if (!list[i]) return {Code::invalid_argument, "wait_list[" + std::to_string(i) + "] is null"};
  }
  return {};
}

Status check_buffer(const char* name, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element) {
  if (!matrix.buffer) return {Code::invalid_argument, std::string(name) + ": the buffer is null"};
  std::size_t bytes = 0;
  cl_context owner = nullptr;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_int error = clGetMemObjectInfo(matrix.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr);
  if (error == CL_INVALID_MEM_OBJECT) return {Code::invalid_argument, std::string(name) + ": " + opencl_error(error)};
  if (error != CL_SUCCESS) return opencl_failure("clGetMemObjectInfo", error);
  if (owner != context())
    return {Code::invalid_argument, std::string(name) + ": the buffer belongs to another context"};
  if (type != CL_MEM_OBJECT_BUFFER)
    return {Code::invalid_argument, std::string(name) + ": an image or a pipe, not a buffer"};
  const std::size_t elements = bytes / bytes_per_element;
  if (extent <= elements && matrix.offset <= elements - extent) return {};
  return {Code::invalid_argument, std::string(name) + " needs " + std::to_string(extent) + " elements from offset " +
                                      std::to_string(matrix.offset) + ", its buffer has " + std::to_string(elements)};
}

}  // namespace clbake
