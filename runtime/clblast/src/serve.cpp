#include "serve.hpp"

#include "libraries.hpp"
#include "log.hpp"

#include <clbake/operand.hpp>

#include <algorithm>
#include <vector>

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

bool has_double(cl_device_id device) {
  cl_device_fp_config config = 0;
  return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, nullptr) != CL_SUCCESS ||
         config != 0;
}

Answer refusal_of(const Problem& p, const Operand& matrix, cl_mem buffer, bool any_ld, StatusCode bad_ld,
                  StatusCode bad_handle, StatusCode too_small) {
  if (matrix.ld < matrix.cols && !any_ld) return bad_ld;
  if (matrix.rows == 0 || matrix.cols == 0) return std::nullopt;  // not read, not written
  std::size_t bytes = 0;
  if (!buffer || clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return bad_handle;
  }
  return bytes / element_bytes(p.precision) < matrix.extent() ? Answer(too_small) : std::nullopt;
}

// CLBlast's code for a call that it refuses on this device: first for the precision, then for the leading dimension,
// the handle and the size of A, of B and of C. Empty when it would accept the call.
Answer refusal(cl_device_id device, const Problem& p, const Operands& on) {
  const bool doubles = p.precision == Precision::double_precision || p.precision == Precision::complex_double;
  if (doubles && !has_double(device)) return StatusCode::kNoDoublePrecision;
  const bool any_ld = !p.offsets.empty();  // CLBlast's batches with offsets accept each one of A and B
  Answer code = refusal_of(p, operand_a(p, on.a.offset), on.a.buffer, any_ld, StatusCode::kInvalidLeadDimA,
                           StatusCode::kInvalidMatrixA, StatusCode::kInsufficientMemoryA);
  if (!code) {
    code = refusal_of(p, operand_b(p, on.b.offset), on.b.buffer, any_ld, StatusCode::kInvalidLeadDimB,
                      StatusCode::kInvalidMatrixB, StatusCode::kInsufficientMemoryB);
  }
  if (!code) {
    code = refusal_of(p, operand_c(p, on.c.offset), on.c.buffer, false, StatusCode::kInvalidLeadDimC,
                      StatusCode::kInvalidMatrixC, StatusCode::kInsufficientMemoryC);
  }
  return code;
}

Status multiply(const Library& library, cl_command_queue queue, const Problem& problem, const Operands& on,
                const Scalars* scalars, std::size_t count, cl_event* event) {
  if (count == 1) {
    return library.gemm(queue, problem, scalars->alpha, on.a, on.b, scalars->beta, on.c, 0, nullptr, event);
  }
  return library.gemm(queue, problem, std::vector<Scalars>(scalars, scalars + count), on.a, on.b, on.c, {}, 0, nullptr,
                      event);
}

// After a failed OpenCL call a part of the product may run already. Other failures have enqueued nothing.
bool may_have_started(const Status& failure) {
  const bool of_opencl = failure.code() == Code::opencl || failure.code() == Code::out_of_memory;
  return of_opencl && failure.opencl_code() != 0;
}

}  // namespace

Answer serve(const Problem& problem, const Operands& on, const Scalars* scalars, std::size_t count,
             const cl_command_queue* queue, cl_event* event) {
  Place place;
  const StatusCode found = find_place(queue, place);
  if (found != StatusCode::kSuccess) return found;
  const auto any = [&](const auto& is) { return std::any_of(scalars, scalars + count, is); };
  // clbake does not look at an A and B that are not read; CLBlast does.
  if (any([](const Scalars& s) { return s.alpha == 0.0; })) {
    if (const Answer refused = refusal(place.device, problem, on)) return refused;
  }
  const Result<Library> library = library_for(place.context, place.device);
  const Status status =
      library ? multiply(*library, place.queue, problem, on, scalars, count, event) : library.status();
  if (status) {
    wait_at_exit_after_a_miss();
    return StatusCode::kSuccess;
  }
  if (status.argument() == Argument::queue) return StatusCode::kInvalidCommandQueue;
  if (const Answer refused = refusal(place.device, problem, on)) return refused;
  // To multiply again is right if C is not read, once the part that may run has ended.
  if (may_have_started(status) &&
      (any([](const Scalars& s) { return s.beta != 0.0; }) || clFinish(place.queue) != CL_SUCCESS)) {
    return static_cast<StatusCode>(status.opencl_code());
  }
  log("GEMM goes to CLBlast: " + status.message());
  return std::nullopt;
}

StatusCode check_queue(const cl_command_queue* queue, StatusCode otherwise) noexcept {
  Place place;
  const StatusCode found = find_place(queue, place);
  return found == StatusCode::kSuccess ? otherwise : found;
}

}  // namespace clbake::door
