#include "bench/peers/cuda_peer.hpp"

namespace clbake::tool {
namespace {

// cudaMemcpyKind, from driver_types.h.
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

}  // namespace

bool CudaPeer::set(const Problem& problem) {
  problem_ = problem;
  for (Handle* matrix : {&a_, &b_, &c_}) matrix->reset();  // before there are others
  const Extents e = extents(problem);
  for (const auto& [matrix, count] : {std::pair(&a_, e.a), {&b_, e.b}, {&c_, e.c}}) {
    *matrix = make("cudaMalloc: ", cuda_.free, cuda_.malloc, count * element_bytes(problem.precision));
    fill(matrix->get(), count);
  }
  return true;
}

void CudaPeer::run() {
  need_success("", start());
  need_success("cudaDeviceSynchronize: ", cuda_.synchronize());
}

std::vector<float> CudaPeer::single_result() const {
  std::vector<float> c(extents(problem_).c);
  need_success("cudaMemcpy: ", cuda_.memcpy(c.data(), c_.get(), c.size() * sizeof(float), kToHost));
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

}  // namespace clbake::tool
