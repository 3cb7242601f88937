// How a prepared problem is enqueued: one launch, or several in a row, for each part of a batch and of C's rows.
#include "launch/gemm.hpp"

#include <algorithm>
#include <utility>

namespace clbake {
namespace {

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

bool is_pack(cache::Role role) { return role == cache::Role::pack_a || role == cache::Role::pack_b; }

bool equal(const Scalars& x, const Scalars& y) { return x.alpha == y.alpha && x.beta == y.beta; }

std::complex<double> rounded(std::complex<double> value, Precision precision) {
  if (real_precision(precision) == Precision::double_precision) return value;
  return std::complex<float>(value);
}

}  // namespace

cl_int status_of(const cl::Event& event) {
  cl_int status = CL_COMPLETE;
  const cl_int error = clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return error == CL_SUCCESS ? status : CL_QUEUED;
}

cl_int with_event(cl_command_queue queue, const cl_event* event, cl_int error) {
  if (error != CL_SUCCESS || !event || *event) return error;
  clFinish(queue);  // success without an event: nothing could wait for what runs now
  return CL_INVALID_EVENT;
}

// The usual case: one kernel, all products at once, nothing to order.
Status Gemm::State::enqueue_one(cl_command_queue queue, const Call& call, const Tail& tail, const Events& events) {
  cl_int error = set_arguments(0, call, 0, tail);
  if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
  error = launch(0, queue, call, problem.batch, tail, events);
  return opencl_status("clEnqueueNDRangeKernel", error);
}

// When the last launch has ended well, all have. One that failed may have ended before those that it was to wait for.
cl_event Gemm::State::latest_running() const {
  for (auto event = in_flight.rbegin(); event != in_flight.rend(); ++event) {
    const cl_int status = status_of(*event);
    if (status > CL_COMPLETE) return (*event)();
    if (status == CL_COMPLETE) return nullptr;
  }
  return nullptr;
}

// Drops a failed launch only together with all that depend on it.
void Gemm::State::forget_finished() {
  if (!latest_running()) return in_flight.clear();
  in_flight.erase(in_flight.begin(), std::find_if(in_flight.begin(), in_flight.end(), [](const cl::Event& event) {
                    return status_of(event) != CL_COMPLETE;
                  }));
}

// Whether the queue is in order, where that spares events: NVIDIA's driver takes a microsecond for each. Elsewhere
// every launch has one all the same; in_flight says what PoCL needs it for.
Status Gemm::State::look_at_order(cl_command_queue queue) {
  in_order = false;
  if (each_has_event) return {};
  cl_command_queue_properties properties = 0;
  const cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  return opencl_status("clGetCommandQueueInfo", error);
}

// A launch that waits for the one before it and for the caller's events; launch(events) enqueues it. In order it has an
// event only if asked for.
template <typename Launch>
Status Gemm::State::enqueue_next(cl_command_queue queue, bool with_event, const Launch& launch) {
  const bool wants_event = with_event || !in_order;
  cl_event done = nullptr;
  const cl_int error = launch(Events{static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                                     wants_event ? &done : nullptr});
  if (error != CL_SUCCESS) return opencl_status("clEnqueueNDRangeKernel", error);
  waits.resize(callers_waits);
  if (!wants_event) return {};
  in_flight.emplace_back(done);
  last_queue = queue;
  if (!in_order) waits.push_back(done);
  return {};
}

// An event for the launches that have none, for which the next call may have to wait.
void Gemm::State::mark_launches(cl_command_queue queue) {
  cl_event done = nullptr;
  const cl_int error = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &done);
  if (with_event(queue, &done, error) != CL_SUCCESS) {
    clFinish(queue);
    return;
  }
  in_flight.emplace_back(done);
  last_queue = queue;
}

// Of the latest call, when something asks on another queue whether it has ended.
void Gemm::State::mark_unmarked() {
  if (!unmarked()) return;
  mark_launches(unmarked());
  clFlush(unmarked());
  leave_unmarked(nullptr);
}

