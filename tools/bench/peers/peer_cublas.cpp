// cuBLAS through its C interface and the CUDA runtime, both opened when asked for.
#include "bench/peers/peers.hpp"

#include <clbake/builder/bfloat16.hpp>
#include <clbake/builder/half.hpp>

#include <dlfcn.h>
#include <complex>

namespace clbake::tool {
namespace {

// From cublas_api.h, library_types.h and driver_types.h: operations 0 = not transposed, 1 = transposed, 2 = conjugate
// transposed; copy 1 = host
// to device, 2 = device to host.
constexpr int kHalf = 2;               // CUDA_R_16F
constexpr int kBfloat16 = 14;          // CUDA_R_16BF
constexpr int kSumsInSingle = 68;      // CUBLAS_COMPUTE_32F
constexpr int kDefaultAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT
template <typename T>
using CublasGemm = int (*)(void*, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);

template <typename T>
using CublasBatch = int (*)(void*, int, int, int, int, int, const T*, const T*, int, long long, const T*, int,
                            long long, const T*, T*, int, long long, int);

using CublasGemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                             const void*, void*, int, int, int, int);

using CublasBatchEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                              const void*, int, int, long long, const void*, void*, int, int, long long, int, int, int);

int operation(bool transposed, bool conjugated) { return !transposed ? 0 : conjugated ? 2 : 1; }

struct Cuda {
  int (*malloc)(void**, std::size_t) = nullptr;
  int (*free)(void*) = nullptr;
  int (*memcpy)(void*, const void*, std::size_t, int) = nullptr;
  int (*synchronize)() = nullptr;
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  CublasGemm<float> sgemm = nullptr;
  CublasGemm<double> dgemm = nullptr;
  CublasGemm<std::complex<float>> cgemm = nullptr;  // cuComplex: two floats
  CublasGemm<std::complex<double>> zgemm = nullptr;
  CublasGemmEx gemm_ex = nullptr;
  CublasBatch<float> sgemm_batch = nullptr;
  CublasBatch<double> dgemm_batch = nullptr;
  CublasBatch<std::complex<float>> cgemm_batch = nullptr;
  CublasBatch<std::complex<double>> zgemm_batch = nullptr;
  CublasBatchEx gemm_batch_ex = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  return function != nullptr;
}

