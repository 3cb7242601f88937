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

template <typename Is>
bool any(const Scalars& by, const Is& is) {
  return is(by);
}
template <typename Is>
bool any(const std::vector<Scalars>& each, const Is& is) {
  return std::any_of(each.begin(), each.end(), is);
}

// CLBlast may serve the product after this failure. After a failed OpenCL call a part of the product may run already:
// to multiply again is right if C is not read, once that part has ended. Other failures have enqueued nothing.
template <typename By>
bool clblast_may_serve(const Status& failure, const Place& place, const By& by) {
  const bool of_opencl = failure.code() == Code::opencl || failure.code() == Code::out_of_memory;
  if (!of_opencl || failure.opencl_code() == 0) return true;
  const bool reads_c = any(by, [](const Scalars& s) { return s.beta != 0.0; });
  return !reads_c && clFinish(place.queue) == CL_SUCCESS;
}

template <typename By>
Answer answer(const Status& status, const Place& place, const Problem& problem, const Operands& on, const By& by) {
  if (status) return StatusCode::kSuccess;
  if (status.argument() == Argument::queue) return StatusCode::kInvalidCommandQueue;
  if (const auto refused = refusal(place.device, problem, on.a, on.b, on.c)) return refused;
  if (!clblast_may_serve(status, place, by)) return static_cast<StatusCode>(status.opencl_code());
  log("GEMM goes to CLBlast: " + status.message());
  return std::nullopt;
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
Status by_clbake(const Place& place, const Problem& problem, const Operands& on, const By& by, cl_event* event) {
  if (products_share_c(problem)) return {Argument::c_stride, "two products of the batch share elements of C"};
  const Result<Library> library = Libraries::instance().get(place.context, place.device);
  return library ? gemm(*library, place.queue, problem, on, by, event) : library.status();
}

template <typename By>
Answer multiply(const Problem& problem, const Operands& on, const By& by, const cl_command_queue* queue,
                cl_event* event) {
  Place place;
  const StatusCode found = find_place(queue, place);
  if (found != StatusCode::kSuccess) return found;
  // clbake does not look at an A and B that are not read; CLBlast does.
  if (any(by, [](const Scalars& s) { return s.alpha == 0.0; })) {
    if (const auto refused = refusal(place.device, problem, on.a, on.b, on.c)) return refused;
  }
  const Status status = by_clbake(place, problem, on, by, event);
  if (status.ok() && std::exchange(told_of_miss(), false)) Libraries::instance().wait_at_exit();
  return answer(status, place, problem, on, by);
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
