// In the place of CLBlast: routines of many shapes, which succeed when all of their arguments have arrived.
#include <clblast.h>
#include <clblast_c.h>

#include "clblast/fake_clblast.hpp"

using namespace clbake::tests;

namespace {

clblast::StatusCode success_if(bool arrived) {
  return arrived ? clblast::StatusCode::kSuccess : clblast::StatusCode::kUnexpectedError;
}

clblast::StatusCode served_if(bool arrived) {
  return arrived ? kServedByClblast : clblast::StatusCode::kUnexpectedError;
}

}  // namespace

namespace clblast {

template <>
StatusCode Axpy(const size_t n, const std::complex<double> alpha, const cl_mem x, const size_t x_offset,
                const size_t x_inc, cl_mem y, const size_t y_offset, const size_t y_inc, cl_command_queue* queue,
                cl_event* event) {
  return success_if(n == 1 && alpha == std::complex<double>(2, 3) && x == handle<cl_mem>(4) && x_offset == 5 &&
                    x_inc == 6 && y == handle<cl_mem>(7) && y_offset == 8 && y_inc == 9 &&
                    *queue == handle<cl_command_queue>(10) && event == nullptr);
}

template <>
StatusCode Gemv(const Layout layout, const Transpose a_transpose, const size_t m, const size_t n, const float alpha,
                const cl_mem a, const size_t a_offset, const size_t a_ld, const cl_mem x, const size_t x_offset,
                const size_t x_inc, const float beta, cl_mem y, const size_t y_offset, const size_t y_inc,
                cl_command_queue* queue, cl_event* event) {
  return success_if(layout == Layout::kColMajor && a_transpose == Transpose::kYes && m == 1 && n == 2 && alpha == 3 &&
                    a == handle<cl_mem>(4) && a_offset == 5 && a_ld == 6 && x == handle<cl_mem>(7) && x_offset == 8 &&
                    x_inc == 9 && beta == 10 && y == handle<cl_mem>(11) && y_offset == 12 && y_inc == 13 &&
                    *queue == handle<cl_command_queue>(14) && event == handle<cl_event*>(15));
}

StatusCode RetrieveParameters(const cl_device_id device, const std::string& kernel_name, const Precision precision,
                              std::unordered_map<std::string, size_t>& parameters) {
  parameters["MWG"] = 64;
  return success_if(device == handle<cl_device_id>(1) && kernel_name == "Xgemm" && precision == Precision::kSingle);
}

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

// CLBlast's API for C calls that for C++, which is the door's where both are loaded: the door must not go this way.
CLBlastStatusCode CLBlastClearCache() { return static_cast<CLBlastStatusCode>(clblast::ClearCache()); }
CLBlastStatusCode CLBlastFillCache(const cl_device_id device) {
  return static_cast<CLBlastStatusCode>(clblast::FillCache(device));
}
CLBlastStatusCode CLBlastSgemm(const CLBlastLayout layout, const CLBlastTranspose a_transpose,
                               const CLBlastTranspose b_transpose, const size_t m, const size_t n, const size_t k,
                               const float alpha, const cl_mem a, const size_t a_offset, const size_t a_ld,
                               const cl_mem b, const size_t b_offset, const size_t b_ld, const float beta, cl_mem c,
                               const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event) {
  return static_cast<CLBlastStatusCode>(
      clblast::Gemm(static_cast<clblast::Layout>(layout), static_cast<clblast::Transpose>(a_transpose),
                    static_cast<clblast::Transpose>(b_transpose), m, n, k, alpha, a, a_offset, a_ld, b, b_offset, b_ld,
                    beta, c, c_offset, c_ld, queue, event));
}

CLBlastStatusCode CLBlastSrotg(cl_mem a, const size_t a_offset, cl_mem b, const size_t b_offset, cl_mem c,
                               const size_t c_offset, cl_mem s, const size_t s_offset, cl_command_queue* queue,
                               cl_event*) {
  return static_cast<CLBlastStatusCode>(success_if(
      a == handle<cl_mem>(1) && a_offset == 2 && b == handle<cl_mem>(3) && b_offset == 4 && c == handle<cl_mem>(5) &&
      c_offset == 6 && s == handle<cl_mem>(7) && s_offset == 8 && *queue == handle<cl_command_queue>(9)));
}

namespace clbake::tests {

Large every_register(long a, long b, long c, long d, long e, long f, long g, long h, Vector s, Vector t, Vector u,
                     Vector v, Vector w, Vector x, Vector y, Vector z, long i, Vector last) {
  return {{a, b, c, d, e, f, g, h, i}, {s, t, u, v, w, x, y, z, last}};
}

}  // namespace clbake::tests
