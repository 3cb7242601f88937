// cuBLAS through its C interface, opened when asked for.
#include "bench/peers/cuda_peer.hpp"

namespace clbake::tool {
namespace {

constexpr int kDefaultAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT

struct CublasFunctions {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
              void*, int, int, int, int) = nullptr;
  int (*batch)(void*, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int, int,
               long long, const void*, void*, int, int, long long, int, int, int) = nullptr;

  bool load() {
    void* library = open_library({"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
    return find_function(library, "cublasCreate_v2", create) && find_function(library, "cublasDestroy_v2", destroy) &&
           find_function(library, "cublasGemmEx", gemm) && find_function(library, "cublasGemmStridedBatchedEx", batch);
  }
};

class Cublas : public CudaPeer {
 public:
  Cublas(const CudaRuntime& cuda, const CublasFunctions& blas) : CudaPeer(cuda), blas_(blas) {}
  ~Cublas() override {
    if (handle_) blas_.destroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  const char* name() const override { return "cublas"; }
  void attach(const builder::Session* /*session*/) override { need_success("no device, ", blas_.create(&handle_)); }

 private:
  int start() override {
    const Problem& p = problem_;
    const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
    const auto apart = [](std::size_t x) { return static_cast<long long>(x); };
    if (p.batch > 1) {
      return blas_.batch(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), one(),
                         b_, type(), as_int(p.ldb), apart(p.b_stride), a_, type(), as_int(p.lda), apart(p.a_stride),
                         zero(), c_, type(), as_int(p.ldc), apart(p.c_stride), as_int(p.batch), sum_type(),
                         kDefaultAlgorithm);
    }
    return blas_.gemm(handle_, first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), one(), b_,
                      type(), as_int(p.ldb), a_, type(), as_int(p.lda), zero(), c_, type(), as_int(p.ldc), sum_type(),
                      kDefaultAlgorithm);
  }

  CublasFunctions blas_;
  void* handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Peer> make_cublas() {
  CudaRuntime cuda;
  CublasFunctions blas;
  return cuda.load() && blas.load() ? std::make_unique<Cublas>(cuda, blas) : nullptr;
}

}  // namespace clbake::tool
