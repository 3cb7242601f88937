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
bool reads_all(const Scalars& by) { return by.alpha != 0.0; }
bool reads_all(const std::vector<Scalars>& each) {
  return std::all_of(each.begin(), each.end(), [](const Scalars& by) { return reads_all(by); });
}

Status gemm(const Library& library, cl_command_queue queue, const Problem& problem, const Operands& on,
            const Scalars& by, cl_event* event) {
  return library.gemm(queue, problem, by.alpha, on.a, on.b, by.beta, on.c, 0, nullptr, event);
}
Status gemm(const Library& library, cl_command_queue queue, const Problem& problem, const Operands& on,
            const std::vector<Scalars>& each, cl_event* event) {
  return library.gemm(queue, problem, each, on.a, on.b, on.c, {}, 0, nullptr, event);
}

// `by`: one alpha and beta, or one for each product.
template <typename By>
Answer multiply(const Problem& problem, const Operands& on, const By& by, const cl_command_queue* queue,
                cl_event* event) {
  Place place;
  const StatusCode found = find_place(queue, place);
  if (found != StatusCode::kSuccess) return found;
  if (!reads_all(by)) {
    if (const auto refused = refusal(place.device, problem, on.a, on.b, on.c)) return refused;
  }
  const Result<Library> library = Libraries::instance().get(place.context, place.device);
  const Status status = library ? gemm(*library, place.queue, problem, on, by, event) : library.status();
  if (status.ok() && std::exchange(told_of_miss(), false)) Libraries::instance().wait_at_exit();
  return answer(status, place, problem, on);
}

template <typename Work>
Answer without_exceptions(const Work& work) noexcept {
  Answer answer;
  const Status status = exceptions_to_status([&] { return answer = work(), Status(); });
  return status ? answer : StatusCode::kOpenCLOutOfHostMemory;
}

}  // namespace

Answer serve(const Problem& problem, const Operands& operands, const Scalars& scalars, const cl_command_queue* queue,
             cl_event* event) noexcept {
  return without_exceptions([&] { return multiply(problem, operands, scalars, queue, event); });
}

Answer serve(const Problem& problem, const Operands& operands, const std::vector<Scalars>& each,
             const cl_command_queue* queue, cl_event* event) noexcept {
  return without_exceptions([&] { return multiply(problem, operands, each, queue, event); });
}

StatusCode check_queue(const cl_command_queue* queue, StatusCode otherwise) noexcept {
  Place place;
  const StatusCode found = find_place(queue, place);
  return found == StatusCode::kSuccess ? otherwise : found;
}

}  // namespace clbake::door
