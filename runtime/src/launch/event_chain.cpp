#include "launch/event_chain.hpp"

#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <mutex>

namespace clbake {
namespace {

// CL_COMPLETE, a negative error, or a positive number while it has not ended; `unknown` when the query fails.
cl_int status_of(const cl::Event& event, cl_int unknown = CL_QUEUED) {
  cl_int status = CL_COMPLETE;
  const cl_int error = clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return error == CL_SUCCESS ? status : unknown;
}

using Chain = std::vector<cl::Event>;

// False also where the driver does not tell, as nothing could end that.
bool runs(const Chain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const cl::Event& event) { return status_of(event, CL_COMPLETE) > CL_COMPLETE; });
}

// The events of handles that are gone, until they have ended. Looked through when a handle is made or goes, as no
// callback of an event may release it: PoCL 3.1 still uses it then.
class Orphans {
 public:
  static void keep(Chain chain) {
    const Status kept = exceptions_to_status([&] { return list().add(chain), Status(); });
    if (kept) return;
    for (const cl::Event& event : chain) clRetainEvent(event());  // for good
  }

  static void forget_ended() {
    std::vector<Chain> all = list().take();
    for (Chain& chain : all) {
      if (runs(chain)) keep(std::move(chain));
    }
  }

 private:
  static Orphans& list() {
    static Orphans& orphans = *new Orphans;  // never destroyed: threads may come here until the process has ended
    return orphans;
  }
  // Leaves the chain as it is if it throws.
  void add(Chain& chain) {
    const std::lock_guard<std::mutex> lock(mutex_);
    chains_.emplace_back().swap(chain);
  }
  std::vector<Chain> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::move(chains_);
  }

  std::mutex mutex_;
  std::vector<Chain> chains_;
};

}  // namespace

cl_int with_event(cl_command_queue queue, const cl_event* event, cl_int error) {
  if (error != CL_SUCCESS || !event || *event) return error;
  clFinish(queue);  // success without an event: nothing could wait for what runs now
  return CL_INVALID_EVENT;
}

EventChain::EventChain(EventUse use, bool marks_calls) : use_(use), marks_calls_(marks_calls) {
  Orphans::forget_ended();
}

EventChain::~EventChain() {
  if (use_ == EventUse::each_launch && runs(in_flight_)) Orphans::keep(std::move(in_flight_));
  Orphans::forget_ended();
}

bool EventChain::runs_elsewhere(cl_command_queue queue) const { return last_queue_ != queue && latest_running(); }

// The latest launch in flight that has not ended; null if there is none. When the last launch has ended well, all have.
// One that failed may have ended before those that it was to wait for.
cl_event EventChain::latest_running() const {
  for (auto event = in_flight_.rbegin(); event != in_flight_.rend(); ++event) {
    const cl_int status = status_of(*event);
    if (status > CL_COMPLETE) return (*event)();
    if (status == CL_COMPLETE) return nullptr;
  }
  return nullptr;
}

// Drops a failed launch only together with all that depend on it.
void EventChain::forget_finished() {
  if (!latest_running()) return in_flight_.clear();
  in_flight_.erase(in_flight_.begin(), std::find_if(in_flight_.begin(), in_flight_.end(), [](const cl::Event& event) {
                     return status_of(event) != CL_COMPLETE;
                   }));
}

// An event for the launches that have none, for which the next call may have to wait.
void EventChain::mark(cl_command_queue queue) {
  cl_event done = nullptr;
  const cl_int error = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &done);
  if (with_event(queue, &done, error) != CL_SUCCESS) {
    clFinish(queue);
    return;
  }
  in_flight_.emplace_back(done);
  last_queue_ = queue;
}

// Marks the latest call, when something asks on another queue whether it has ended.
void EventChain::mark_unmarked() {
  if (!unmarked_()) return;
  mark(unmarked_());
  clFlush(unmarked_());
  leave_unmarked(nullptr);
}

void EventChain::leave_unmarked(cl_command_queue queue) {
  if (unmarked_() != queue) unmarked_ = cl::CommandQueue(queue, true);
}

Status EventChain::begin(cl_command_queue queue, const Events& of_caller, std::size_t launches) {
  forget_finished();
  // And a marker, so that none is lost for lack of memory.
  if (in_flight_.capacity() <= in_flight_.size() + launches) in_flight_.reserve(2 * in_flight_.size() + launches + 1);
  waits_.reserve(std::max<std::size_t>(8, of_caller.wait_count + 1));
  if (unmarked_() != queue) mark_unmarked();
  queue_ = queue;
  left_ = launches;
  wanted_ = of_caller.event;
  waits_.assign(of_caller.wait_list, of_caller.wait_list + of_caller.wait_count);
  callers_waits_ = waits_.size();
  in_order_ = false;
  if (use_ == EventUse::out_of_order) {
    cl_command_queue_properties properties = 0;
    const cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
    if (error != CL_SUCCESS) return opencl_status("clGetCommandQueueInfo", error);
    in_order_ = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  }
  const cl_event running = latest_running();  // not one that failed: to wait for it would make this call fail, too
  const bool before_in_order = in_order_ && queue == last_queue_ && running && running == in_flight_.back()();
  if (running && !before_in_order) waits_.push_back(running);
  // An event that the first launch waits for may fail, and only events pass that on to the others.
  in_order_ = in_order_ && waits_.empty();
  return {};
}

Events EventChain::next() {
  --left_;
  done_ = nullptr;
  const bool has_event = !in_order_ || (left_ == 0 && (marks_calls_ || wanted_));
  return {static_cast<cl_uint>(waits_.size()), waits_.empty() ? nullptr : waits_.data(), has_event ? &done_ : nullptr};
}

Status EventChain::launched(cl_int error) {
  if (error != CL_SUCCESS) return opencl_status("clEnqueueNDRangeKernel", error);
  waits_.resize(callers_waits_);
  if (!done_) return {};
  in_flight_.emplace_back(done_);
  last_queue_ = queue_;
  if (!in_order_) waits_.push_back(done_);
  return {};
}

void EventChain::end(const Status& status) {
  const bool in_order_without_event = in_order_ && !marks_calls_ && !wanted_;
  if (!status && in_order_) mark(queue_);
  // Out of order, keep the earlier call's queue: this call may fail before that one has ended.
  if (in_order_) leave_unmarked(status && in_order_without_event ? queue_ : nullptr);
  if (status && wanted_) {
    *wanted_ = in_flight_.back()();
    clRetainEvent(*wanted_);
  }
  // The next call may wait for this one on another queue, which only a flush of this one allows; also for launches
  // before a failure.
  clFlush(queue_);
}

}  // namespace clbake
