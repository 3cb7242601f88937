#include "bench/peers/cuda_peer.hpp"

namespace clbake::tool {
namespace {

// cudaMemcpyKind, from driver_types.h.
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

}  // namespace

bool CudaRuntime::load() {
  void* library = open_library({"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  return find_function(library, "cudaMalloc", malloc) && find_function(library, "cudaFree", free) &&
         find_function(library, "cudaMemcpy", memcpy) && find_function(library, "cudaDeviceSynchronize", synchronize);
}

bool CudaPeer::set(const Problem& problem) {
  release();
  problem_ = problem;
  const Extents e = extents(problem);
  const auto make = [&](void*& matrix, std::size_t count) {
    need_success("cudaMalloc: ", cuda_.malloc(&matrix, count * element_bytes(problem.precision)));
    fill(matrix, count);
  };
  make(a_, e.a);
  make(b_, e.b);
  make(c_, e.c);
  return true;
}

void CudaPeer::run() {
  need_success("", start());
  need_success("cudaDeviceSynchronize: ", cuda_.synchronize());
}

std::vector<float> CudaPeer::single_result() const {
  std::vector<float> c(extents(problem_).c);
  need_success("cudaMemcpy: ", cuda_.memcpy(c.data(), c_, c.size() * sizeof(float), kToHost));
  return c;
}

void CudaPeer::need_success(const char* what, int status) const {
  if (status != 0) throw Failure(std::string(name()) + ": " + what + "status " + std::to_string(status));
}

int CudaPeer::type() const {
  switch (problem_.precision) {
    case Precision::half_precision: return 2;    // CUDA_R_16F
    case Precision::bfloat16: return 14;         // CUDA_R_16BF
    case Precision::single_precision: return 0;  // CUDA_R_32F
    case Precision::double_precision: return 1;  // CUDA_R_64F
    case Precision::complex_single: return 4;    // CUDA_C_32F
    case Precision::complex_double: return 5;    // CUDA_C_64F
  }
  return -1;
}

int CudaPeer::scalar_type() const { return has_16_bits(problem_.precision) ? 0 : type(); }

bool CudaPeer::in_double() const {
  return problem_.precision == Precision::double_precision || problem_.precision == Precision::complex_double;
}

void CudaPeer::fill(void* matrix, std::size_t count) const {
  const std::vector<unsigned char> bytes = random_matrix(problem_.precision, count);
  need_success("cudaMemcpy: ", cuda_.memcpy(matrix, bytes.data(), bytes.size(), kToDevice));
}

void CudaPeer::release() {
  for (void** matrix : {&a_, &b_, &c_}) {
    if (*matrix) cuda_.free(*matrix);
    *matrix = nullptr;
  }
}

}  // namespace clbake::tool
