#include "bench/peers/cuda_peer.hpp"

#include <clbake/builder/bfloat16.hpp>
#include <clbake/builder/half.hpp>

#include <complex>

namespace clbake::tool {
namespace {

// cudaMemcpyKind, from driver_types.h.
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

template <typename T>
std::vector<T> random_16_bits(std::size_t count) {
  const std::vector<float> numbers = random_elements<float>(count);
  return std::vector<T>(numbers.begin(), numbers.end());
}

}  // namespace

int cuda_type(Precision precision) {
  switch (precision) {
    case Precision::half_precision: return 2;    // CUDA_R_16F
    case Precision::bfloat16: return 14;         // CUDA_R_16BF
    case Precision::single_precision: return 0;  // CUDA_R_32F
    case Precision::double_precision: return 1;  // CUDA_R_64F
    case Precision::complex_single: return 4;    // CUDA_C_32F
    case Precision::complex_double: return 5;    // CUDA_C_64F
  }
  return -1;
}

// CUBLAS_OP_N, CUBLAS_OP_T and CUBLAS_OP_C.
int cuda_operation(bool transposed, bool conjugated) { return !transposed ? 0 : conjugated ? 2 : 1; }

bool load(CudaRuntime& cuda) {
  void* library = open_library({"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  return find_function(library, "cudaMalloc", cuda.malloc) && find_function(library, "cudaFree", cuda.free) &&
         find_function(library, "cudaMemcpy", cuda.memcpy) &&
         find_function(library, "cudaDeviceSynchronize", cuda.synchronize);
}

Status CudaPeer::set(const Problem& problem) {
  release();
  problem_ = problem;
  const Extents e = extents(problem);
  const std::size_t element = element_bytes(problem.precision);
  const auto make = [&](void*& matrix, std::size_t count) {
    return cuda_.malloc(&matrix, count * element) == 0 && fill(matrix, count);
  };
  const bool made = make(a_, e.a) && make(b_, e.b) && make(c_, e.c);
  return made ? Status() : Status(Code::out_of_memory, std::string(name()) + ": no room for the matrices");
}

Status CudaPeer::run() {
  const auto failure = [this](const char* call, int status) {
    return Status(Code::wrong_result, std::string(name()) + ": " + call + "status " + std::to_string(status));
  };
  const int started = start();
  if (started != 0) return failure("", started);
  const int finished = cuda_.synchronize();
  return finished == 0 ? Status() : failure("cudaDeviceSynchronize: ", finished);
}

Status CudaPeer::refill_c() {
  if (fill(c_, extents(problem_).c)) return {};
  return {Code::out_of_memory, std::string(name()) + ": C cannot be written"};
}

Result<std::vector<float>> CudaPeer::single_result() const {
  std::vector<float> c(extents(problem_).c);
  const int status = cuda_.memcpy(c.data(), c_, c.size() * sizeof(float), kToHost);
  if (status == 0) return c;
  return {Code::out_of_memory, std::string(name()) + ": cudaMemcpy: status " + std::to_string(status)};
}

bool CudaPeer::fill(void* matrix, std::size_t count) const {
  switch (problem_.precision) {
    case Precision::half_precision: return copy(matrix, random_16_bits<builder::Half>(count));
    case Precision::bfloat16: return copy(matrix, random_16_bits<builder::Bfloat16>(count));
    case Precision::single_precision: return copy(matrix, random_elements<float>(count));
    case Precision::double_precision: return copy(matrix, random_elements<double>(count));
    case Precision::complex_single: return copy(matrix, random_elements<std::complex<float>>(count));
    case Precision::complex_double: return copy(matrix, random_elements<std::complex<double>>(count));
  }
  return false;
}

template <typename T>
bool CudaPeer::copy(void* matrix, const std::vector<T>& data) const {
  return cuda_.memcpy(matrix, data.data(), data.size() * sizeof(T), kToDevice) == 0;
}

void CudaPeer::release() {
  for (void** matrix : {&a_, &b_, &c_}) {
    if (*matrix) cuda_.free(*matrix);
    *matrix = nullptr;
  }
}

}  // namespace clbake::tool
