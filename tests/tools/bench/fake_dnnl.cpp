// Stands in for libdnnl.so.2: plain products of row-major matrices, with alpha = 1 and beta = 0. With FAKE_DNNL_WRONG
// set, one element is wrong.
#include <cstdint>
#include <cstdlib>

namespace {

using Dim = std::int64_t;

template <typename A, typename B, typename C>
int multiply(char trans_a, char trans_b, Dim m, Dim n, Dim k, const A* a, Dim lda, const B* b, Dim ldb, C* c, Dim ldc) {
  for (Dim i = 0; i < m; ++i) {
    for (Dim j = 0; j < n; ++j) {
      C sum = 0;
      for (Dim p = 0; p < k; ++p) {
        sum += static_cast<C>(a[trans_a == 'T' ? p * lda + i : i * lda + p]) *
               static_cast<C>(b[trans_b == 'T' ? j * ldb + p : p * ldb + j]);
      }
      c[i * ldc + j] = sum;
    }
  }
  if (std::getenv("FAKE_DNNL_WRONG")) c[0] += 1;
  return 0;
}

}  // namespace

extern "C" {

int dnnl_sgemm(char trans_a, char trans_b, Dim m, Dim n, Dim k, float /*alpha*/, const float* a, Dim lda,
               const float* b, Dim ldb, float /*beta*/, float* c, Dim ldc) {
  return multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc);
}

int dnnl_gemm_s8s8s32(char trans_a, char trans_b, char /*offsets*/, Dim m, Dim n, Dim k, float /*alpha*/,
                      const std::int8_t* a, Dim lda, std::int8_t /*zero_a*/, const std::int8_t* b, Dim ldb,
                      std::int8_t /*zero_b*/, float /*beta*/, std::int32_t* c, Dim ldc, const std::int32_t* /*add*/) {
  return multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc);
}

int dnnl_gemm_u8s8s32(char trans_a, char trans_b, char /*offsets*/, Dim m, Dim n, Dim k, float /*alpha*/,
                      const std::uint8_t* a, Dim lda, std::uint8_t /*zero_a*/, const std::int8_t* b, Dim ldb,
                      std::int8_t /*zero_b*/, float /*beta*/, std::int32_t* c, Dim ldc, const std::int32_t* /*add*/) {
  return multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc);
}

}  // extern "C"