void* open_first(const std::vector<const char*>& names) {
  void* library = nullptr;
  for (const char* name : names) {
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

bool load(Cuda& cuda) {
  void* runtime = open_first({"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  void* blas = open_first({"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
  return find(runtime, "cudaMalloc", cuda.malloc) && find(runtime, "cudaFree", cuda.free) &&
         find(runtime, "cudaMemcpy", cuda.memcpy) && find(runtime, "cudaDeviceSynchronize", cuda.synchronize) &&
         find(blas, "cublasCreate_v2", cuda.create) && find(blas, "cublasDestroy_v2", cuda.destroy) &&
         find(blas, "cublasSgemm_v2", cuda.sgemm) && find(blas, "cublasDgemm_v2", cuda.dgemm) &&
         find(blas, "cublasCgemm_v2", cuda.cgemm) && find(blas, "cublasZgemm_v2", cuda.zgemm) &&
         find(blas, "cublasCgemmStridedBatched", cuda.cgemm_batch) &&
         find(blas, "cublasZgemmStridedBatched", cuda.zgemm_batch) && find(blas, "cublasGemmEx", cuda.gemm_ex) &&
         find(blas, "cublasSgemmStridedBatched", cuda.sgemm_batch) &&
         find(blas, "cublasDgemmStridedBatched", cuda.dgemm_batch) &&
         find(blas, "cublasGemmStridedBatchedEx", cuda.gemm_batch_ex);
}

class Cublas : public Peer {
 public:
  explicit Cublas(const Cuda& cuda) : cuda_(cuda) {}
  ~Cublas() override {
    release();
    if (handle_) cuda_.destroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  const char* name() const override { return "cublas"; }
  bool has(Precision /*precision*/) const override { return true; }

  Status attach(const builder::Session* /*session*/) override {
    const int status = cuda_.create(&handle_);
    return status == 0 ? Status() : Status(Code::no_device, "cublas: no device, status " + std::to_string(status));
  }

  Status set(const Problem& problem) override {
    release();
    problem_ = problem;
    const Extents e = extents(problem);
    const bool filled = fill(a_, e.a) && fill(b_, e.b) && fill(c_, e.c);
    return filled ? Status() : Status(Code::out_of_memory, "cublas: no room for the matrices");
  }

  Status run() override {
    const int status = multiply();
    if (status == 0 && cuda_.synchronize() == 0) return {};
    return {Code::wrong_result, "cublas: status " + std::to_string(status)};
  }

  Result<std::vector<float>> single_result() const override {
    std::vector<float> c(extents(problem_).c);
    const int status = cuda_.memcpy(c.data(), c_, c.size() * sizeof(float), 2);
    if (status != 0) return {Code::out_of_memory, "cublas: cudaMemcpy: status " + std::to_string(status)};
    return c;
  }

 private:
  bool fill(void*& matrix, std::size_t count) {
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
  static std::vector<T> random_16_bits(std::size_t count) {
    const std::vector<float> numbers = random_elements<float>(count);
    return std::vector<T>(numbers.begin(), numbers.end());
  }

  template <typename T>
  bool copy(void*& matrix, const std::vector<T>& data) {
    const std::size_t bytes = data.size() * sizeof(T);
    return cuda_.malloc(&matrix, bytes) == 0 && cuda_.memcpy(matrix, data.data(), bytes, 1) == 0;
  }

  int multiply() const {
    switch (problem_.precision) {
      case Precision::half_precision: return multiply_16_bits(kHalf);
      case Precision::bfloat16: return multiply_16_bits(kBfloat16);
      case Precision::single_precision: return multiply(cuda_.sgemm, cuda_.sgemm_batch);
      case Precision::double_precision: return multiply(cuda_.dgemm, cuda_.dgemm_batch);
      case Precision::complex_single: return multiply(cuda_.cgemm, cuda_.cgemm_batch);
      case Precision::complex_double: return multiply(cuda_.zgemm, cuda_.zgemm_batch);
    }
    return -1;
  }

  // cuBLAS is column-major: the same problem with A and B, m and n exchanged.
  template <typename T>
  int multiply(CublasGemm<T> gemm, CublasBatch<T> batch) const {
    const Problem& p = problem_;
    const T one{1};
    const T zero{0};
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    auto* c = static_cast<T*>(c_);
    if (p.batch > 1) {
      return batch(handle_, operation(p.trans_b, p.conj_b), operation(p.trans_a, p.conj_a), as_int(p.n), as_int(p.m),
                   as_int(p.k), &one, b, as_int(p.ldb), as_stride(p.b_stride), a, as_int(p.lda), as_stride(p.a_stride),
                   &zero, c, as_int(p.ldc), as_stride(p.c_stride), as_int(p.batch));
    }
    return gemm(handle_, operation(p.trans_b, p.conj_b), operation(p.trans_a, p.conj_a), as_int(p.n), as_int(p.m),
                as_int(p.k), &one, b, as_int(p.ldb), a, as_int(p.lda), &zero, c, as_int(p.ldc));
  }

  // With sums in single precision, as clbake's.
  int multiply_16_bits(int type) const {
    const Problem& p = problem_;
    const float one = 1;
    const float zero = 0;
    if (p.batch > 1) {
      return cuda_.gemm_batch_ex(handle_, operation(p.trans_b, p.conj_b), operation(p.trans_a, p.conj_a), as_int(p.n),
                                 as_int(p.m), as_int(p.k), &one, b_, type, as_int(p.ldb), as_stride(p.b_stride), a_,
                                 type, as_int(p.lda), as_stride(p.a_stride), &zero, c_, type, as_int(p.ldc),
                                 as_stride(p.c_stride), as_int(p.batch), kSumsInSingle, kDefaultAlgorithm);
    }
    return cuda_.gemm_ex(handle_, operation(p.trans_b, p.conj_b), operation(p.trans_a, p.conj_a), as_int(p.n),
                         as_int(p.m), as_int(p.k), &one, b_, type, as_int(p.ldb), a_, type, as_int(p.lda), &zero, c_,
                         type, as_int(p.ldc), kSumsInSingle, kDefaultAlgorithm);
  }

  static int as_int(std::size_t x) { return static_cast<int>(x); }
  static long long as_stride(std::size_t x) { return static_cast<long long>(x); }

  void release() {
    for (void** matrix : {&a_, &b_, &c_}) {
      if (*matrix) cuda_.free(*matrix);
      *matrix = nullptr;
    }
  }

  Cuda cuda_;
  Problem problem_;
  void* handle_ = nullptr;
  void* a_ = nullptr;
  void* b_ = nullptr;
  void* c_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Peer>> make_cublas() {
  Cuda cuda;
  if (!load(cuda)) return {Code::not_found, "cublas is not installed"};
  return std::unique_ptr<Peer>(std::make_unique<Cublas>(cuda));
}

}  // namespace clbake::tool
