// Matrices in shared virtual memory.
#include "api/library_scene.hpp"
#include "driver_main.hpp"

#include <cmath>

using namespace clbake;
using namespace clbake::tests;

namespace {

constexpr std::size_t kSize = 48;
constexpr std::size_t kBytes = kSize * kSize * sizeof(float);

}  // namespace

// A product in shared virtual memory, read and written through pointers.
BOOST_AUTO_TEST_CASE(SharedMemoryIsMultiplied) {
  const cl_context context = here().session.context();
  const cl_command_queue queue = here().session.queue();
  cl_ulong capabilities = 0;
  clGetDeviceInfo(here().device.id, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, nullptr);
  std::vector<float> own(kSize * kSize);
  BOOST_TEST(!svm_buffer(context, nullptr, kBytes));
  BOOST_TEST(!svm_buffer(context, own.data(), kBytes));
  if (capabilities == 0) return;
  struct Shared {
    float* memory;
    cl_mem buffer;
  };
  std::vector<Shared> matrices;
  for (std::size_t i = 0; i < 3; ++i) {
    auto* memory = static_cast<float*>(clSVMAlloc(context, CL_MEM_READ_WRITE, kBytes, 0));
    matrices.push_back({memory, required(svm_buffer(context, memory, kBytes))});
    BOOST_REQUIRE(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, memory, kBytes, 0, nullptr, nullptr) == CL_SUCCESS);
    for (std::size_t at = 0; at < own.size(); ++at) memory[at] = static_cast<float>((at * 7 + i) % 11) - 5;
    clEnqueueSVMUnmap(queue, memory, 0, nullptr, nullptr);
  }
  const Shared &a = matrices[0], &b = matrices[1], &c = matrices[2];
  Problem problem;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = kSize;
  Gemm gemm = required(library_of(baked()).prepare(problem));
  BOOST_REQUIRE(gemm.enqueue(queue, 1, {a.buffer}, {b.buffer}, 0, {c.buffer}).ok());
  for (const Shared& matrix : matrices) {
    clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, matrix.memory, kBytes, 0, nullptr, nullptr);
  }
  float error = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      float sum = 0;  // of whole numbers: exact
      for (std::size_t p = 0; p < kSize; ++p) sum += a.memory[i * kSize + p] * b.memory[p * kSize + j];
      error = std::max(error, std::abs(sum - c.memory[i * kSize + j]));
    }
  }
  BOOST_TEST(error == 0.0F);
  for (const Shared& matrix : matrices) clEnqueueSVMUnmap(queue, matrix.memory, 0, nullptr, nullptr);
  clFinish(queue);
  for (const Shared& matrix : matrices) {
    clReleaseMemObject(matrix.buffer);
    clSVMFree(context, matrix.memory);
  }
}
