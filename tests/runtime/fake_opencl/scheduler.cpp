#include "fake_opencl/scheduler.hpp"

#include <condition_variable>
#include <deque>
#include <utility>

namespace fake {
namespace {

// A command that could not run when it was enqueued.
struct Command {
  Queue* queue;
  Event* event;  // holds a reference
  std::vector<Event*> waits;
  bool after_all;
  bool flushed;
  std::function<void()> work;
};

std::mutex mutex;  // guards the next two, and Queue::busy
std::condition_variable changed;
std::deque<Command> commands;  // in the order they were enqueued
std::atomic<int> waiting_threads{0};
std::atomic<bool> lazy{false};
std::atomic<bool> failures_end{false};

bool in_order(const Queue& queue) { return (queue.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
bool ended(const Event* event) { return event->status.load() <= CL_COMPLETE; }

bool any_failed(const std::vector<Event*>& waits) {
  for (const Event* event : waits) {
    if (event->status.load() < CL_COMPLETE) return true;
  }
  return false;
}

// True when the command number `index` may run, flushed or not.
bool ready(std::size_t index) {
  const Command& command = commands[index];
  for (const Event* event : command.waits) {
    if (!ended(event)) return false;
  }
  if (!in_order(*command.queue) && !command.after_all) return true;
  for (std::size_t i = 0; i < index; ++i) {
    if (commands[i].queue == command.queue) return false;
  }
  return command.queue->busy == 0;
}

// The number of a command to run next, or commands.size(): the latest one when lazy, else the first.
std::size_t next_command() {
  const std::size_t count = commands.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = lazy ? count - 1 - i : i;
    if (commands[index].flushed && ready(index)) return index;
  }
  return count;
}

// Runs one command, without the lock; false when none can run.
bool run_one(std::unique_lock<std::mutex>& lock) {
  const std::size_t index = next_command();
  if (index == commands.size()) return false;
  Command command = std::move(commands[index]);
  commands.erase(commands.begin() + static_cast<std::ptrdiff_t>(index));
  ++command.queue->busy;
  lock.unlock();
  const bool failed = any_failed(command.waits);
  if (!failed) command.work();
  complete(command.event, failed && !failures_end ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
  drop(command.event);
  lock.lock();
  --command.queue->busy;
  --command.queue->waiting;
  changed.notify_all();
  return true;
}

void run_all() {
  std::unique_lock<std::mutex> lock(mutex);
  while (run_one(lock)) {
  }
}

// A command that only a flush of its queue keeps from running: real drivers may wait for it forever.
bool flush_forgotten() {
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].flushed || !ready(i)) continue;
    complain("a thread waits for a command of a queue that was not flushed");
    commands[i].flushed = true;
    return true;
  }
  return false;
}

template <typename Done>
void wait_until(Done done) {
  if (done()) return;
  ++waiting_threads;
  std::unique_lock<std::mutex> lock(mutex);
  while (!done()) {
    if (!run_one(lock) && !flush_forgotten()) changed.wait(lock);
  }
  lock.unlock();
  --waiting_threads;
}

}  // namespace

cl_int check(const Call& call, const Submission& s) {
  if (!call.valid(object<Queue>(s.queue))) return CL_INVALID_COMMAND_QUEUE;
  if ((s.wait_count == 0) != (s.waits == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < s.wait_count; ++i) {
    if (!call.valid(object<Event>(s.waits[i]))) return CL_INVALID_EVENT_WAIT_LIST;
  }
  return CL_SUCCESS;
}

Ticket::Ticket(const Submission& submission) : submission_(submission), queue_(object<Queue>(submission.queue)) {
  if (submission.event) {
    event_ = new Event(queue_->context, queue_, submission.type);
    enrol(event_);
    *submission.event = handle(event_);
  }
  if (in_order(*queue_)) order_ = std::unique_lock<std::mutex>(queue_->order);
  now_ = !lazy && ((!in_order(*queue_) && !submission.after_all) || queue_->waiting == 0);
  for (cl_uint i = 0; now_ && i < submission.wait_count; ++i) {
    now_ = object<Event>(submission.waits[i])->status.load() == CL_COMPLETE;
  }
}

void Ticket::done() {
  if (order_) order_.unlock();
  if (event_) complete(event_, CL_COMPLETE);
}

void Ticket::defer(std::function<void()> work) {
  if (event_) retain(event_);
  if (!event_) enrol(event_ = new Event(queue_->context, queue_, submission_.type));
  Command command{queue_, event_, {}, submission_.after_all, false, std::move(work)};
  for (cl_uint i = 0; i < submission_.wait_count; ++i) command.waits.push_back(object<Event>(submission_.waits[i]));
  ++queue_->waiting;
  const std::lock_guard<std::mutex> lock(mutex);
  commands.push_back(std::move(command));
}

void complete(Event* event, cl_int status) {
  event->status = status;
  std::vector<std::function<void(cl_int)>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(event->callbacks_mutex);
    callbacks.swap(event->callbacks);
  }
  for (const auto& callback : callbacks) callback(status);
  if (waiting_threads == 0) return;
  const std::lock_guard<std::mutex> lock(mutex);
  changed.notify_all();
}

void run_released() {
  if (!lazy) run_all();
}

void flush(Queue* queue) {
  if (queue->waiting == 0) return;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    for (Command& command : commands) command.flushed = command.flushed || command.queue == queue;
  }
  if (!lazy) run_all();
}

void finish(Queue* queue) {
  flush(queue);
  wait_until([&] { return queue->waiting == 0; });
}

void wait_for(Event* event) {
  if (event->queue) flush(event->queue);
  wait_until([&] { return ended(event); });
}

void set_lazy(bool new_lazy) {
  lazy = new_lazy;
  if (!new_lazy) run_all();
}

void set_failures_end(bool end) { failures_end = end; }

void reset_scheduler() {
  lazy = false;
  failures_end = false;
  commands.clear();
}

}  // namespace fake
