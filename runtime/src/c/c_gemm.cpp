// The C API of prepared products.
#include "c/c_api.hpp"

using clbake::Argument;
using namespace clbake::c;

struct clbake_gemm {
  clbake::Gemm gemm;
};

struct clbake_recorded {
  clbake::RecordedGemm recorded;
};

static_assert(CLBAKE_SVM == clbake::Matrix::svm_flag && CLBAKE_USM == clbake::Matrix::usm_flag);

namespace {

template <typename Handle>
auto& gemm_of(Handle* gemm) {
  return given(gemm, "gemm", Argument::gemm)->gemm;
}

}  // namespace

clbake_code clbake_gemm_prepare(clbake_library* library, const clbake_problem* problem, const char* variant,
                                int caller_workspace, clbake_gemm** gemm, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_gemm** const to = output(gemm, "gemm");
    clbake::PrepareOptions options;
    if (variant) options.variant = variant;
    options.caller_workspace = caller_workspace != 0;
    return hand_over(from.prepare(problem_of(problem), options), to);
  });
}

clbake_code clbake_gemm_clone(const clbake_gemm* gemm, clbake_gemm** clone, clbake_error* error) {
  return make(error, clone, "clone", [&] { return gemm_of(gemm).clone(); });
}

void clbake_gemm_release(clbake_gemm* gemm) { delete gemm; }

std::size_t clbake_gemm_workspace_bytes(const clbake_gemm* gemm) { return gemm ? gemm->gemm.workspace_bytes() : 0; }

clbake_code clbake_gemm_use_workspace(clbake_gemm* gemm, cl_mem buffer, std::size_t offset_bytes, clbake_error* error) {
  return run(error, [&] { return gemm_of(gemm).use_workspace(buffer, offset_bytes); });
}

clbake_code clbake_gemm_explanation(const clbake_gemm* gemm, clbake_explanation* explanation, clbake_error* error) {
  return run(error,
             [&] { return copy_explanation(gemm_of(gemm).explanation(), sized_output(explanation, "explanation")); });
}

clbake_code clbake_gemm_enqueue(clbake_gemm* gemm, cl_command_queue queue, double alpha, cl_mem a, std::size_t a_offset,
                                cl_mem b, std::size_t b_offset, double beta, cl_mem c, std::size_t c_offset,
                                const clbake_epilogue_buffers* more, cl_uint wait_count, const cl_event* wait_list,
                                cl_event* event, clbake_error* error) {
  const clbake_scalars scalars = {alpha, 0, beta, 0};
  return clbake_gemm_enqueue_scaled(gemm, queue, &scalars, 1, a, a_offset, b, b_offset, c, c_offset, more, wait_count,
                                    wait_list, event, error);
}

clbake_code clbake_gemm_enqueue_scaled(clbake_gemm* gemm, cl_command_queue queue, const clbake_scalars* scalars,
                                       std::size_t count, cl_mem a, std::size_t a_offset, cl_mem b,
                                       std::size_t b_offset, cl_mem c, std::size_t c_offset,
                                       const clbake_epilogue_buffers* more, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event, clbake_error* error) {
  return run(error, [&] {
    clbake::Gemm& by = gemm_of(gemm);
    return with_scalars(
        scalars, count,
        [&](const clbake::Scalars& s) {
          return by.enqueue(queue, s.alpha, {a, a_offset}, {b, b_offset}, s.beta, {c, c_offset}, buffers_of(more),
                            wait_count, wait_list, event);
        },
        [&](const std::vector<clbake::Scalars>& list) {
          return by.enqueue(queue, list, {a, a_offset}, {b, b_offset}, {c, c_offset}, buffers_of(more), wait_count,
                            wait_list, event);
        });
  });
}

clbake_code clbake_gemm_record(clbake_gemm* gemm, _cl_command_buffer_khr* commands, double alpha, cl_mem a,
                               std::size_t a_offset, cl_mem b, std::size_t b_offset, double beta, cl_mem c,
                               std::size_t c_offset, const clbake_epilogue_buffers* more, cl_uint wait_count,
                               const cl_uint* wait, cl_uint* point, clbake_recorded** recorded, clbake_error* error) {
  return run(error, [&]() -> clbake::Status {
    if (wait_count > 0 && !wait)
      return {clbake::Argument::wait_list, "wait_list: null, of " + std::to_string(wait_count)};
    auto made = recorded ? std::make_unique<clbake_recorded>() : nullptr;
    clbake::Status status =
        gemm_of(gemm).record(commands, alpha, {a, a_offset}, {b, b_offset}, beta, {c, c_offset}, buffers_of(more),
                             std::vector<cl_uint>(wait, wait + wait_count), point, made ? &made->recorded : nullptr);
    if (status && recorded) *recorded = made.release();
    return status;
  });
}

clbake_code clbake_recorded_update(clbake_recorded* recorded, double alpha, cl_mem a, std::size_t a_offset, cl_mem b,
                                   std::size_t b_offset, double beta, cl_mem c, std::size_t c_offset,
                                   const clbake_epilogue_buffers* more, clbake_error* error) {
  return run(error, [&] {
    return given(recorded, "recorded", Argument::gemm)
        ->recorded.update(alpha, {a, a_offset}, {b, b_offset}, beta, {c, c_offset}, buffers_of(more));
  });
}

void clbake_recorded_release(clbake_recorded* recorded) { delete recorded; }
