// cuBLAS through its C interface, opened when asked for.
#include "bench/peers/cuda_peer.hpp"

namespace clbake::tool {
namespace {

constexpr int kDefaultAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT

class Cublas : public CudaPeer {
 public:
  const char* name() const override { return "cublas"; }
  void attach(const builder::Session* /*session*/) override { handle_ = make("no device, ", destroy_, create_); }

 private:
  int start() override {
    const Problem& p = problem_;
    const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
    const auto apart = [](std::size_t x) { return static_cast<long long>(x); };
    if (p.batch > 1) {
      return batch_(handle_.get(), first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), one(),
                    b_.get(), type(), as_int(p.ldb), apart(p.b_stride), a_.get(), type(), as_int(p.lda),
                    apart(p.a_stride), zero(), c_.get(), type(), as_int(p.ldc), apart(p.c_stride), as_int(p.batch),
                    sum_type(), kDefaultAlgorithm);
    }
    return gemm_(handle_.get(), first_operation(), second_operation(), as_int(p.n), as_int(p.m), as_int(p.k), one(),
                 b_.get(), type(), as_int(p.ldb), a_.get(), type(), as_int(p.lda), zero(), c_.get(), type(),
                 as_int(p.ldc), sum_type(), kDefaultAlgorithm);
  }

  const SharedLibrary library_{{"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}};
  int (*const create_)(void**) = library_["cublasCreate_v2"];
  int (*const destroy_)(void*) = library_["cublasDestroy_v2"];
  int (*const gemm_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                     const void*, void*, int, int, int, int) = library_["cublasGemmEx"];
  int (*const batch_)(void*, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int,
                      int, long long, const void*, void*, int, int, long long, int, int,
                      int) = library_["cublasGemmStridedBatchedEx"];
  Handle handle_;
};

}  // namespace

std::unique_ptr<Peer> make_cublas() { return std::make_unique<Cublas>(); }

}  // namespace clbake::tool
