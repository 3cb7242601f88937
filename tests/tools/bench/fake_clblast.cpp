// Stands in for libclblast.so.1: a plain product in single precision of row-major matrices that are not transposed,
// with alpha = 1 and beta = 0.
#include <CL/cl.h>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {

std::vector<float> read(cl_command_queue queue, cl_mem buffer, size_t count) {
  std::vector<float> data(count);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof(float), data.data(), 0, nullptr, nullptr);
  return data;
}

}  // namespace

extern "C" int CLBlastSgemm(int /*layout*/, int /*trans_a*/, int /*trans_b*/, size_t m, size_t n, size_t k,
                            float /*alpha*/, cl_mem a, size_t /*a_offset*/, size_t lda, cl_mem b, size_t /*b_offset*/,
                            size_t ldb, float /*beta*/, cl_mem c, size_t /*c_offset*/, size_t ldc,
                            cl_command_queue* queue, cl_event* event) {
  const std::vector<float> x = read(*queue, a, m * lda);
  const std::vector<float> y = read(*queue, b, k * ldb);
  std::vector<float> result(m * ldc);
  for (size_t i = 0; i < m; ++i) {
    for (size_t p = 0; p < k; ++p) {
      for (size_t j = 0; j < n; ++j) result[i * ldc + j] += x[i * lda + p] * y[p * ldb + j];
    }
  }
  clEnqueueWriteBuffer(*queue, c, CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0, nullptr, nullptr);
  return clEnqueueMarkerWithWaitList(*queue, 0, nullptr, event);
}

// Asked for, and never called.
extern "C" void CLBlastDgemm() {}
extern "C" void CLBlastCgemm() {}
extern "C" void CLBlastZgemm() {}
extern "C" void CLBlastSgemmStridedBatched() {}
extern "C" void CLBlastDgemmStridedBatched() {}
extern "C" void CLBlastCgemmStridedBatched() {}
extern "C" void CLBlastZgemmStridedBatched() {}

extern "C" int CLBlastOverrideParameters(cl_device_id /*device*/, const char* kernel, int precision, size_t count,
                                         const char** names, const size_t* values) {
  if (std::getenv("FAKE_CLBLAST_REFUSES")) return -2040;
  std::ofstream log(std::getenv("FAKE_CLBLAST_LOG"), std::ios::app);
  log << kernel << ' ' << precision;
  for (size_t i = 0; i < count; ++i) log << ' ' << names[i] << '=' << values[i];
  log << '\n';
  return 0;
}
