// The functions of CLBlast's API for C++ that the door serves, GEMM's as templates with a symbol for each precision;
// those for C, by those for C++; and the door's own.
#include "forward.hpp"
#include "libraries.hpp"
#include "serve.hpp"

#include <clbake/clblast_door.h>
#include <clbake/export.h>

#include <CL/cl_half.h>

#include <vector>

using namespace clbake;

namespace {

using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

template <typename T>
constexpr Precision kPrecision = Precision::single_precision;
template <>
constexpr Precision kPrecision<cl_half> = Precision::half_precision;
template <>
constexpr Precision kPrecision<double> = Precision::double_precision;
template <>
constexpr Precision kPrecision<std::complex<float>> = Precision::complex_single;
template <>
constexpr Precision kPrecision<std::complex<double>> = Precision::complex_double;

// Calls a function of C++ for one of C.
template <typename... Parameters, typename... Arguments>
CLBlastStatusCode by_cpp(StatusCode (*function)(Parameters...), Arguments&&... arguments) {
  return static_cast<CLBlastStatusCode>(function(door::from_c(arguments)...));
}

// The product that CLBlast's arguments describe. The conjugate transpose of real numbers is their transpose.
template <typename T>
Problem problem_of(Layout layout, Transpose a_transpose, Transpose b_transpose, std::size_t m, std::size_t n,
                   std::size_t k, std::size_t a_ld, std::size_t b_ld, std::size_t c_ld) {
  Problem p;
  p.precision = kPrecision<T>;
  p.trans_a = a_transpose != Transpose::kNo;
  p.trans_b = b_transpose != Transpose::kNo;
  p.conj_a = is_complex(p.precision) && a_transpose == Transpose::kConjugate;
  p.conj_b = is_complex(p.precision) && b_transpose == Transpose::kConjugate;
  p.layout = layout == Layout::kRowMajor ? clbake::Layout::row_major : clbake::Layout::column_major;
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = a_ld;
  p.ldb = b_ld;
  p.ldc = c_ld;
  return p;
}

std::complex<double> number(cl_half bits) { return cl_half_to_float(bits); }
template <typename T>
std::complex<double> number(T value) {
  return value;
}

}  // namespace

namespace clblast {

template <typename T>
StatusCode Gemm(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                const size_t n, const size_t k, const T alpha, const cl_mem a_buffer, const size_t a_offset,
                const size_t a_ld, const cl_mem b_buffer, const size_t b_offset, const size_t b_ld, const T beta,
                cl_mem c_buffer, const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event,
                cl_mem) {  // clbake keeps the memory that it needs, and GemmTempBufferSize says 0
  const door::Answer answer = door::without_exceptions([&] {
    const Scalars scalars = {number(alpha), number(beta)};
    return door::serve(problem_of<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld),
                       {{a_buffer, a_offset}, {b_buffer, b_offset}, {c_buffer, c_offset}}, &scalars, 1, queue, event);
  });
  if (answer) return *answer;
  return door::by_clblast(&Gemm<T>, door::InC<T>::gemm, layout, a_transpose, b_transpose, m, n, k, alpha, a_buffer,
                          a_offset, a_ld, b_buffer, b_offset, b_ld, beta, c_buffer, c_offset, c_ld, queue, event,
                          cl_mem{nullptr});
}

