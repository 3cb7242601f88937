// In the place of CLBlast, with some of its functions.
#include <clblast.h>
#include <clblast_c.h>

#include "clblast/fake_clblast.hpp"

#include <complex>

using namespace clbake::tests;

namespace {

clblast::StatusCode served_if(bool arrived) {
  return arrived ? kServedByClblast : clblast::StatusCode::kUnexpectedError;
}

}  // namespace

namespace clblast {

// Products that clbake refuses come here, without a temporary buffer. k = 4: arguments are checked.
template <>
StatusCode Gemm(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                const size_t n, const size_t k, const float alpha, const cl_mem a, const size_t a_offset,
                const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const float beta, cl_mem c,
                const size_t c_offset, const size_t c_ld, cl_command_queue*, cl_event*, cl_mem temp_buffer) {
  return served_if(k != 4 ||
                   (layout == Layout::kRowMajor && a_transpose == Transpose::kNo && b_transpose == Transpose::kYes &&
                    m == 3 && n == 2 && alpha == 0.5F && a == c && a != b && a_offset == 1 && a_ld == 5 &&
                    b_offset == 2 && b_ld == 6 && beta == 2 && c_offset == 3 && c_ld == 7 && !temp_buffer));
}

template <>
StatusCode GemmBatched(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                       const size_t n, const size_t k, const float* alphas, const cl_mem a, const size_t* a_offsets,
                       const size_t a_ld, const cl_mem b, const size_t* b_offsets, const size_t b_ld,
                       const float* betas, cl_mem c, const size_t* c_offsets, const size_t c_ld,
                       const size_t batch_count, cl_command_queue*, cl_event*) {
  return served_if(k != 4 || (layout == Layout::kRowMajor && a_transpose == Transpose::kNo &&
                              b_transpose == Transpose::kYes && m == 3 && n == 2 && alphas[1] == 3 && a != b &&
                              a_offsets[1] == 5 && a_ld == 1 && b_offsets[1] == 7 && b_ld == 2 && betas[1] == 9 &&
                              b != c && c_offsets[1] == 11 && c_ld == 2 && batch_count == 2));
}

template <>
StatusCode GemmStridedBatched(const Layout layout, const Transpose, const Transpose b_transpose, const size_t m,
                              const size_t, const size_t k, const float alpha, const cl_mem, const size_t a_offset,
                              const size_t a_ld, const size_t a_stride, const cl_mem, const size_t b_offset,
                              const size_t b_ld, const size_t b_stride, const float beta, cl_mem, const size_t c_offset,
                              const size_t c_ld, const size_t c_stride, const size_t batch_count, cl_command_queue*,
                              cl_event*) {
  return served_if(k != 4 ||
                   (layout == Layout::kRowMajor && b_transpose == Transpose::kYes && m == 1 && alpha == 3 &&
                    a_offset == 1 && a_ld == kHugeLd && a_stride == 15 && b_offset == 2 && b_ld == 6 &&
                    b_stride == 12 && beta == 9 && c_offset == 4 && c_ld == 2 && c_stride == 5 && batch_count == 2));
}

template <>
StatusCode Gemm(const Layout, const Transpose, const Transpose, const size_t, const size_t, const size_t,
                const std::complex<float> alpha, const cl_mem, const size_t, const size_t, const cl_mem, const size_t,
                const size_t, const std::complex<float> beta, cl_mem, const size_t, const size_t, cl_command_queue*,
                cl_event*, cl_mem) {
  return served_if(alpha == std::complex<float>(1, 2) && beta == std::complex<float>(3, 4));
}

StatusCode ClearCache() { return served_if(true); }
StatusCode FillCache(const cl_device_id) { return served_if(true); }

}  // namespace clblast