void Gemm::State::leave_unmarked(cl_command_queue queue) {
  if (unmarked() != queue) unmarked = cl::CommandQueue(queue, true);
}

Status Gemm::State::enqueue_complex(cl_command_queue queue, const Call& call, std::size_t first, std::size_t products) {
  using Kernels = ComplexKernels;
  Status status;
  for (const Kernels::Which which : {Kernels::kCopyA, Kernels::kCopyB, Kernels::kScaleC}) {  // C at the last moment
    const bool needed = which == Kernels::kScaleC  ? call.scale_beta != 1.0
                        : which == Kernels::kCopyA ? call.reads_operands && workspace.copy_a_bytes > 0
                                                   : call.reads_operands;
    if (!status || !needed) continue;
    const cl_int error = set_complex(which, call, first);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    status = enqueue_next(queue, false, [&](const Events& e) {
      return with_event(queue, e.event, complex->enqueue(which, queue, products, e.wait_count, e.wait_list, e.event));
    });
  }
  return status;
}

// The rows of C from the call's first one on, as many as a grid holds.
Status Gemm::State::enqueue_rows(cl_command_queue queue, const Call& call, std::size_t first, std::size_t products) {
  Status status;
  const bool last_rows = call.first_row + workspace.rows >= problem.m;
  const Tail tail = tail_of_launch(call, products);
  const std::size_t launches = launches_with(tail);
  for (std::size_t i = 0; i < launches && status; ++i) {
    if (is_pack(program->variant.launches[i].role) && !call.reads_operands) continue;
    const cl_int error = set_arguments(i, call, first, tail);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    const bool with_event = call.wants_event && last_rows && i + 1 == launches;
    status = enqueue_next(queue, with_event,
                          [&](const Events& events) { return launch(i, queue, call, products, tail, events); });
  }
  return status;
}

// Of the products from `first` on, as many as the workspace holds.
Status Gemm::State::enqueue_products(cl_command_queue queue, Call& call, std::size_t first, std::size_t products) {
  Status status = complex ? enqueue_complex(queue, call, first, products) : Status();
  for (call.first_row = 0; call.first_row < problem.m && status; call.first_row += workspace.rows) {
    status = enqueue_rows(queue, call, first, products);
  }
  return status;
}

// The first launch also waits for the latest call, which may use the same workspace on another queue.
Status Gemm::State::enqueue_launches(cl_command_queue queue, Call& call, const ScalarList& scalars,
                                     const Events& events) {
  forget_finished();
  const auto end_of = [&](std::size_t first) {  // of the products from `first` on with equal scalars
    if (scalars.count == 1) return problem.batch;
    std::size_t end = first + 1;
    while (end < problem.batch && equal(scalars.first[end], scalars.first[first])) ++end;
    return end;
  };
  std::size_t parts = 0;
  for (std::size_t first = 0; first < problem.batch; first = end_of(first)) {
    parts += ceil_div(end_of(first) - first, workspace.products);
  }
  const std::size_t row_parts = ceil_div(problem.m, workspace.rows);
  const std::size_t launches = parts * (row_parts * kernels.size() + (complex ? 3 : 0));
  // And a marker, so that none is lost for lack of memory.
  if (in_flight.capacity() <= in_flight.size() + launches) in_flight.reserve(2 * in_flight.size() + launches + 1);
  if (unmarked() != queue) mark_unmarked();
  waits.reserve(std::max<std::size_t>(8, events.wait_count + 1));  // so that later calls allocate nothing
  waits.assign(events.wait_list, events.wait_list + events.wait_count);
  callers_waits = waits.size();
  Status status = look_at_order(queue);
  const cl_event running = latest_running();  // not one that failed: to wait for it would make this call fail, too
  const bool before_in_order = in_order && queue == last_queue && running && running == in_flight.back()();
  if (running && !before_in_order) waits.push_back(running);
  // What the first launch waits for may fail, and only events pass that on to the others.
  in_order = in_order && waits.empty();
  call.wants_event = ends_with_event || events.event;
  for (std::size_t first = 0; first < problem.batch && status;) {
    const std::size_t end = end_of(first);
    set_scalars(call, scalars.first[scalars.count == 1 ? 0 : first]);
    for (; first < end && status; first += std::min(workspace.products, end - first)) {
      status = enqueue_products(queue, call, first, std::min(workspace.products, end - first));
    }
  }
  if (!status && in_order) mark_launches(queue);
  // Not in order, this call's events may fail before an earlier call without one has ended: that stays unmarked.
  if (in_order) leave_unmarked(status && !call.wants_event ? queue : nullptr);
  return status;
}

