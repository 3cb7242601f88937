// GEMM of CLBlast's API for C++: templates with a symbol for each precision.
#include "api/convert.hpp"
#include "forward/forward.hpp"

#include <clbake/exceptions_to_status.hpp>

namespace {

using namespace clbake;
using clblast::StatusCode;

// The same functions' symbols in CLBlast. A mangled name refers to its earlier parts by numbers: here those of the
// transposes, of alpha and of the buffers; in a batch those of alphas, buffers and offsets.
template <typename T>
struct Symbols;
#define CLBAKE_SYMBOLS(type, name, trans, alpha, buffer, alphas, buffers, offsets)                               \
  template <>                                                                                                    \
  struct Symbols<type> {                                                                                         \
    static constexpr const char* gemm =                                                                          \
        "_ZN7clblast4GemmI" name "EENS_10StatusCodeENS_6LayoutENS_9TransposeE" trans "mmmT_P7_cl_memmm" buffer   \
        "mm" alpha buffer "mmPP17_cl_command_queuePP9_cl_event" buffer;                                          \
    static constexpr const char* batched =                                                                       \
        "_ZN7clblast11GemmBatchedI" name "EENS_10StatusCodeENS_6LayoutENS_9TransposeE" trans                     \
        "mmmPKT_P7_cl_memPKmm" buffers offsets "m" alphas buffers offsets "mmPP17_cl_command_queuePP9_cl_event"; \
    static constexpr const char* strided =                                                                       \
        "_ZN7clblast18GemmStridedBatchedI" name "EENS_10StatusCodeENS_6LayoutENS_9TransposeE" trans              \
        "mmmT_P7_cl_memmmm" buffer "mmm" alpha buffer "mmmmPP17_cl_command_queuePP9_cl_event";                   \
  };
CLBAKE_SYMBOLS(cl_half, "t", "S3_", "S4_", "S6_", "S6_", "S8_", "SA_")
CLBAKE_SYMBOLS(float, "f", "S3_", "S4_", "S6_", "S6_", "S8_", "SA_")
CLBAKE_SYMBOLS(double, "d", "S3_", "S4_", "S6_", "S6_", "S8_", "SA_")
CLBAKE_SYMBOLS(std::complex<float>, "St7complexIfE", "S5_", "S6_", "S8_", "S8_", "SA_", "SC_")
CLBAKE_SYMBOLS(std::complex<double>, "St7complexIdE", "S5_", "S6_", "S8_", "S8_", "SA_", "SC_")

// Calls CLBlast, for a product that clbake cannot serve. CLBlast lets some exceptions through, which its API for C
// turns into kUnexpectedError.
template <typename Function, typename... Arguments>
StatusCode by_clblast(Function*, const char* symbol, Arguments... arguments) {
  auto* const function = reinterpret_cast<Function*>(door::original(symbol));
  try {
    return function ? function(arguments...) : StatusCode::kNotImplemented;
  } catch (...) {
    return StatusCode::kUnexpectedError;
  }
}

template <typename T>
std::vector<Scalars> scalars_of(const T* alphas, const T* betas, std::size_t count) {
  std::vector<Scalars> each;
  each.reserve(count);
  for (std::size_t i = 0; i < count; ++i) each.push_back({door::number(alphas[i]), door::number(betas[i])});
  return each;
}

std::vector<BatchOffsets> offsets_of(const std::size_t* a, const std::size_t* b, const std::size_t* c,
                                     std::size_t count) {
  std::vector<BatchOffsets> offsets;
  offsets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) offsets.push_back({a[i], b[i], c[i]});
  return offsets;
}

}  // namespace

namespace clblast {

template <typename T>
StatusCode Gemm(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                const size_t n, const size_t k, const T alpha, const cl_mem a_buffer, const size_t a_offset,
                const size_t a_ld, const cl_mem b_buffer, const size_t b_offset, const size_t b_ld, const T beta,
                cl_mem c_buffer, const size_t c_offset, const size_t c_ld, cl_command_queue* queue, cl_event* event,
                cl_mem) {  // clbake keeps the memory that it needs, and GemmTempBufferSize says 0
  const door::Answer answer = door::serve(door::problem<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld),
                                          {{a_buffer, a_offset}, {b_buffer, b_offset}, {c_buffer, c_offset}},
                                          {door::number(alpha), door::number(beta)}, queue, event);
  if (answer) return *answer;
  return by_clblast(&Gemm<T>, Symbols<T>::gemm, layout, a_transpose, b_transpose, m, n, k, alpha, a_buffer, a_offset,
                    a_ld, b_buffer, b_offset, b_ld, beta, c_buffer, c_offset, c_ld, queue, event, cl_mem{nullptr});
}

