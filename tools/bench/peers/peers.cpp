#include "bench/peers/peers.hpp"

#include "bench/peers/open_library.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <cstdlib>
#include <random>

namespace clbake::tool {
namespace {

// The C interface of BLAS: 101 = row-major, 111 = not transposed, 112 = transposed, 113 = conjugate transposed.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);
using ComplexGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                             void*, int);

int operation(bool transposed, bool conjugated) { return !transposed ? 111 : conjugated ? 113 : 112; }

template <typename T>
struct HostMatrices {
  std::vector<T> a, b, c;
};

struct CblasRoutines {
  Sgemm sgemm;
  Dgemm dgemm;
  ComplexGemm cgemm;
  ComplexGemm zgemm;
};

class OpenBlas : public Peer {
 public:
  explicit OpenBlas(const CblasRoutines& cblas) : cblas_(cblas) {}
  const char* name() const override { return "openblas"; }
  Status attach(const builder::Session* /*session*/) override { return {}; }
  Status set(const Problem& problem) override {
    problem_ = problem;
    single_ = {};
    double_ = {};
    complex_single_ = {};
    complex_double_ = {};
    switch (problem.precision) {
      case Precision::single_precision: return fill(single_);
      case Precision::complex_single: return fill(complex_single_);
      case Precision::complex_double: return fill(complex_double_);
      default: return fill(double_);
    }
  }
  Status run() override {
    switch (problem_.precision) {
      case Precision::single_precision: multiply(cblas_.sgemm, single_, 1.0F, 0.0F); break;
      case Precision::complex_single: multiply_complex(cblas_.cgemm, complex_single_); break;
      case Precision::complex_double: multiply_complex(cblas_.zgemm, complex_double_); break;
      default: multiply(cblas_.dgemm, double_, 1.0, 0.0);
    }
    return {};
  }
  Result<std::vector<float>> single_result() const override { return single_.c; }

 private:
  template <typename T>
  Status fill(HostMatrices<T>& host) const {
    const Extents e = extents(problem_);
    host = {random_elements<T>(e.a), random_elements<T>(e.b), std::vector<T>(e.c)};
    return {};
  }
  template <typename Function, typename T>
  void multiply_complex(Function gemm, HostMatrices<T>& h) const {
    const T one{1};
    const T zero{0};
    multiply(gemm, h, static_cast<const void*>(&one), static_cast<const void*>(&zero));
  }
  template <typename Function, typename T, typename Scalar>
  void multiply(Function gemm, HostMatrices<T>& h, Scalar one, Scalar zero) const {
    const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
    const Problem& p = problem_;
    for (std::size_t i = 0; i < p.batch; ++i) {  // not every version has cblas_sgemm_batch_strided
      gemm(101, operation(p.trans_a, p.conj_a), operation(p.trans_b, p.conj_b), as_int(p.m), as_int(p.n), as_int(p.k),
           one, h.a.data() + i * p.a_stride, as_int(p.lda), h.b.data() + i * p.b_stride, as_int(p.ldb), zero,
           h.c.data() + i * p.c_stride, as_int(p.ldc));
    }
  }

  CblasRoutines cblas_;
  Problem problem_;
  HostMatrices<float> single_;
  HostMatrices<double> double_;
  HostMatrices<std::complex<float>> complex_single_;
  HostMatrices<std::complex<double>> complex_double_;
};

// CLBlast's C interface (clblast_c.h): the same constants as above.
template <typename T>
using ClblastGemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                            cl_mem, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                            cl_event*);

template <typename T>
using ClblastBatch = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                             std::size_t, cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t,
                             std::size_t, std::size_t, std::size_t, cl_command_queue*, cl_event*);

template <typename T>
struct ClblastRoutines {
  using Element = T;
  ClblastGemm<T> gemm = nullptr;
  ClblastBatch<T> batch = nullptr;
};

using ClblastOverride = int (*)(cl_device_id, const char*, int, std::size_t, const char**, const std::size_t*);

struct AllClblast {
  ClblastRoutines<float> single;
  ClblastRoutines<double> in_double;
  ClblastRoutines<cl_float2> complex_single;
  ClblastRoutines<cl_double2> complex_double;
};

