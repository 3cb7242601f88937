// Stands in for libopenblas.so.0: a plain product of row-major matrices that are not transposed, with alpha = 1 and
// beta = 0. With FAKE_OPENBLAS_WRONG set, one element is slightly wrong.
#include <cstdlib>

extern "C" void cblas_sgemm(int /*order*/, int /*trans_a*/, int /*trans_b*/, int m, int n, int k, float /*alpha*/,
                            const float* a, int lda, const float* b, int ldb, float /*beta*/, float* c, int ldc) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += static_cast<double>(a[i * lda + p]) * static_cast<double>(b[p * ldb + j]);
      c[i * ldc + j] = static_cast<float>(sum);
    }
  }
  if (std::getenv("FAKE_OPENBLAS_WRONG")) c[(m - 1) * ldc] += 0.01F;
}

// Asked for, and never called.
extern "C" void cblas_dgemm() {}
extern "C" void cblas_cgemm() {}
extern "C" void cblas_zgemm() {}
