// The libraries on CUDA: cuBLAS, and cuBLASLt, in which the caller chooses the algorithm: the fastest of those that it
// proposes. They and CUDA's runtime library are opened when asked for.
#include "bench/bench.hpp"
#include "bench/peers/peers.hpp"
#include "bench/peers/shared_library.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace clbake::tool {
namespace {

// cudaMemcpyKind, from driver_types.h.
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

struct CudaRuntime {
  SharedLibrary library{{"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"}};
  int (*malloc)(void**, std::size_t) = library["cudaMalloc"];
  int (*free)(void*) = library["cudaFree"];
  int (*memcpy)(void*, const void*, std::size_t, int) = library["cudaMemcpy"];
  int (*synchronize)() = library["cudaDeviceSynchronize"];
};

// Matrices in the device's memory. The libraries are column-major: they compute the same problem with A and B, and m
// and n, exchanged.
class CudaPeer : public Peer {
 public:
  bool has(Precision precision) const override { return !is_mixed(precision); }

  bool set(const Problem& problem) override {
    problem_ = problem;
    for (Handle* matrix : {&a_, &b_, &c_}) matrix->reset();  // before there are others
    const Extents e = extents(problem);
    const Precision p = problem.precision;
    for (const auto& [matrix, count, element] :
         {std::tuple(&a_, e.a, element_a(p)), {&b_, e.b, element_b(p)}, {&c_, e.c, element_c(p)}}) {
      *matrix = make("cudaMalloc: ", cuda_.free, cuda_.malloc, count * bytes_of(element));
      fill(matrix->get(), element, count);
    }
    return true;
  }

  void run() override {
    need_success("", start());
    need_success("cudaDeviceSynchronize: ", cuda_.synchronize());
  }

  std::vector<unsigned char> result() const override {
    std::vector<unsigned char> c(extents(problem_).c * bytes_of(element_c(problem_.precision)));
    need_success("cudaMemcpy: ", cuda_.memcpy(c.data(), c_.get(), c.size(), kToHost));
    return c;
  }

 protected:
  // Starts the product on CUDA's default stream. Returns the library's status, 0 for success.
  virtual int start() = 0;

  // Throws Failure, which names the peer and `what`, for any status but 0.
  void need_success(const char* what, int status) const {
    if (status != 0) throw Failure(std::string(name()) + ": " + what + "status " + std::to_string(status));
  }

  // Throws Failure, which names the peer and `what`, when `create` fails.
  template <typename... Parameters, typename... Arguments>
  Handle make(const char* what, int (*destroy)(void*), int (*create)(void**, Parameters...),
              Arguments... arguments) const {
    void* handle = nullptr;
    need_success(what, create(&handle, arguments...));
    return Handle(handle, {destroy});
  }

  // Gives C the numbers again that it had before the first product.
  void refill_c() { fill(c_.get(), element_c(problem_.precision), extents(problem_).c); }

  // The problem in the numbers of library_types.h and cublas_api.h: the types of the matrices, of alpha and beta, and
  // of the sums (cublasComputeType_t), which are in single precision for 16 bits, as clbake's.
  static int type(Element element) {
    switch (element) {
      case Element::half: return 2;            // CUDA_R_16F
      case Element::bfloat16: return 14;       // CUDA_R_16BF
      case Element::single: return 0;          // CUDA_R_32F
      case Element::real_double: return 1;     // CUDA_R_64F
      case Element::complex_single: return 4;  // CUDA_C_32F
      case Element::complex_double: return 5;  // CUDA_C_64F
      case Element::int8: return 3;            // CUDA_R_8I
      case Element::uint8: return 8;           // CUDA_R_8U
      case Element::int32: return 10;          // CUDA_R_32I
      case Element::e4m3: return 28;           // CUDA_R_8F_E4M3
      case Element::e5m2: return 29;           // CUDA_R_8F_E5M2
      case Element::q4:
      case Element::q8: break;  // in no library
    }
    return -1;
  }
  int type() const { return type(element_a(problem_.precision)); }
  int scalar_type() const {
    const Element c = element_c(problem_.precision);
    return bytes_of(c) <= 2 ? 0 : type(c);
  }
  int sum_type() const { return sums_integers(problem_.precision) ? 72 : in_double() ? 70 : 68; }
  int first_operation() const { return operation(problem_.trans_b, problem_.conj_b); }
  int second_operation() const { return operation(problem_.trans_a, problem_.conj_a); }
  // 1 and 0 as scalar_type().
  const void* one() const {
    return in_double()                             ? static_cast<const void*>(double_one_)
           : scalar_type() == type(Element::int32) ? integer_one_
                                                   : static_cast<const void*>(single_one_);
  }
  const void* zero() const { return zero_; }

  const CudaRuntime cuda_{};
  Problem problem_;
  Handle a_, b_, c_;

 private:
  static int operation(bool transposed, bool conjugated) { return !transposed ? 0 : conjugated ? 2 : 1; }
  bool in_double() const { return real_precision(problem_.precision) == Precision::double_precision; }

  void fill(void* matrix, Element element, std::size_t count) const {
    const std::vector<unsigned char> bytes = random_matrix(element, count);
    need_success("cudaMemcpy: ", cuda_.memcpy(matrix, bytes.data(), bytes.size(), kToDevice));
  }

  alignas(16) const std::int32_t integer_one_[2] = {1, 0};
  alignas(16) const float single_one_[2] = {1, 0};
  alignas(16) const double double_one_[2] = {1, 0};
  alignas(16) const double zero_[2] = {0, 0};
};

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

// From cublasLt.h: cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t and
// cublasLtMatmulPreferenceAttributes_t.
constexpr int kFirstOperation = 3;     // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int kSecondOperation = 4;    // CUBLASLT_MATMUL_DESC_TRANSB
constexpr int kFastSums = 25;          // CUBLASLT_MATMUL_DESC_FAST_ACCUM
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
  explicit Cublaslt(bool fast) : fast_(fast) {}

  const char* name() const override { return fast_ ? "cublaslt-fast" : "cublaslt"; }
  bool has(Precision precision) const override { return !has_weights(precision); }

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
    if (status != kNotSupported && !is_mixed(problem.precision)) need_success("", status);  // others are invalid
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
    if (fast_) set_attribute(set_product_, product_, kFastSums, std::int8_t{1});
    const Precision p = problem_.precision;
    first_ = layout_of(operand_b(problem_), element_b(p));
    second_ = layout_of(operand_a(problem_), element_a(p));
    result_ = layout_of(operand_c(problem_), element_c(p));
  }

  // Column-major: its columns are our rows.
  Handle layout_of(const Operand& operand, Element element) const {
    Handle layout = make("", destroy_layout_, create_layout_, type(element), std::uint64_t{operand.cols},
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

  const bool fast_;
  Algorithm chosen_{};
  Handle handle_, workspace_, preference_, product_, first_, second_, result_;
};

}  // namespace

std::unique_ptr<Peer> make_cublas() { return std::make_unique<Cublas>(); }

std::unique_ptr<Peer> make_cublaslt() { return std::make_unique<Cublaslt>(false); }
std::unique_ptr<Peer> make_cublaslt_fast() { return std::make_unique<Cublaslt>(true); }

}  // namespace clbake::tool
