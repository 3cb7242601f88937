// The base of the peers on CUDA: its runtime library, opened when asked for, and matrices in the device's memory.
#pragma once

#include "bench/peers/peers.hpp"
#include "bench/peers/shared_library.hpp"

namespace clbake::tool {

struct CudaRuntime {
  SharedLibrary library{{"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"}};
  int (*malloc)(void**, std::size_t) = library["cudaMalloc"];
  int (*free)(void*) = library["cudaFree"];
  int (*memcpy)(void*, const void*, std::size_t, int) = library["cudaMemcpy"];
  int (*synchronize)() = library["cudaDeviceSynchronize"];
};

// A handle that a function of a library made, and the function that destroys it.
struct Destroy {
  int (*destroy)(void*) = nullptr;
  void operator()(void* handle) const { destroy(handle); }
};
using Handle = std::unique_ptr<void, Destroy>;

// The libraries on CUDA are column-major: they compute the same problem with A and B, and m and n, exchanged.
class CudaPeer : public Peer {
 public:
  bool has(Precision /*precision*/) const override { return true; }
  bool set(const Problem& problem) override;
  void run() override;
  std::vector<float> single_result() const override;

 protected:
  // Starts the product on CUDA's default stream. Returns the library's status, 0 for success.
  virtual int start() = 0;

  // Throws Failure, which names the peer and `what`, for any status but 0.
  void need_success(const char* what, int status) const;

  // Throws Failure, which names the peer and `what`, when `create` fails.
  template <typename... Parameters, typename... Arguments>
  Handle make(const char* what, int (*destroy)(void*), int (*create)(void**, Parameters...),
              Arguments... arguments) const {
    void* handle = nullptr;
    need_success(what, create(&handle, arguments...));
    return Handle(handle, {destroy});
  }

  // Gives C the numbers again that it had before the first product.
  void refill_c() { fill(c_.get(), extents(problem_).c); }

  // The problem in the numbers of library_types.h and cublas_api.h: the types of the matrices, of alpha and beta, and
  // of the sums (cublasComputeType_t), which are in single precision for 16 bits, as clbake's.
  int type() const;
  int scalar_type() const;
  int sum_type() const { return in_double() ? 70 : 68; }
  int first_operation() const { return operation(problem_.trans_b, problem_.conj_b); }
  int second_operation() const { return operation(problem_.trans_a, problem_.conj_a); }
  // 1 and 0 as scalar_type().
  const void* one() const { return in_double() ? static_cast<const void*>(double_one_) : single_one_; }
  const void* zero() const { return zero_; }

  const CudaRuntime cuda_;
  Problem problem_;
  Handle a_, b_, c_;

 private:
  static int operation(bool transposed, bool conjugated) { return !transposed ? 0 : conjugated ? 2 : 1; }
  bool in_double() const;
  void fill(void* matrix, std::size_t count) const;

  alignas(16) const float single_one_[2] = {1, 0};
  alignas(16) const double double_one_[2] = {1, 0};
  alignas(16) const double zero_[2] = {0, 0};
};

}  // namespace clbake::tool
