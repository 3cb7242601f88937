// cuBLAS through its C interface, opened when asked for.
#include "bench/peers/cuda_peer.hpp"

#include <complex>

namespace clbake::tool {
namespace {

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

struct CublasFunctions {
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

bool load(CublasFunctions& blas) {
  void* library = open_library({"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
  const auto find = [&](const char* name, auto& function) { return find_function(library, name, function); };
  return find("cublasCreate_v2", blas.create) && find("cublasDestroy_v2", blas.destroy) &&
         find("cublasSgemm_v2", blas.sgemm) && find("cublasDgemm_v2", blas.dgemm) &&
         find("cublasCgemm_v2", blas.cgemm) && find("cublasZgemm_v2", blas.zgemm) &&
         find("cublasGemmEx", blas.gemm_ex) && find("cublasSgemmStridedBatched", blas.sgemm_batch) &&
         find("cublasDgemmStridedBatched", blas.dgemm_batch) && find("cublasCgemmStridedBatched", blas.cgemm_batch) &&
         find("cublasZgemmStridedBatched", blas.zgemm_batch) && find("cublasGemmStridedBatchedEx", blas.gemm_batch_ex);
}

class Cublas : public CudaPeer {
 public:
  Cublas(const CudaRuntime& cuda, const CublasFunctions& blas) : CudaPeer(cuda), blas_(blas) {}
  ~Cublas() override {
    if (handle_) blas_.destroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  const char* name() const override { return "cublas"; }

  Status attach(const builder::Session* /*session*/) override {
    const int status = blas_.create(&handle_);
    return status == 0 ? Status() : Status(Code::no_device, "cublas: no device, status " + std::to_string(status));
  }

 private:
  int start() override {
    switch (problem().precision) {
      case Precision::half_precision:
      case Precision::bfloat16: return multiply_16_bits(cuda_type(problem().precision));
      case Precision::single_precision: return multiply(blas_.sgemm, blas_.sgemm_batch);
      case Precision::double_precision: return multiply(blas_.dgemm, blas_.dgemm_batch);
      case Precision::complex_single: return multiply(blas_.cgemm, blas_.cgemm_batch);
      case Precision::complex_double: return multiply(blas_.zgemm, blas_.zgemm_batch);
    }
    return -1;
  }

  int first_operation() const { return cuda_operation(problem().trans_b, problem().conj_b); }
  int second_operation() const { return cuda_operation(problem().trans_a, problem().conj_a); }

  template <typename T>
  int multiply(CublasGemm<T> gemm, CublasBatch<T> batch) const {
    const Problem& p = problem();
    const T one{1};
    const T zero{0};
    const auto* first = static_cast<const T*>(b());
    const auto* second = static_cast<const T*>(a());
    auto* result = static_cast<T*>(c());
    if (p.batch > 1) {
      return batch(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), &one, first,
                   as_int(p.ldb), as_stride(p.b_stride), second, as_int(p.lda), as_stride(p.a_stride), &zero, result,
                   as_int(p.ldc), as_stride(p.c_stride), as_int(p.batch));
    }
    return gemm(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), &one, first,
                as_int(p.ldb), second, as_int(p.lda), &zero, result, as_int(p.ldc));
  }

  // With sums in single precision, as clbake's.
  int multiply_16_bits(int type) const {
    const Problem& p = problem();
    const float one = 1;
    const float zero = 0;
    if (p.batch > 1) {
      return blas_.gemm_batch_ex(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k),
                                 &one, b(), type, as_int(p.ldb), as_stride(p.b_stride), a(), type, as_int(p.lda),
                                 as_stride(p.a_stride), &zero, c(), type, as_int(p.ldc), as_stride(p.c_stride),
                                 as_int(p.batch), kSumsInSingle, kDefaultAlgorithm);
    }
    return blas_.gemm_ex(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), &one,
                         b(), type, as_int(p.ldb), a(), type, as_int(p.lda), &zero, c(), type, as_int(p.ldc),
                         kSumsInSingle, kDefaultAlgorithm);
  }

  static int as_int(std::size_t x) { return static_cast<int>(x); }
  static long long as_stride(std::size_t x) { return static_cast<long long>(x); }

  CublasFunctions blas_;
  void* handle_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Peer>> make_cublas() {
  CudaRuntime cuda;
  CublasFunctions blas;
  if (!load(cuda) || !load(blas)) return {Code::not_found, "cublas is not installed"};
  return std::unique_ptr<Peer>(std::make_unique<Cublas>(cuda, blas));
}

}  // namespace clbake::tool
