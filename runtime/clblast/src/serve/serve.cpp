#include "serve/serve.hpp"

#include <clbake/exceptions_to_status.hpp>

#include "log.hpp"
#include "serve/checks.hpp"
#include "serve/libraries.hpp"

#include <algorithm>
#include <utility>

namespace clbake::door {
namespace {

using clblast::StatusCode;

// Where a call runs.
struct Place {
  cl_command_queue queue = nullptr;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

StatusCode find_place(const cl_command_queue* queue, Place& place) {
  if (!queue || !*queue) return StatusCode::kInvalidCommandQueue;
  place.queue = *queue;
  cl_int error = clGetCommandQueueInfo(*queue, CL_QUEUE_CONTEXT, sizeof place.context, &place.context, nullptr);
  if (error == CL_SUCCESS) {
    error = clGetCommandQueueInfo(*queue, CL_QUEUE_DEVICE, sizeof place.device, &place.device, nullptr);
  }
  return static_cast<StatusCode>(error);
}

// Whether another attempt, by CLBlast, may succeed: not after a failure of the machine.
bool goes_to_clblast(const Status& failure) {
  return failure.code() != Code::out_of_memory && failure.code() != Code::opencl;
}

Answer answer(const Status& status, const Place& place, const Problem& problem, const Operands& operands) {
  if (status) return StatusCode::kSuccess;
  if (status.argument() == Argument::queue) return StatusCode::kInvalidCommandQueue;
  if (const auto refused = refusal(place.device, problem, operands.a, operands.b, operands.c)) return refused;
  if (!goes_to_clblast(status)) return status_code(status);
  log("GEMM goes to CLBlast: " + status.message());
  return std::nullopt;
}

// Where A and B are not read, clbake does not look at them; CLBlast does.
std::optional<StatusCode> refusal_of_unread(const Place& place, const Problem& problem, const Operands& operands,
                                            double alpha) {
  if (alpha != 0) return std::nullopt;
  return refusal(place.device, problem, operands.a, operands.b, operands.c);
}

Answer multiply(const Problem& problem, const Operands& on, Scalars by, const cl_command_queue* queue,
                cl_event* event) {
  Place place;
  const StatusCode found = find_place(queue, place);
  if (found != StatusCode::kSuccess) return found;
  if (const auto refused = refusal_of_unread(place, problem, on, by.alpha)) return refused;
  const Result<Library> library = Libraries::instance().get(place.context, place.device);
  const Status status =
      library ? library->gemm(place.queue, problem, by.alpha, on.a, on.b, by.beta, on.c, 0, nullptr, event)
              : library.status();
  if (status.ok() && std::exchange(told_of_miss(), false)) Libraries::instance().wait_at_exit();
  return answer(status, place, problem, on);
}

// The products from `first` on that have one alpha and beta.
std::size_t run_length(const std::vector<Scalars>& each, std::size_t first) {
  const auto same = [&](const Scalars& s) { return s.alpha == each[first].alpha && s.beta == each[first].beta; };
  const auto begin = each.begin() + static_cast<std::ptrdiff_t>(first);
  return static_cast<std::size_t>(std::find_if_not(begin, each.end(), same) - begin);
}

// One event for all of them.
class Events {
 public:
  ~Events() {
    for (cl_event event : events_) clReleaseEvent(event);
  }
  cl_event* next() { return &events_.emplace_back(nullptr); }
  StatusCode join(cl_command_queue queue, cl_event* event) const {
    return static_cast<StatusCode>(
        clEnqueueMarkerWithWaitList(queue, static_cast<cl_uint>(events_.size()), events_.data(), event));
  }

 private:
  std::vector<cl_event> events_;
};

// A call for each run of products with one alpha and beta.
Answer multiply_runs(const Problem& problem, const Operands& on, const std::vector<Scalars>& each,
                     const cl_command_queue* queue, cl_event* event) {
  Place place;
  const StatusCode found = find_place(queue, place);
  if (found != StatusCode::kSuccess) return found;
  if (const auto refused = refusal(place.device, problem, on.a, on.b, on.c)) return refused;
  Events events;
  Problem part = problem;
  for (std::size_t first = 0; first < each.size(); first += part.batch) {
    part.batch = run_length(each, first);
    const auto begin = problem.offsets.begin() + static_cast<std::ptrdiff_t>(first);
    part.offsets.assign(begin, begin + static_cast<std::ptrdiff_t>(part.batch));
    const Answer done = multiply(part, on, each[first], queue, event ? events.next() : nullptr);
    if (done != StatusCode::kSuccess) return done;
  }
  return event ? events.join(*queue, event) : StatusCode::kSuccess;
}

template <typename Work>
Answer without_exceptions(const Work& work) noexcept {
  Answer answer;
  const Status status = exceptions_to_status([&] { return answer = work(), Status(); });
  return status ? answer : StatusCode::kOpenCLOutOfHostMemory;
}

}  // namespace

Answer serve(const Problem& problem, const Operands& operands, Scalars scalars, const cl_command_queue* queue,
             cl_event* event) noexcept {
  return without_exceptions([&] { return multiply(problem, operands, scalars, queue, event); });
}

Answer serve(const Problem& problem, const Operands& operands, const std::vector<Scalars>& each,
             const cl_command_queue* queue, cl_event* event) noexcept {
  return without_exceptions([&] {
    return run_length(each, 0) == each.size() ? multiply(problem, operands, each[0], queue, event)
                                              : multiply_runs(problem, operands, each, queue, event);
  });
}

StatusCode check_queue(const cl_command_queue* queue) noexcept {
  Place place;
  return find_place(queue, place);
}

}  // namespace clbake::door
