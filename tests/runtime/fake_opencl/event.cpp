// Events.
#include "fake_opencl/scheduler.hpp"

using namespace fake;

cl_event clCreateUserEvent(cl_context id, cl_int* error) {
  const Call call(Function::clCreateUserEvent);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
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

cl_int clSetEventCallback(cl_event id, cl_int status, void(CL_CALLBACK* notify)(cl_event, cl_int, void*), void* data) {
  const Call call(Function::clSetEventCallback);
  auto* event = object<Event>(id);
  if (const cl_int refused = call.refusal(event)) return refused;
  if (!notify || status != CL_COMPLETE) return CL_INVALID_VALUE;
  const auto callback = [=](cl_int ended) { notify(id, ended, data); };
  {
    const std::lock_guard<std::mutex> lock(event->callbacks_mutex);
    if (event->status.load() > CL_COMPLETE) {
      event->callbacks.emplace_back(callback);
      return CL_SUCCESS;
    }
  }
  callback(event->status);
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

FAKE_OPENCL_REFERENCES(Event, clRetainEvent, clReleaseEvent)

cl_int clGetEventInfo(cl_event id, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetEventInfo);
  const auto* event = object<Event>(id);
  if (const cl_int refused = call.refusal(event)) return refused;
  const Answer answer{size, value, size_ret};
  return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? answer.number(event->status.load()) : CL_INVALID_VALUE;
}