template <typename T>
StatusCode GemmBatched(const Layout layout, const Transpose a_transpose, const Transpose b_transpose, const size_t m,
                       const size_t n, const size_t k, const T* alphas, const cl_mem a_buffer, const size_t* a_offsets,
                       const size_t a_ld, const cl_mem b_buffer, const size_t* b_offsets, const size_t b_ld,
                       const T* betas, cl_mem c_buffer, const size_t* c_offsets, const size_t c_ld,
                       const size_t batch_count, cl_command_queue* queue, cl_event* event) {
  if (batch_count < 1) return door::check_queue(queue, StatusCode::kInvalidBatchCount);
  if (!alphas || !betas || !a_offsets || !b_offsets || !c_offsets) return StatusCode::kInvalidValue;
  door::Answer answer;
  const clbake::Status status = clbake::exceptions_to_status([&] {
    Problem problem = door::problem<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld);
    problem.batch = batch_count;
    problem.offsets = offsets_of(a_offsets, b_offsets, c_offsets, batch_count);
    answer = door::serve(problem, {{a_buffer}, {b_buffer}, {c_buffer}}, scalars_of(alphas, betas, batch_count), queue,
                         event);
    return clbake::Status();
  });
  if (!status) return StatusCode::kOpenCLOutOfHostMemory;
  if (answer) return *answer;
  return by_clblast(&GemmBatched<T>, Symbols<T>::batched, layout, a_transpose, b_transpose, m, n, k, alphas, a_buffer,
                    a_offsets, a_ld, b_buffer, b_offsets, b_ld, betas, c_buffer, c_offsets, c_ld, batch_count, queue,
                    event);
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
  Problem problem = door::problem<T>(layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld);
  problem.batch = batch_count;
  problem.a_stride = a_stride;
  problem.b_stride = b_stride;
  problem.c_stride = c_stride;
  const door::Answer answer = door::serve(problem, {{a_buffer, a_offset}, {b_buffer, b_offset}, {c_buffer, c_offset}},
                                          Scalars{door::number(alpha), door::number(beta)}, queue, event);
  if (answer) return *answer;
  return by_clblast(&GemmStridedBatched<T>, Symbols<T>::strided, layout, a_transpose, b_transpose, m, n, k, alpha,
                    a_buffer, a_offset, a_ld, a_stride, b_buffer, b_offset, b_ld, b_stride, beta, c_buffer, c_offset,
                    c_ld, c_stride, batch_count, queue, event);
}

template <typename T>
StatusCode GemmTempBufferSize(const Layout, const Transpose, const Transpose, const size_t, const size_t, const size_t,
                              const size_t, const size_t, const size_t, const size_t, const size_t, const size_t,
                              cl_command_queue* queue, size_t& temp_buffer_size) {
  const StatusCode status = door::check_queue(queue, StatusCode::kSuccess);
  if (status == StatusCode::kSuccess) temp_buffer_size = 0;
  return status;
}

#define CLBAKE_INSTANTIATE(type)                                                                                     \
  template StatusCode Gemm<type>(Layout, Transpose, Transpose, size_t, size_t, size_t, type, cl_mem, size_t, size_t, \
                                 cl_mem, size_t, size_t, type, cl_mem, size_t, size_t, cl_command_queue*, cl_event*, \
                                 cl_mem);                                                                            \
  template StatusCode GemmBatched<type>(Layout, Transpose, Transpose, size_t, size_t, size_t, const type*, cl_mem,   \
                                        const size_t*, size_t, cl_mem, const size_t*, size_t, const type*, cl_mem,   \
                                        const size_t*, size_t, size_t, cl_command_queue*, cl_event*);                \
  template StatusCode GemmStridedBatched<type>(Layout, Transpose, Transpose, size_t, size_t, size_t, type, cl_mem,   \
                                               size_t, size_t, size_t, cl_mem, size_t, size_t, size_t, type, cl_mem, \
                                               size_t, size_t, size_t, size_t, cl_command_queue*, cl_event*);        \
  template StatusCode GemmTempBufferSize<type>(Layout, Transpose, Transpose, size_t, size_t, size_t, size_t, size_t, \
                                               size_t, size_t, size_t, size_t, cl_command_queue*, size_t&);
CLBAKE_INSTANTIATE(cl_half)
CLBAKE_INSTANTIATE(float)
CLBAKE_INSTANTIATE(double)
CLBAKE_INSTANTIATE(std::complex<float>)
CLBAKE_INSTANTIATE(std::complex<double>)

}  // namespace clblast
