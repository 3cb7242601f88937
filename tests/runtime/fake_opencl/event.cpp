// Events.
#include "fake_opencl/scheduler.hpp"

using namespace fake;

cl_event clCreateUserEvent(cl_context id, cl_int* error) {
  const Call call(Function::clCreateUserEvent);
  auto* context = object<Context>(id);
  cl_int result = call.error;
  if (result == CL_SUCCESS && !call.valid(context)) result = CL_INVALID_CONTEXT;
  return create(error, result, [&] {
    auto* event = new Event(context, nullptr, CL_COMMAND_USER);
    event->status = CL_SUBMITTED;
    return event;
  });
}

cl_int clSetUserEventStatus(cl_event id, cl_int status) {
  const Call call(Function::clSetUserEventStatus);
  if (call.error != CL_SUCCESS) return call.error;
  auto* event = object<Event>(id);
  if (!call.valid(event) || event->queue) return CL_INVALID_EVENT;
  if (status > CL_COMPLETE) return CL_INVALID_VALUE;
  if (event->status.load() <= CL_COMPLETE) return CL_INVALID_OPERATION;
  complete(event, status);
  run_released();
  return CL_SUCCESS;
}

cl_int clSetEventCallback(cl_event id, cl_int wanted, void(CL_CALLBACK* function)(cl_event, cl_int, void*),
                          void* data) {
  const Call call(Function::clSetEventCallback);
  if (call.error != CL_SUCCESS) return call.error;
  auto* event = object<Event>(id);
  if (!call.valid(event)) return CL_INVALID_EVENT;
  if (!function || wanted != CL_COMPLETE) return CL_INVALID_VALUE;  // the others are not needed
  {
    const std::lock_guard<std::mutex> lock(event->mutex);
    if (event->status.load() > CL_COMPLETE) {
      event->callbacks.push_back({function, data});
      return CL_SUCCESS;
    }
  }
  function(id, event->status.load(), data);
  return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  const Call call(Function::clWaitForEvents);
  if (call.error != CL_SUCCESS) return call.error;
  if (count == 0 || !events) return CL_INVALID_VALUE;
  cl_int result = CL_SUCCESS;
  for (cl_uint i = 0; i < count; ++i) {
    auto* event = object<Event>(events[i]);
    if (!call.valid(event)) return CL_INVALID_EVENT;
    wait_for(event);
    if (event->status.load() < CL_COMPLETE) result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return result;
}

cl_int clRetainEvent(cl_event id) {
  const Call call(Function::clRetainEvent);
  return call.retain(object<Event>(id), CL_INVALID_EVENT);
}

cl_int clReleaseEvent(cl_event id) {
  const Call call(Function::clReleaseEvent);
  return call.release(object<Event>(id), CL_INVALID_EVENT);
}

cl_int clGetEventInfo(cl_event id, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetEventInfo);
  if (call.error != CL_SUCCESS) return call.error;
  const auto* event = object<Event>(id);
  if (!call.valid(event)) return CL_INVALID_EVENT;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_EVENT_COMMAND_QUEUE: return answer.number(handle(event->queue));
    case CL_EVENT_CONTEXT: return answer.number(reinterpret_cast<cl_context>(event->parent));
    case CL_EVENT_COMMAND_TYPE: return answer.number(event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS: return answer.number(event->status.load());
    case CL_EVENT_REFERENCE_COUNT: return answer.number(static_cast<cl_uint>(event->references));
    default: return CL_INVALID_VALUE;
  }
}

// The clock stands still: every command takes no time.
cl_int clGetEventProfilingInfo(cl_event id, cl_profiling_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetEventProfilingInfo);
  if (call.error != CL_SUCCESS) return call.error;
  const auto* event = object<Event>(id);
  if (!call.valid(event)) return CL_INVALID_EVENT;
  const bool profiled = event->queue && (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  if (!profiled || event->status.load() != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_END) return CL_INVALID_VALUE;
  return Answer{size, value, size_ret}.number<cl_ulong>(0);
}
