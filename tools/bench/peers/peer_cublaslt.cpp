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
};

bool load(CublasltFunctions& blas) {
  void* library = open_library({"libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
  const auto find = [&](const char* name, auto& function) { return find_function(library, name, function); };
  return find("cublasLtCreate", blas.create) && find("cublasLtDestroy", blas.destroy) &&
         find("cublasLtMatmulDescCreate", blas.create_product) &&
         find("cublasLtMatmulDescDestroy", blas.destroy_product) &&
         find("cublasLtMatmulDescSetAttribute", blas.set_product) &&
         find("cublasLtMatrixLayoutCreate", blas.create_layout) &&
         find("cublasLtMatrixLayoutDestroy", blas.destroy_layout) &&
         find("cublasLtMatrixLayoutSetAttribute", blas.set_layout) &&
         find("cublasLtMatmulPreferenceCreate", blas.create_preference) &&
         find("cublasLtMatmulPreferenceDestroy", blas.destroy_preference) &&
         find("cublasLtMatmulPreferenceSetAttribute", blas.set_preference) &&
         find("cublasLtMatmulAlgoGetHeuristic", blas.propose) && find("cublasLtMatmul", blas.multiply);
}

class Cublaslt : public CudaPeer {
 public:
  Cublaslt(const CudaRuntime& cuda, const CublasltFunctions& blas) : CudaPeer(cuda), blas_(blas) {}
  ~Cublaslt() override {
    forget();
    if (preference_) blas_.destroy_preference(preference_);
    if (workspace_) cuda().free(workspace_);
    if (handle_) blas_.destroy(handle_);
  }
  Cublaslt(const Cublaslt&) = delete;
  Cublaslt& operator=(const Cublaslt&) = delete;
  const char* name() const override { return "cublaslt"; }

  Status attach(const builder::Session* /*session*/) override {
    int status = blas_.create(&handle_);
    if (status != 0) return {Code::no_device, "cublaslt: no device, status " + std::to_string(status)};
    if (cuda().malloc(&workspace_, kWorkspaceBytes) != 0)
      return {Code::out_of_memory, "cublaslt: no room for its work"};
    status = blas_.create_preference(&preference_);
    if (status == 0) {
      status = blas_.set_preference(preference_, kMaxWorkspaceBytes, &kWorkspaceBytes, sizeof kWorkspaceBytes);
    }
    return status == 0 ? Status() : failure(status);
  }

  // Also tries the proposed algorithms, and keeps the fastest.
  Status set(const Problem& problem) override {
    forget();
    const Status filled = CudaPeer::set(problem);
    if (!filled) return filled;
    int status = describe();
    std::vector<Algorithm> proposed(kAlgorithms);
    int count = 0;
    if (status == 0) {
      status = blas_.propose(handle_, product_, first_, second_, result_, result_, preference_, kAlgorithms,
                             proposed.data(), &count);
    }
    if (status != 0 && status != kNotSupported) return failure(status);
    proposed.resize(static_cast<std::size_t>(count));
    status = drop_unsupported(proposed);
    if (status != 0) return failure(status);
    if (proposed.empty()) return {Code::not_found, "no proposed algorithm computes this product"};
    return choose(proposed);
  }

 private:
  int start() override {
    const void* one = &one_;
    const void* zero = &zero_;
    return blas_.multiply(handle_, product_, one, b(), first_, a(), second_, zero, c(), result_, c(), result_,
                          chosen_.algorithm.data(), workspace_, kWorkspaceBytes, nullptr);
  }

  // The operations, and the layouts of the three matrices: B and A first and second, C.
  int describe() {
    const Problem& p = problem();
    const int type = cuda_type(p.precision);
    const bool in_double = p.precision == Precision::double_precision || p.precision == Precision::complex_double;
    const int scalars =
        is_complex(p.precision) ? type : cuda_type(in_double ? p.precision : Precision::single_precision);
    set_scalars(in_double);
    const int first_operation = cuda_operation(p.trans_b, p.conj_b);
    const int second_operation = cuda_operation(p.trans_a, p.conj_a);
    int status = blas_.create_product(&product_, in_double ? kSumsInDouble : kSumsInSingle, scalars);
    if (status == 0) status = blas_.set_product(product_, kFirstOperation, &first_operation, sizeof first_operation);
    if (status == 0) status = blas_.set_product(product_, kSecondOperation, &second_operation, sizeof second_operation);
    if (status == 0) status = lay_out(first_, operand_b(p));
    if (status == 0) status = lay_out(second_, operand_a(p));
    if (status == 0) status = lay_out(result_, operand_c(p));
    return status;
  }

  // Column-major: its columns are our rows.
  int lay_out(Handle& layout, const Operand& operand) const {
    const auto count = static_cast<int>(operand.batch);
    const auto apart = static_cast<std::int64_t>(operand.stride);
    int status = blas_.create_layout(&layout, cuda_type(problem().precision), operand.cols, operand.rows,
                                     static_cast<std::int64_t>(operand.ld));
    if (status == 0) status = blas_.set_layout(layout, kBatchCount, &count, sizeof count);
    if (status == 0) status = blas_.set_layout(layout, kBatchStride, &apart, sizeof apart);
    return status;
  }

  // As the type of the scalars: a complex number's second part stays zero.
  void set_scalars(bool in_double) {
    one_ = {};
    const double one = 1;
    const float single_one = 1;
    const void* from = in_double ? static_cast<const void*>(&one) : &single_one;
    std::copy_n(static_cast<const unsigned char*>(from), in_double ? sizeof one : sizeof single_one, one_.begin());
  }

  // Drops algorithms that do not support the product. Returns the status of another failure, 0 if there is none.
  int drop_unsupported(std::vector<Algorithm>& proposed) {
    std::vector<Algorithm> supported;
    for (const Algorithm& algorithm : proposed) {
      if (algorithm.status != 0 || algorithm.workspace_bytes > kWorkspaceBytes) continue;
      chosen_ = algorithm;
      const int status = start();
      if (status == kNotSupported) continue;
      if (status != 0) return status;
      supported.push_back(algorithm);
    }
    proposed = std::move(supported);
    return 0;
  }

  // Keeps the algorithm with the least median of some calls in turns.
  Status choose(const std::vector<Algorithm>& proposed) {
    std::vector<std::vector<double>> us(proposed.size());
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < proposed.size(); ++i) {
        chosen_ = proposed[i];
        const auto begin = std::chrono::steady_clock::now();
        const Status status = run();
        if (!status) return status;
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
        if (turn > 0) us[i].push_back(taken.count());
      }
    }
    std::vector<double> medians;
    for (const std::vector<double>& times : us) medians.push_back(builder::median(times));
    chosen_ = proposed[static_cast<std::size_t>(std::min_element(medians.begin(), medians.end()) - medians.begin())];
    return refill_c();  // a call that computes nothing must not find another algorithm's product there
  }

  static Status failure(int status) { return {Code::wrong_result, "cublaslt: status " + std::to_string(status)}; }

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
  alignas(16) std::array<unsigned char, 16> one_{};
  alignas(16) std::array<unsigned char, 16> zero_{};
  Handle handle_ = nullptr;
  Handle preference_ = nullptr;
  Handle product_ = nullptr;
  Handle first_ = nullptr;
  Handle second_ = nullptr;
  Handle result_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Peer>> make_cublaslt() {
  CudaRuntime cuda;
  CublasltFunctions blas;
  if (!load(cuda) || !load(blas)) return {Code::not_found, "cublaslt is not installed"};
  return std::unique_ptr<Peer>(std::make_unique<Cublaslt>(cuda, blas));
}

}  // namespace clbake::tool
