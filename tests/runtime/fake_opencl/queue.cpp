// Queues, and the commands that one enqueues.
#include "fake_opencl/scheduler.hpp"

#include <cstring>

using namespace fake;

namespace {

// Checks that a launch is possible; writes the number of work-groups.
cl_int check_launch(const Kernel& kernel, cl_uint dimensions, const std::size_t* global, const std::size_t* local,
                    std::size_t* groups) {
  const std::size_t arguments = std::strlen(signature(kernel.role));
  for (std::size_t i = 0; i < arguments; ++i) {
    if (!kernel.arguments.set[i]) return CL_INVALID_KERNEL_ARGS;
  }
  if (dimensions != 3) return CL_INVALID_WORK_DIMENSION;
  if (!global || !local) return CL_INVALID_GLOBAL_WORK_SIZE;
  std::size_t items = 1;
  for (int d = 0; d < 3; ++d) {
    if (global[d] == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
    if (local[d] == 0 || global[d] % local[d] != 0) return CL_INVALID_WORK_GROUP_SIZE;
    items *= local[d];
    groups[d] = global[d] / local[d];
  }
  return items > 256 ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

// Place for the call's event; null when none is wanted, or when the call lies.
cl_event* its_event(const Call& call, cl_event* event) {
  if (event && call.lies) *event = nullptr;
  return call.lies ? nullptr : event;
}

// Reads or writes `bytes` bytes of the buffer.
template <typename Copy>
cl_int transfer(const Call& call, const Submission& submission, cl_mem id, cl_bool blocking, std::size_t offset,
                std::size_t bytes, const void* host, const Copy& copy) {
  if (call.error != CL_SUCCESS) return call.error;
  const cl_int result = check(call, submission);
  if (result != CL_SUCCESS) return result;
  const auto* memory = object<Memory>(id);
  if (!call.valid(memory)) return CL_INVALID_MEM_OBJECT;
  if (!host || bytes > memory->bytes || offset > memory->bytes - bytes) return CL_INVALID_VALUE;
  submit(submission, [=] { copy(memory->data + offset); });
  if (blocking) finish(object<Queue>(submission.queue));
  return CL_SUCCESS;
}

}  // namespace

cl_command_queue clCreateCommandQueue(cl_context id, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* error) {
  const Call call(Function::clCreateCommandQueue);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  bool found = false;
  for (std::size_t i = 0; result == CL_SUCCESS && i < context->devices.size(); ++i) {
    found = found || context->devices[i] == device;
  }
  if (result == CL_SUCCESS && !found) result = CL_INVALID_DEVICE;
  return create(error, result, [&] { return new Queue(context, device, properties); });
}

FAKE_OPENCL_REFERENCES(Queue, clRetainCommandQueue, clReleaseCommandQueue)

cl_int clGetCommandQueueInfo(cl_command_queue id, cl_command_queue_info what, size_t size, void* value,
                             size_t* size_ret) {
  const Call call(Function::clGetCommandQueueInfo);
  const auto* queue = object<Queue>(id);
  if (const cl_int refused = call.refusal(queue)) return refused;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_QUEUE_CONTEXT: return answer.number(handle(queue->context));
    case CL_QUEUE_DEVICE: return answer.number(queue->on);
    case CL_QUEUE_PROPERTIES: return answer.number(queue->properties);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clFlush(cl_command_queue id) {
  const Call call(Function::clFlush);
  if (const cl_int refused = call.refusal(object<Queue>(id))) return refused;
  flush(object<Queue>(id));
  return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue id) {
  const Call call(Function::clFinish);
  if (const cl_int refused = call.refusal(object<Queue>(id))) return refused;
  finish(object<Queue>(id));
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel id, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint wait_count, const cl_event* waits,
                              cl_event* event) {
  const Call call(Function::clEnqueueNDRangeKernel);
  if (call.error != CL_SUCCESS) return call.error;
  const Submission submission{queue, CL_COMMAND_NDRANGE_KERNEL, wait_count, waits, its_event(call, event), false};
  cl_int result = check(call, submission);
  if (result != CL_SUCCESS) return result;
  const auto* kernel = object<Kernel>(id);
  if (!call.valid(kernel)) return CL_INVALID_KERNEL;
  if (kernel->program->context != object<Queue>(queue)->context) return CL_INVALID_CONTEXT;
  if (offset) return CL_INVALID_GLOBAL_OFFSET;
  std::size_t groups[3] = {};
  result = check_launch(*kernel, dimensions, global, local, groups);
  if (result != CL_SUCCESS) return result;
  const std::size_t x = groups[0];
  const std::size_t y = groups[1];
  const std::size_t z = groups[2];
  // Copies of the arguments, as the next call may change them.
  return submit(submission, [role = kernel->role, macros = kernel->macros, arguments = kernel->arguments, x, y, z] {
    const std::size_t grid[3] = {x, y, z};
    compute(role, macros, arguments, grid);
  });
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                           void* host, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const Call call(Function::clEnqueueReadBuffer);
  return transfer(call, {queue, CL_COMMAND_READ_BUFFER, wait_count, waits, its_event(call, event), false}, buffer,
                  blocking, offset, bytes, host, [=](const unsigned char* at) { std::memcpy(host, at, bytes); });
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                            const void* host, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const Call call(Function::clEnqueueWriteBuffer);
  return transfer(call, {queue, CL_COMMAND_WRITE_BUFFER, wait_count, waits, its_event(call, event), false}, buffer,
                  blocking, offset, bytes, host, [=](unsigned char* at) { std::memcpy(at, host, bytes); });
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const Call call(Function::clEnqueueMarkerWithWaitList);
  if (call.error != CL_SUCCESS) return call.error;
  const Submission submission{queue, CL_COMMAND_MARKER, wait_count, waits, its_event(call, event), wait_count == 0};
  const cl_int result = check(call, submission);
  return result == CL_SUCCESS ? submit(submission, [] {}) : result;
}
