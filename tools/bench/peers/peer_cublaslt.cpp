// cuBLASLt, the interface of cuBLAS in which the caller chooses the algorithm: the fastest of those that it proposes.
#include "bench/peers/cuda_peer.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace clbake::tool {
namespace {

// From cublasLt.h: cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t and
// cublasLtMatmulPreferenceAttributes_t.
constexpr int kFirstOperation = 3;     // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int kSecondOperation = 4;    // CUBLASLT_MATMUL_DESC_TRANSB
constexpr int kBatchCount = 5;         // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
constexpr int kBatchStride = 6;        // CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
constexpr int kMaxWorkspaceBytes = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED
// The size that cuBLAS's manual recommends for architecture sm_90.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr int kAlgorithms = 8;
constexpr int kTurns = 12;  // of each algorithm, the first of them not counted

struct Algorithm {  // cublasLtMatmulHeuristicResult_t
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  std::array<int, 4> reserved;
};

using Handle = void*;
using SetAttribute = int (*)(Handle, int, const void*, std::size_t);

struct CublasltFunctions {
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*create_product)(Handle*, int, int) = nullptr;
  int (*destroy_product)(Handle) = nullptr;
  SetAttribute set_product = nullptr;
  int (*create_layout)(Handle*, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  int (*destroy_layout)(Handle) = nullptr;
  SetAttribute set_layout = nullptr;
  int (*create_preference)(Handle*) = nullptr;
  int (*destroy_preference)(Handle) = nullptr;
  SetAttribute set_preference = nullptr;
  int (*propose)(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, Algorithm*, int*) = nullptr;
  int (*multiply)(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*, const void*,
                  Handle, void*, Handle, const void*, void*, std::size_t, void*) = nullptr;

  bool load() {
    void* library = open_library({"libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
    const auto find = [&](const char* name, auto& function) {
      return find_function(library, (std::string("cublasLt") + name).c_str(), function);
    };
    return find("Create", create) && find("Destroy", destroy) && find("MatmulDescCreate", create_product) &&
           find("MatmulDescDestroy", destroy_product) && find("MatmulDescSetAttribute", set_product) &&
           find("MatrixLayoutCreate", create_layout) && find("MatrixLayoutDestroy", destroy_layout) &&
           find("MatrixLayoutSetAttribute", set_layout) && find("MatmulPreferenceCreate", create_preference) &&
           find("MatmulPreferenceDestroy", destroy_preference) &&
           find("MatmulPreferenceSetAttribute", set_preference) && find("MatmulAlgoGetHeuristic", propose) &&
           find("Matmul", multiply);
  }
};

class Cublaslt : public CudaPeer {
 public:
  Cublaslt(const CudaRuntime& cuda, const CublasltFunctions& blas) : CudaPeer(cuda), blas_(blas) {}
  ~Cublaslt() override {
    forget();
    if (preference_) blas_.destroy_preference(preference_);
    if (workspace_) cuda_.free(workspace_);
    if (handle_) blas_.destroy(handle_);
  }
  Cublaslt(const Cublaslt&) = delete;
  Cublaslt& operator=(const Cublaslt&) = delete;
  const char* name() const override { return "cublaslt"; }

  void attach(const builder::Session* /*session*/) override {
    need_success("no device, ", blas_.create(&handle_));
    need_success("cudaMalloc: ", cuda_.malloc(&workspace_, kWorkspaceBytes));
    need_success("", blas_.create_preference(&preference_));
    need_success("", blas_.set_preference(preference_, kMaxWorkspaceBytes, &kWorkspaceBytes, sizeof kWorkspaceBytes));
  }

  // Also tries the proposed algorithms, and keeps the fastest.
  bool set(const Problem& problem) override {
    forget();
    CudaPeer::set(problem);
    describe();
    std::vector<Algorithm> proposed(kAlgorithms);
    int count = 0;
    const int status = blas_.propose(handle_, product_, first_, second_, result_, result_, preference_, kAlgorithms,
                                     proposed.data(), &count);
    if (status != kNotSupported) need_success("", status);
    proposed.resize(static_cast<std::size_t>(count));
    const auto unsupported = [this](const Algorithm& algorithm) { return !is_supported(algorithm); };
    proposed.erase(std::remove_if(proposed.begin(), proposed.end(), unsupported), proposed.end());
    if (proposed.empty()) return false;
    choose(proposed);
    return true;
  }

 private:
  int start() override {
    return blas_.multiply(handle_, product_, one(), b_, first_, a_, second_, zero(), c_, result_, c_, result_,
                          chosen_.algorithm.data(), workspace_, kWorkspaceBytes, nullptr);
  }

  // The operations, and the layouts of the three matrices: B and A first and second, C.
  void describe() {
    const int operations[] = {first_operation(), second_operation()};
    need_success("", blas_.create_product(&product_, sum_type(), scalar_type()));
    need_success("", blas_.set_product(product_, kFirstOperation, &operations[0], sizeof(int)));
    need_success("", blas_.set_product(product_, kSecondOperation, &operations[1], sizeof(int)));
    lay_out(first_, operand_b(problem_));
    lay_out(second_, operand_a(problem_));
    lay_out(result_, operand_c(problem_));
  }

  // Column-major: its columns are our rows.
  void lay_out(Handle& layout, const Operand& operand) const {
    const auto count = static_cast<int>(operand.batch);
    const auto apart = static_cast<std::int64_t>(operand.stride);
    need_success(
        "", blas_.create_layout(&layout, type(), operand.cols, operand.rows, static_cast<std::int64_t>(operand.ld)));
    need_success("", blas_.set_layout(layout, kBatchCount, &count, sizeof count));
    need_success("", blas_.set_layout(layout, kBatchStride, &apart, sizeof apart));
  }

  // Tries it, too: not all that are proposed compute the product.
  bool is_supported(const Algorithm& algorithm) {
    if (algorithm.status != 0 || algorithm.workspace_bytes > kWorkspaceBytes) return false;
    chosen_ = algorithm;
    const int status = start();
    if (status != kNotSupported) need_success("", status);
    return status == 0;
  }

  // Keeps the algorithm with the least median of some calls in turns.
  void choose(const std::vector<Algorithm>& proposed) {
    std::vector<std::vector<double>> us(proposed.size());
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < proposed.size(); ++i) {
        chosen_ = proposed[i];
        const auto begin = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
        if (turn > 0) us[i].push_back(taken.count());
      }
    }
    std::vector<double> medians;
    for (const std::vector<double>& times : us) medians.push_back(builder::median(times));
    chosen_ = proposed[static_cast<std::size_t>(std::min_element(medians.begin(), medians.end()) - medians.begin())];
    refill_c();  // a call that computes nothing must not find another algorithm's product there
  }

  void forget() {
    for (Handle* layout : {&first_, &second_, &result_}) {
      if (*layout) blas_.destroy_layout(*layout);
      *layout = nullptr;
    }
    if (product_) blas_.destroy_product(product_);
    product_ = nullptr;
  }

  CublasltFunctions blas_;
  Algorithm chosen_{};
  Handle handle_ = nullptr;
  Handle preference_ = nullptr;
  Handle product_ = nullptr;
  Handle first_ = nullptr;
  Handle second_ = nullptr;
  Handle result_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<Peer> make_cublaslt() {
  CudaRuntime cuda;
  CublasltFunctions blas;
  return cuda.load() && blas.load() ? std::make_unique<Cublaslt>(cuda, blas) : nullptr;
}

}  // namespace clbake::tool