template <typename T>
StatusCode GemmBatched(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                       const size_t n, const size_t k, const T* alphas, const cl_mem a_buffer, const size_t* a_offsets,
                       const size_t a_ld, const cl_mem b_buffer, const size_t* b_offsets, const size_t b_ld,
                       const T* betas, cl_mem c_buffer, const size_t* c_offsets, const size_t c_ld,
                       const size_t batch_count, cl_command_queue* queue, cl_event* event) {
  if (batch_count < 1) return door::check_queue(queue, StatusCode::kInvalidBatchCount);
  if (!alphas || !betas || !a_offsets || !b_offsets || !c_offsets) return StatusCode::kInvalidValue;
  const door::Answer answer = door::without_exceptions([&] {
    Problem problem = problem_of<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld);
    problem.batch = batch_count;
    std::vector<Scalars> scalars;
    for (std::size_t i = 0; i < batch_count; ++i) {
      problem.offsets.push_back({a_offsets[i], b_offsets[i], c_offsets[i]});
      scalars.push_back({number(alphas[i]), number(betas[i])});
    }
    return door::serve(problem, {{a_buffer}, {b_buffer}, {c_buffer}}, scalars.data(), batch_count, queue, event);
  });
  if (answer) return *answer;
  return door::by_clblast(&GemmBatched<T>, door::InC<T>::gemm_batched, layout, a_transpose, b_transpose, m, n, k,
                          alphas, a_buffer, a_offsets, a_ld, b_buffer, b_offsets, b_ld, betas, c_buffer, c_offsets,
                          c_ld, batch_count, queue, event);
}

template <typename T>
StatusCode GemmStridedBatched(const Layout layout, const Transpose a_transpose, const Transpose b_transpose,
                              const size_t m, const size_t n, const size_t k, const T alpha, const cl_mem a_buffer,
                              const size_t a_offset, const size_t a_ld, const size_t a_stride, const cl_mem b_buffer,
                              const size_t b_offset, const size_t b_ld, const size_t b_stride, const T beta,
                              cl_mem c_buffer, const size_t c_offset, const size_t c_ld, const size_t c_stride,
                              const size_t batch_count, cl_command_queue* queue, cl_event* event) {
  if (batch_count < 1) return door::check_queue(queue, StatusCode::kInvalidBatchCount);
  if (c_stride == 0) return door::check_queue(queue, StatusCode::kInvalidDimension);
  const door::Answer answer = door::without_exceptions([&] {
    Problem problem = problem_of<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld);
    problem.batch = batch_count;
    problem.a_stride = a_stride;
    problem.b_stride = b_stride;
    problem.c_stride = c_stride;
    const Scalars scalars = {number(alpha), number(beta)};
    return door::serve(problem, {{a_buffer, a_offset}, {b_buffer, b_offset}, {c_buffer, c_offset}}, &scalars, 1, queue,
                       event);
  });
  if (answer) return *answer;
  return door::by_clblast(&GemmStridedBatched<T>, door::InC<T>::gemm_strided_batched, layout, a_transpose, b_transpose,
                          m, n, k, alpha, a_buffer, a_offset, a_ld, a_stride, b_buffer, b_offset, b_ld, b_stride, beta,
                          c_buffer, c_offset, c_ld, c_stride, batch_count, queue, event);
}

template <typename T>
StatusCode GemmTempBufferSize(const Layout, const Transpose, const Transpose, const size_t, const size_t, const size_t,
                              const size_t, const size_t, const size_t, const size_t, const size_t, const size_t,
                              cl_command_queue* queue, size_t& temp_buffer_size) {
  const StatusCode status = door::check_queue(queue, StatusCode::kSuccess);
  if (status == StatusCode::kSuccess) temp_buffer_size = 0;
  return status;
}

#define CLBAKE_INSTANTIATE(T)                                                \
  template PUBLIC_API decltype(Gemm<T>) Gemm<T>;                             \
  template PUBLIC_API decltype(GemmBatched<T>) GemmBatched<T>;               \
  template PUBLIC_API decltype(GemmStridedBatched<T>) GemmStridedBatched<T>; \
  template PUBLIC_API decltype(GemmTempBufferSize<T>) GemmTempBufferSize<T>;
CLBAKE_INSTANTIATE(cl_half)
CLBAKE_INSTANTIATE(float)
CLBAKE_INSTANTIATE(double)
CLBAKE_INSTANTIATE(std::complex<float>)
CLBAKE_INSTANTIATE(std::complex<double>)

