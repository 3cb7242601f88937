// The order of a handle's launches.
#pragma once

#include "opencl/cl.hpp"

#include <vector>

namespace clbake {

// Event dependencies of a command: the last three arguments of OpenCL's enqueue calls.
struct Events {
  cl_uint wait_count = 0;
  const cl_event* wait_list = nullptr;
  cl_event* event = nullptr;
};

// How a driver takes events.
enum class EventUse {
  each_launch,  // every launch has one: PoCL needs them, see `in_flight_`
  out_of_order  // on a queue in order only the last launch of a call: NVIDIA's driver takes a microsecond for each
};

// Orders calls of several launches that share a workspace, on any queues. Each launch waits for the one before it and
// for the caller's events, the first of a call also for the latest call. Not for use by two threads at once.
class EventChain {
 public:
  // marks_calls: each call ends with an event, also one that was not asked for one, so that another queue's call can
  // tell whether it has ended.
  EventChain(EventUse use, bool marks_calls);
  EventChain(const EventChain&) = delete;
  EventChain& operator=(const EventChain&) = delete;
  // Does not wait for the launches. On PoCL their events are kept until they have ended.
  ~EventChain();

  // True when launches of a call on another queue still run.
  bool runs_elsewhere(cl_command_queue queue) const;

  // A call: begin, then next and launched for each of its launches, then end, also after a failure. `begin` reserves
  // what later calls of as many launches need, and may throw std::bad_alloc.
  Status begin(cl_command_queue queue, const Events& of_caller, std::size_t launches);
  Events next();
  Status launched(cl_int error);
  // Gives the caller the event that was asked for, unless `status` is a failure, and flushes the queue.
  void end(const Status& status);

 private:
  cl_event latest_running() const;
  void forget_finished();
  void mark(cl_command_queue queue);
  void mark_unmarked();
  void leave_unmarked(cl_command_queue queue);

  const EventUse use_;
  const bool marks_calls_;
  // The launches of calls that may not have ended, oldest first. The next call waits for the last one. The ones before
  // it are kept for PoCL 3.1: when an event fails, it passes the failure on along the chain, and aborts the process at
  // a dependent event without other references.
  std::vector<cl::Event> in_flight_;
  cl_command_queue last_queue_ = nullptr;  // of the latest call; to compare only
  cl::CommandQueue unmarked_;              // of the latest call, if no event tells when that ends; else null

  // State of the call that has begun.
  cl_command_queue queue_ = nullptr;
  bool in_order_ = false;  // the queue is, and at most the last launch has an event
  std::size_t left_ = 0;   // launches
  cl_event* wanted_ = nullptr;
  cl_event done_ = nullptr;      // of the next launch
  std::vector<cl_event> waits_;  // of the next launch, the caller's first; a member so that a call allocates nothing
  // Every launch waits for the caller's events: OpenCL ends each command that waits for a user event that fails, but
  // need not end commands that wait for those. Intel's CPU driver 2026.22 runs them and reports success.
  std::size_t callers_waits_ = 0;
};

// The error of an enqueue that should have made an event.
cl_int with_event(cl_command_queue queue, const cl_event* event, cl_int error);

}  // namespace clbake
