// GEMM of CLBlast's API for C, by the one for C++.
#include <clblast.h>
#include <clblast_c.h>

#include <complex>

namespace {

clblast::Layout of(CLBlastLayout layout) { return static_cast<clblast::Layout>(layout); }
clblast::Transpose of(CLBlastTranspose transpose) { return static_cast<clblast::Transpose>(transpose); }
CLBlastStatusCode of(clblast::StatusCode status) { return static_cast<CLBlastStatusCode>(status); }

// Scalars; an array of std::complex is one of pairs.
template <typename T>
T number(T value) {
  return value;
}
std::complex<float> number(cl_float2 value) { return {value.s[0], value.s[1]}; }
std::complex<double> number(cl_double2 value) { return {value.s[0], value.s[1]}; }
template <typename T>
const T* numbers(const T* values) {
  return values;
}
const std::complex<float>* numbers(const cl_float2* values) {
  return reinterpret_cast<const std::complex<float>*>(values);
}
const std::complex<double>* numbers(const cl_double2* values) {
  return reinterpret_cast<const std::complex<double>*>(values);
}

}  // namespace

// `type` is what C calls the element, `element` what C++ does.
#define CLBAKE_C_API(letter, type, element)                                                                            \
  CLBlastStatusCode CLBlast##letter##gemm(                                                                             \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const type beta, cl_mem c,          \
      const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event) {                            \
    return of(clblast::Gemm<element>(of(layout), of(a_transpose), of(b_transpose), m, n, k, number(alpha), a,          \
                                     a_offset, a_ld, b, b_offset, b_ld, number(beta), c, c_offset, c_ld, queue,        \
                                     event));                                                                          \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemmWithTempBuffer(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const cl_mem b, const size_t b_offset, const size_t b_ld, const type beta, cl_mem c,          \
      const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event, cl_mem temp_buffer) {        \
    return of(clblast::Gemm<element>(of(layout), of(a_transpose), of(b_transpose), m, n, k, number(alpha), a,          \
                                     a_offset, a_ld, b, b_offset, b_ld, number(beta), c, c_offset, c_ld, queue, event, \
                                     temp_buffer));                                                                    \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemmBatched(                                                                      \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type* alphas, const cl_mem a, const size_t* a_offsets,     \
      const size_t a_ld, const cl_mem b, const size_t* b_offsets, const size_t b_ld, const type* betas, cl_mem c,      \
      const size_t* c_offsets, const size_t c_ld, const size_t count, cl_command_queue* queue, cl_event* event) {      \
    return of(clblast::GemmBatched<element>(of(layout), of(a_transpose), of(b_transpose), m, n, k, numbers(alphas), a, \
                                            a_offsets, a_ld, b, b_offsets, b_ld, numbers(betas), c, c_offsets, c_ld,   \
                                            count, queue, event));                                                     \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##gemmStridedBatched(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const type alpha, const cl_mem a, const size_t a_offset,         \
      const size_t a_ld, const size_t a_stride, const cl_mem b, const size_t b_offset, const size_t b_ld,              \
      const size_t b_stride, const type beta, cl_mem c, const size_t c_offset, const size_t c_ld,                      \
      const size_t c_stride, const size_t count, cl_command_queue* queue, cl_event* event) {                           \
    return of(clblast::GemmStridedBatched<element>(                                                                    \
        of(layout), of(a_transpose), of(b_transpose), m, n, k, number(alpha), a, a_offset, a_ld, a_stride, b,          \
        b_offset, b_ld, b_stride, number(beta), c, c_offset, c_ld, c_stride, count, queue, event));                    \
  }                                                                                                                    \
  CLBlastStatusCode CLBlast##letter##GemmTempBufferSize(                                                               \
      const CLBlastLayout layout, const CLBlastTranspose a_transpose, const CLBlastTranspose b_transpose,              \
      const size_t m, const size_t n, const size_t k, const size_t a_offset, const size_t a_ld, const size_t b_offset, \
      const size_t b_ld, const size_t c_offset, const size_t c_ld, cl_command_queue* queue,                            \
      size_t* temp_buffer_size) {                                                                                      \
    if (!temp_buffer_size) return CLBlastInvalidValue;                                                                 \
    return of(clblast::GemmTempBufferSize<element>(of(layout), of(a_transpose), of(b_transpose), m, n, k, a_offset,    \
                                                   a_ld, b_offset, b_ld, c_offset, c_ld, queue, *temp_buffer_size));   \
  }

extern "C" {
CLBAKE_C_API(H, cl_half, cl_half)
CLBAKE_C_API(S, float, float)
CLBAKE_C_API(D, double, double)
CLBAKE_C_API(C, cl_float2, std::complex<float>)
CLBAKE_C_API(Z, cl_double2, std::complex<double>)
}
