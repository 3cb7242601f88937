// Loaded before CLBlast, or before the door, this times each clblast::Gemm<float> of a program, from the call until
// clFinish, and says so on stderr. Build: c++ -O2 -shared -fPIC time_gemm.cpp -o time_gemm.so -lOpenCL
#include <clblast.h>

#include <dlfcn.h>
#include <chrono>
#include <cstdio>

namespace clblast {

template <typename T>
StatusCode Gemm(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                const size_t n, const size_t k, const T alpha, const cl_mem a, const size_t a_offset, const size_t lda,
                const cl_mem b, const size_t b_offset, const size_t ldb, const T beta, cl_mem c, const size_t c_offset,
                const size_t ldc, cl_command_queue* queue, cl_event* event, cl_mem temp_buffer) {
  using Function = decltype(&Gemm<T>);
  static const auto next = reinterpret_cast<Function>(dlsym(  // this function's own mangled name
      RTLD_NEXT,
      "_ZN7clblast4GemmIfEENS_10StatusCodeENS_6LayoutENS_9TransposeES3_mmmT_P7_cl_memmmS6_mmS4_S6_mmPP17_cl_command_"
      "queuePP9_cl_eventS6_"));
  clFinish(*queue);
  const auto start = std::chrono::steady_clock::now();
  const StatusCode status = next(layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, lda, b, b_offset, ldb,
                                 beta, c, c_offset, ldc, queue, event, temp_buffer);
  clFinish(*queue);
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "gemm %zu x %zu x %zu: %.3f ms\n", m, n, k, ms.count());
  return status;
}

template StatusCode Gemm<float>(Layout, Transpose, Transpose, size_t, size_t, size_t, float, cl_mem, size_t, size_t,
                                cl_mem, size_t, size_t, float, cl_mem, size_t, size_t, cl_command_queue*, cl_event*,
                                cl_mem);

}  // namespace clblast