Status Gemm::State::enqueue_all(cl_command_queue queue, Call& call, const ScalarList& scalars, const Events& events) {
  Status status = enqueue_launches(queue, call, scalars, events);
  if (status && events.event) {
    *events.event = in_flight.back()();
    clRetainEvent(*events.event);
  }
  // The next call may wait for this one on another queue, which only a flush of this one allows; also for what was
  // enqueued before a failure.
  clFlush(queue);
  return status;
}

// BLAS: alpha = 0 (as the kernel will see it) does not read A and B, so NaN in them does not spread.
void Gemm::State::set_scalars(Call& call, const Scalars& scalars) const {
  const std::complex<double> alpha = rounded(scalars.alpha, stated().precision);
  const std::complex<double> beta = rounded(scalars.beta, stated().precision);
  call.reads_operands = problem.k > 0 && alpha != 0.0;
  call.reads_d = problem.epilogue.has_d && beta != 0.0;
  call.copy_alpha = alpha.imag() != 0 ? alpha : 1;
  call.scale_beta = beta.imag() != 0 ? beta : 1;
  call.alpha = alpha.imag() != 0 ? 1 : alpha.real();
  call.beta = beta.imag() != 0 ? 1 : beta.real();
  if (!call.reads_operands) call.alpha = 0;  // an infinite alpha times the empty sum would be NaN
}

// Sets what any of the products reads.
Status Gemm::State::check_scalars(const ScalarList& scalars, Call& call) const {
  bool reads_operands = false;
  bool reads_d = false;
  for (std::size_t i = 0; i < scalars.count; ++i) {
    const Scalars& s = scalars.first[i];
    if (!complex && s.alpha.imag() != 0) return {Argument::alpha, "alpha is complex, the problem is not"};
    if (!complex && s.beta.imag() != 0) return {Argument::beta, "beta is complex, the problem is not"};
    set_scalars(call, s);
    reads_operands = reads_operands || call.reads_operands;
    reads_d = reads_d || call.reads_d;
  }
  call.reads_operands = reads_operands;
  call.reads_d = reads_d;
  return {};
}

Status Gemm::State::enqueue(cl_command_queue queue, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                            const EpilogueBuffers& more, const Events& events) {
  if (layout == Layout::column_major) std::swap(a, b);
  Call call;
  call.a = a;
  call.b = b;
  call.c = c;
  call.more = more;
  Status status = check_scalars(scalars, call);
  if (status) status = check_call(queue, call, events);
  if (!status) return status;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return opencl_status("clEnqueueMarkerWithWaitList", error);
  }
  if (complex) {  // from now on in reals
    for (Matrix* const matrix : {&call.a, &call.b, &call.c}) matrix->offset *= 2;
  }
  const Tail tail = tail_of_launch(call, problem.batch);
  const bool at_once = launches_with(tail) == 1 && problem.batch <= workspace.products && problem.m <= workspace.rows &&
                       scalars.count == 1 && !complex;
  status = at_once ? enqueue_one(queue, call, tail, events) : enqueue_all(queue, call, scalars, events);
  if (status && calls) calls->fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace clbake