class Clblast : public Peer {
 public:
  Clblast(const AllClblast& routines, ClblastOverride override_parameters, std::vector<ClblastParameters> tuned)
      : routines_(routines), override_(override_parameters), tuned_(std::move(tuned)) {}
  ~Clblast() override { release(); }
  Clblast(const Clblast&) = delete;
  Clblast& operator=(const Clblast&) = delete;
  const char* name() const override { return "clblast"; }
  bool uses_opencl() const override { return true; }
  Status attach(const builder::Session* session) override {
    session_ = *session;
    for (const ClblastParameters& parameters : tuned_) {
      const Status applied = apply(parameters);
      if (!applied) return applied;
    }
    return {};
  }
  Status set(const Problem& problem) override {
    release();
    problem_ = problem;
    switch (problem.precision) {
      case Precision::single_precision: return fill<float>();
      case Precision::complex_single: return fill<std::complex<float>>();
      case Precision::complex_double: return fill<std::complex<double>>();
      default: return fill<double>();
    }
  }
  Status run() override {
    switch (problem_.precision) {
      case Precision::single_precision: return multiply(routines_.single, 1.0F, 0.0F);
      case Precision::complex_single: return multiply(routines_.complex_single, {{1, 0}}, {{0, 0}});
      case Precision::complex_double: return multiply(routines_.complex_double, {{1, 0}}, {{0, 0}});
      default: return multiply(routines_.in_double, 1.0, 0.0);
    }
  }
  Result<std::vector<float>> single_result() const override {
    std::vector<float> c(extents(problem_).c);
    const cl_int error =
        clEnqueueReadBuffer(session_.queue(), c_, CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr, nullptr);
    if (error != CL_SUCCESS)
      return {Code::opencl, "clblast: clEnqueueReadBuffer: OpenCL error " + std::to_string(error)};
    return c;
  }

 private:
  Status apply(const ClblastParameters& parameters) const {
    std::vector<const char*> names;
    std::vector<std::size_t> values;
    for (const auto& [name, value] : parameters.values) {
      names.push_back(name.c_str());
      values.push_back(value);
    }
    cl_device_id device = nullptr;
    clGetCommandQueueInfo(session_.queue(), CL_QUEUE_DEVICE, sizeof(device), &device, nullptr);
    const int status =
        override_(device, parameters.kernel.c_str(), parameters.precision, names.size(), names.data(), values.data());
    if (status == 0) return {};
    return {Code::invalid_argument, "clblast: refuses the parameters for " + parameters.kernel + " in " +
                                        std::to_string(parameters.precision) + " bits: status " +
                                        std::to_string(status)};
  }
  template <typename T>
  cl_mem make(std::size_t count) {
    std::vector<T> data = random_elements<T>(count);
    return clCreateBuffer(session_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(T), data.data(),
                          nullptr);
  }
  template <typename T>
  Status fill() {
    const Extents e = extents(problem_);
    a_ = make<T>(e.a);
    b_ = make<T>(e.b);
    c_ = make<T>(e.c);
    if (a_ && b_ && c_) return {};
    return {Code::out_of_memory, "clblast: no room for the matrices"};
  }
  template <typename T>
  Status multiply(const ClblastRoutines<T>& routines, T one, T zero) {
    const Problem& p = problem_;
    cl_command_queue queue = session_.queue();
    const int trans_a = operation(p.trans_a, p.conj_a);
    const int trans_b = operation(p.trans_b, p.conj_b);
    return builder::finish_timed(session_, [&](cl_event* event) -> Status {
      const int status =
          p.batch == 1 ? routines.gemm(101, trans_a, trans_b, p.m, p.n, p.k, one, a_, 0, p.lda, b_, 0, p.ldb, zero, c_,
                                       0, p.ldc, &queue, event)
                       : routines.batch(101, trans_a, trans_b, p.m, p.n, p.k, one, a_, 0, p.lda, p.a_stride, b_, 0,
                                        p.ldb, p.b_stride, zero, c_, 0, p.ldc, p.c_stride, p.batch, &queue, event);
      return status == 0 ? Status() : Status(Code::opencl, "clblast: status " + std::to_string(status));
    });
  }
  void release() {
    for (cl_mem* buffer : {&a_, &b_, &c_}) {
      if (*buffer) clReleaseMemObject(*buffer);
      *buffer = nullptr;
    }
  }

  AllClblast routines_;
  ClblastOverride override_;
  std::vector<ClblastParameters> tuned_;
  builder::Session session_;
  Problem problem_;
  cl_mem a_ = nullptr;
  cl_mem b_ = nullptr;
  cl_mem c_ = nullptr;
};

