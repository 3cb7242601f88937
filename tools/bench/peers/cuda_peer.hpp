// The base of the peers on CUDA: its runtime library, opened when asked for, and matrices in the device's memory.
#pragma once

#include "bench/peers/open_library.hpp"
#include "bench/peers/peers.hpp"

namespace clbake::tool {

// From cublas_api.h and library_types.h.
constexpr int kSumsInSingle = 68;  // CUBLAS_COMPUTE_32F
constexpr int kSumsInDouble = 70;  // CUBLAS_COMPUTE_64F
int cuda_type(Precision precision);
int cuda_operation(bool transposed, bool conjugated);

struct CudaRuntime {
  int (*malloc)(void**, std::size_t) = nullptr;
  int (*free)(void*) = nullptr;
  int (*memcpy)(void*, const void*, std::size_t, int) = nullptr;
  int (*synchronize)() = nullptr;
};

bool load(CudaRuntime& cuda);

// The libraries on CUDA are column-major: they compute the same problem with A and B, and m and n, exchanged.
class CudaPeer : public Peer {
 public:
  explicit CudaPeer(const CudaRuntime& cuda) : cuda_(cuda) {}
  ~CudaPeer() override { release(); }
  CudaPeer(const CudaPeer&) = delete;
  CudaPeer& operator=(const CudaPeer&) = delete;
  bool has(Precision /*precision*/) const override { return true; }
  Status set(const Problem& problem) override;
  Status run() override;
  Result<std::vector<float>> single_result() const override;

 protected:
  // Starts the product on CUDA's default stream. Returns the library's status, 0 for success.
  virtual int start() = 0;

  // Gives C the numbers again that it had before the first product.
  Status refill_c();

  const CudaRuntime& cuda() const { return cuda_; }
  const Problem& problem() const { return problem_; }
  const void* a() const { return a_; }
  const void* b() const { return b_; }
  void* c() const { return c_; }

 private:
  bool fill(void* matrix, std::size_t count) const;
  template <typename T>
  bool copy(void* matrix, const std::vector<T>& data) const;
  void release();

  CudaRuntime cuda_;
  Problem problem_;
  void* a_ = nullptr;
  void* b_ = nullptr;
  void* c_ = nullptr;
};

}  // namespace clbake::tool
