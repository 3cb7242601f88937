// When commands run: in the thread that enqueues them if nothing holds them back, else when a thread waits for them.
#pragma once

#include "fake_opencl/objects.hpp"

#include <functional>

namespace fake {

// Common arguments of all enqueue calls.
struct Submission {
  cl_command_queue queue;
  cl_command_type type;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;  // null: the caller wants none
  bool after_all;   // waits for all that was enqueued before it
};

// CL_SUCCESS, or what is wrong with queue and wait list.
cl_int check(const Call& call, const Submission& submission);

// One command between its checks and its end.
class Ticket {
 public:
  explicit Ticket(const Submission& submission);
  bool runs_now() const { return now_; }
  void done();                             // it ran
  void defer(std::function<void()> work);  // it has to wait

 private:
  const Submission& submission_;
  Queue* queue_;
  Event* event_ = nullptr;
  std::unique_lock<std::mutex> order_;
  bool now_;
};

// Enqueues a checked command. A command that runs at once is not copied, and nothing is allocated with operator new.
template <typename Work>
cl_int submit(const Submission& submission, const Work& work) {
  Ticket ticket(submission);
  if (ticket.runs_now()) {
    work();
    ticket.done();
  } else {
    ticket.defer(work);
  }
  return CL_SUCCESS;
}

void complete(Event* event, cl_int status);
void run_released();  // what waited for the event that has just completed
void flush(Queue* queue);
void finish(Queue* queue);
void wait_for(Event* event);
void reset_scheduler();

}  // namespace fake