Status not_installed(const char* name) { return {Code::not_found, std::string(name) + " is not installed"}; }

Result<std::unique_ptr<Peer>> make_openblas(std::uint32_t threads) {
  // Read by the library when it is loaded. Some packaged versions take newer AVX-512 CPUs for older ones.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  }
  setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 0);
  void* library = open_library({"libopenblas.so.0", "libopenblas.so"});
  if (!library) return not_installed("openblas");
  const CblasRoutines cblas{function_of<Sgemm>(library, "cblas_sgemm"), function_of<Dgemm>(library, "cblas_dgemm"),
                            function_of<ComplexGemm>(library, "cblas_cgemm"),
                            function_of<ComplexGemm>(library, "cblas_zgemm")};
  if (!cblas.sgemm || !cblas.dgemm || !cblas.cgemm || !cblas.zgemm) return not_installed("openblas with cblas");
  return std::unique_ptr<Peer>(std::make_unique<OpenBlas>(cblas));
}

Result<std::unique_ptr<Peer>> make_clblast(const std::vector<ClblastParameters>& tuned) {
  void* library = open_library({"libclblast.so.1", "libclblast.so"});
  if (!library) return not_installed("clblast");
  AllClblast all;
  const auto find = [&](auto& routines, const std::string& letter) {
    using T = typename std::decay_t<decltype(routines)>::Element;
    routines.gemm = function_of<ClblastGemm<T>>(library, ("CLBlast" + letter + "gemm").c_str());
    routines.batch = function_of<ClblastBatch<T>>(library, ("CLBlast" + letter + "gemmStridedBatched").c_str());
    return routines.gemm && routines.batch;
  };
  const bool found = find(all.single, "S") && find(all.in_double, "D") && find(all.complex_single, "C") &&
                     find(all.complex_double, "Z");
  const auto override_parameters = function_of<ClblastOverride>(library, "CLBlastOverrideParameters");
  if (!found) return not_installed("clblast with its C interface");
  if (!tuned.empty() && !override_parameters) return not_installed("clblast with CLBlastOverrideParameters");
  return std::unique_ptr<Peer>(std::make_unique<Clblast>(all, override_parameters, tuned));
}

}  // namespace

Result<std::unique_ptr<Peer>> make_peer(const std::string& name, std::uint32_t threads,
                                        const std::vector<ClblastParameters>& tuned) {
  if (name == "openblas") return make_openblas(threads);
  if (name == "clblast") return make_clblast(tuned);
  if (name == "cublas") return make_cublas();
  if (name == "cublaslt") return make_cublaslt();
  if (name == "launch") return make_launch();
  return {Code::invalid_argument, "'" + name + "' is none of openblas, clblast, cublas, cublaslt and launch"};
}

template <typename T>
std::vector<T> random_elements(std::size_t count) {
  std::mt19937 random(1);
  const auto draw = [&] { return static_cast<double>(random()) / 2147483648.0 - 1.0; };
  std::vector<T> data(count);
  for (T& x : data) {
    if constexpr (builder::is_complex_type<T>) {
      x.real(static_cast<typename T::value_type>(draw()));
      x.imag(static_cast<typename T::value_type>(draw()));
    } else {
      x = static_cast<T>(draw());
    }
  }
  return data;
}

template std::vector<float> random_elements(std::size_t count);
template std::vector<double> random_elements(std::size_t count);
template std::vector<std::complex<float>> random_elements(std::size_t count);
template std::vector<std::complex<double>> random_elements(std::size_t count);

Status check_single(const Peer& peer, const Problem& problem) {
  const Result<std::vector<float>> c = peer.single_result();
  if (!c) return c.status();
  const Extents e = extents(problem);
  const std::vector<float> a = random_elements<float>(e.a);
  const std::vector<float> b = random_elements<float>(e.b);
  const std::size_t apart = problem.m * problem.n * problem.k / builder::kPatientCheck + 1;
  std::vector<std::size_t> rows = {problem.m - 1};
  for (std::size_t row = 0; row + 1 < problem.m; row += apart) rows.push_back(row);
  const builder::HostOperands<float> operands{problem, 1.0F, 0.0F, a, 0, b, 0, *c, 0};
  if (builder::max_error(operands, *c, rows) <= builder::tolerance(problem.precision, problem.k)) return {};
  return {Code::wrong_result, std::string(peer.name()) + ": wrong result"};
}

}  // namespace clbake::tool
