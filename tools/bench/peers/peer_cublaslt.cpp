// cuBLASLt, the interface of cuBLAS in which the caller chooses the algorithm: the fastest of those that it proposes.
#include "bench/bench.hpp"
#include "bench/peers/cuda_peer.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <array>
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

using SetAttribute = int (*)(void*, int, const void*, std::size_t);

class Cublaslt : public CudaPeer {
 public:
  const char* name() const override { return "cublaslt"; }

  void attach(const builder::Session* /*session*/) override {
    handle_ = make("no device, ", destroy_, create_);
    workspace_ = make("cudaMalloc: ", cuda_.free, cuda_.malloc, kWorkspaceBytes);
    preference_ = make("", destroy_preference_, create_preference_);
    set_attribute(set_preference_, preference_, kMaxWorkspaceBytes, kWorkspaceBytes);
  }

  // Also tries the proposed algorithms, and keeps the fastest.
  bool set(const Problem& problem) override {
    CudaPeer::set(problem);
    describe();
    std::vector<Algorithm> proposed(kAlgorithms);
    int count = 0;
    const int status = propose_(handle_.get(), product_.get(), first_.get(), second_.get(), result_.get(),
                                result_.get(), preference_.get(), kAlgorithms, proposed.data(), &count);
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
    return multiply_(handle_.get(), product_.get(), one(), b_.get(), first_.get(), a_.get(), second_.get(), zero(),
                     c_.get(), result_.get(), c_.get(), result_.get(), chosen_.algorithm.data(), workspace_.get(),
                     kWorkspaceBytes, nullptr);
  }

  template <typename Value>
  void set_attribute(SetAttribute setter, const Handle& of, int attribute, const Value& value) const {
    need_success("", setter(of.get(), attribute, &value, sizeof value));
  }

  // The operations, and the layouts of the three matrices: B and A first and second, C.
  void describe() {
    product_ = make("", destroy_product_, create_product_, sum_type(), scalar_type());
    set_attribute(set_product_, product_, kFirstOperation, first_operation());
    set_attribute(set_product_, product_, kSecondOperation, second_operation());
    first_ = layout_of(operand_b(problem_));
    second_ = layout_of(operand_a(problem_));
    result_ = layout_of(operand_c(problem_));
  }

  // Column-major: its columns are our rows.
  Handle layout_of(const Operand& operand) const {
    Handle layout = make("", destroy_layout_, create_layout_, type(), std::uint64_t{operand.cols},
                         std::uint64_t{operand.rows}, static_cast<std::int64_t>(operand.ld));
    set_attribute(set_layout_, layout, kBatchCount, static_cast<int>(operand.batch));
    set_attribute(set_layout_, layout, kBatchStride, static_cast<std::int64_t>(operand.stride));
    return layout;
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
        const double taken = time_us([this] { run(); });
        if (turn > 0) us[i].push_back(taken);
      }
    }
    std::vector<double> medians;
    for (const std::vector<double>& times : us) medians.push_back(builder::median(times));
    chosen_ = proposed[static_cast<std::size_t>(std::min_element(medians.begin(), medians.end()) - medians.begin())];
    refill_c();  // a call that computes nothing must not find another algorithm's product there
  }

  const SharedLibrary library_{{"libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}};
  int (*const create_)(void**) = library_["cublasLtCreate"];
  int (*const destroy_)(void*) = library_["cublasLtDestroy"];
  int (*const create_product_)(void**, int, int) = library_["cublasLtMatmulDescCreate"];
  int (*const destroy_product_)(void*) = library_["cublasLtMatmulDescDestroy"];
  const SetAttribute set_product_ = library_["cublasLtMatmulDescSetAttribute"];
  int (*const create_layout_)(void**, int, std::uint64_t, std::uint64_t,
                              std::int64_t) = library_["cublasLtMatrixLayoutCreate"];
  int (*const destroy_layout_)(void*) = library_["cublasLtMatrixLayoutDestroy"];
  const SetAttribute set_layout_ = library_["cublasLtMatrixLayoutSetAttribute"];
  int (*const create_preference_)(void**) = library_["cublasLtMatmulPreferenceCreate"];
  int (*const destroy_preference_)(void*) = library_["cublasLtMatmulPreferenceDestroy"];
  const SetAttribute set_preference_ = library_["cublasLtMatmulPreferenceSetAttribute"];
  int (*const propose_)(void*, void*, void*, void*, void*, void*, void*, int, Algorithm*,
                        int*) = library_["cublasLtMatmulAlgoGetHeuristic"];
  int (*const multiply_)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                         void*, void*, void*, const void*, void*, std::size_t, void*) = library_["cublasLtMatmul"];

  Algorithm chosen_{};
  Handle handle_, workspace_, preference_, product_, first_, second_, result_;
};

}  // namespace

std::unique_ptr<Peer> make_cublaslt() { return std::make_unique<Cublaslt>(); }

}  // namespace clbake::tool