StatusCode ClearCache() {
  const Status cleared = exceptions_to_status([] { return door::clear_libraries(), Status(); });
  if (!cleared) return StatusCode::kOpenCLOutOfHostMemory;
  return door::by_present_clblast(&ClearCache, CLBAKE_NAMED(CLBlastClearCache));
}

// The door has nothing to fill; CLBlast does.
StatusCode FillCache(const cl_device_id device) {
  cl_device_type type = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) return static_cast<StatusCode>(error);
  return door::by_present_clblast(&FillCache, CLBAKE_NAMED(CLBlastFillCache), device);
}

}  // namespace clblast

// `type` is what C calls the element, `element` what C++ does.
#define CLBAKE_C_API(letter, type, element)                                                                            \
  CLBlastStatusCode CLBlast##letter##gemmWithTempBuffer(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const type beta, cl_mem c,          \
      const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event, cl_mem temp_buffer) {        \
    return by_cpp(&clblast::Gemm<element>, layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld, b,     \
                  b_offset, b_ld, beta, c, c_offset, c_ld, queue, event, temp_buffer);                                 \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemm(                                                                             \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const type beta, cl_mem c,          \
      const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event) {                            \
    return CLBlast##letter##gemmWithTempBuffer(layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld, b, \
                                               b_offset, b_ld, beta, c, c_offset, c_ld, queue, event, nullptr);        \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemmBatched(                                                                      \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type* alphas, const cl_mem a, const size_t* a_offsets,     \
      const size_t a_ld, const cl_mem b, const size_t* b_offsets, const size_t b_ld, const type* betas, cl_mem c,      \
      const size_t* c_offsets, const size_t c_ld, const size_t count, cl_command_queue* queue, cl_event* event) {      \
    return by_cpp(&clblast::GemmBatched<element>, layout, a_transpose, b_transpose, m, n, k, alphas, a, a_offsets,     \
                  a_ld, b, b_offsets, b_ld, betas, c, c_offsets, c_ld, count, queue, event);                           \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemmStridedBatched(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const size_t a_stride, const cl_mem b, const size_t b_offset, const size_t b_ld,              \
      const size_t b_stride, const type beta, cl_mem c, const size_t c_offset, const size_t c_ld,                      \
      const size_t c_stride, const size_t count, cl_command_queue* queue, cl_event* event) {                           \
    return by_cpp(&clblast::GemmStridedBatched<element>, layout, a_transpose, b_transpose, m, n, k, alpha, a,          \
                  a_offset, a_ld, a_stride, b, b_offset, b_ld, b_stride, beta, c, c_offset, c_ld, c_stride, count,     \
                  queue, event);                                                                                       \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##GemmTempBufferSize(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const size_t a_offset, const size_t a_ld, const size_t b_offset, \
      const size_t b_ld, const size_t c_offset, const size_t c_ld, cl_command_queue* queue,                            \
      size_t* temp_buffer_size) {                                                                                      \
    if (!temp_buffer_size) return CLBlastInvalidValue;                                                                 \
    return by_cpp(&clblast::GemmTempBufferSize<element>, layout, a_transpose, b_transpose, m, n, k, a_offset, a_ld,    \
                  b_offset, b_ld, c_offset, c_ld, queue, *temp_buffer_size);                                           \
  }

extern "C" {
CLBAKE_C_API(H, cl_half, cl_half)
CLBAKE_C_API(S, float, float)
CLBAKE_C_API(D, double, double)
CLBAKE_C_API(C, cl_float2, std::complex<float>)
CLBAKE_C_API(Z, cl_double2, std::complex<double>)

CLBlastStatusCode CLBlastClearCache() { return by_cpp(&clblast::ClearCache); }
CLBlastStatusCode CLBlastFillCache(const cl_device_id device) { return by_cpp(&clblast::FillCache, device); }

CLBAKE_API int clbake_clblast_use_bundle(const char* path) {
  const Status status = exceptions_to_status(
      [&]() -> Status { return path ? door::use_bundle(path) : Status(Argument::bundle, "the path is null"); });
  return static_cast<int>(status.code());
}
}