// CLBlast's API for C calls that for C++, which on POSIX is the door's where both are loaded: the door must not go this
// way there.
CLBlastStatusCode CLBlastClearCache() { return static_cast<CLBlastStatusCode>(clblast::ClearCache()); }
CLBlastStatusCode CLBlastFillCache(const cl_device_id device) {
  return static_cast<CLBlastStatusCode>(clblast::FillCache(device));
}
namespace {

template <typename... Parameters, typename... Arguments>
CLBlastStatusCode by_cpp(clblast::StatusCode (*function)(clblast::Layout, clblast::Transpose, clblast::Transpose,
                                                         Parameters...),
                         CLBlastLayout layout, CLBlastTranspose a, CLBlastTranspose b, Arguments... arguments) {
  return static_cast<CLBlastStatusCode>(function(static_cast<clblast::Layout>(layout),
                                                 static_cast<clblast::Transpose>(a), static_cast<clblast::Transpose>(b),
                                                 arguments...));
}

}  // namespace

CLBlastStatusCode CLBlastSgemmWithTempBuffer(const CLBlastLayout layout, const CLBlastTranspose a_transpose,
                                             const CLBlastTranspose b_transpose, const size_t m, const size_t n,
                                             const size_t k, const float alpha, const cl_mem a, const size_t a_offset,
                                             const size_t a_ld, const cl_mem b, const size_t b_offset,
                                             const size_t b_ld, const float beta, cl_mem c, const size_t c_offset,
                                             const size_t c_ld, cl_command_queue* queue, cl_event* event,
                                             cl_mem temp_buffer) {
  return by_cpp(&clblast::Gemm<float>, layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld, b, b_offset,
                b_ld, beta, c, c_offset, c_ld, queue, event, temp_buffer);
}
CLBlastStatusCode CLBlastCgemmWithTempBuffer(const CLBlastLayout layout, const CLBlastTranspose a_transpose,
                                             const CLBlastTranspose b_transpose, const size_t m, const size_t n,
                                             const size_t k, const cl_float2 alpha, const cl_mem a,
                                             const size_t a_offset, const size_t a_ld, const cl_mem b,
                                             const size_t b_offset, const size_t b_ld, const cl_float2 beta, cl_mem c,
                                             const size_t c_offset, const size_t c_ld, cl_command_queue* queue,
                                             cl_event* event, cl_mem temp_buffer) {
  return by_cpp(&clblast::Gemm<std::complex<float>>, layout, a_transpose, b_transpose, m, n, k,
                std::complex<float>(alpha.s[0], alpha.s[1]), a, a_offset, a_ld, b, b_offset, b_ld,
                std::complex<float>(beta.s[0], beta.s[1]), c, c_offset, c_ld, queue, event, temp_buffer);
}
CLBlastStatusCode CLBlastSgemmBatched(const CLBlastLayout layout, const CLBlastTranspose a_transpose,
                                      const CLBlastTranspose b_transpose, const size_t m, const size_t n,
                                      const size_t k, const float* alphas, const cl_mem a, const size_t* a_offsets,
                                      const size_t a_ld, const cl_mem b, const size_t* b_offsets, const size_t b_ld,
                                      const float* betas, cl_mem c, const size_t* c_offsets, const size_t c_ld,
                                      const size_t count, cl_command_queue* queue, cl_event* event) {
  return by_cpp(&clblast::GemmBatched<float>, layout, a_transpose, b_transpose, m, n, k, alphas, a, a_offsets, a_ld, b,
                b_offsets, b_ld, betas, c, c_offsets, c_ld, count, queue, event);
}
CLBlastStatusCode CLBlastSgemmStridedBatched(const CLBlastLayout layout, const CLBlastTranspose a_transpose,
                                             const CLBlastTranspose b_transpose, const size_t m, const size_t n,
                                             const size_t k, const float alpha, const cl_mem a, const size_t a_offset,
                                             const size_t a_ld, const size_t a_stride, const cl_mem b,
                                             const size_t b_offset, const size_t b_ld, const size_t b_stride,
                                             const float beta, cl_mem c, const size_t c_offset, const size_t c_ld,
                                             const size_t c_stride, const size_t count, cl_command_queue* queue,
                                             cl_event* event) {
  return by_cpp(&clblast::GemmStridedBatched<float>, layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset,
                a_ld, a_stride, b, b_offset, b_ld, b_stride, beta, c, c_offset, c_ld, c_stride, count, queue, event);
}
