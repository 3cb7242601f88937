#include "peers.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <random>
#include <vector>

namespace clbake::tool {
namespace {

void* open_library(const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

template <typename T>
std::vector<T> random_elements(std::size_t count) {
  std::mt19937 random(1);
  std::vector<T> data(count);
  for (T& x : data) x = static_cast<T>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  return data;
}

// The C interface of BLAS: 101 = row-major, 111 = not transposed, 112 = transposed.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);

template <typename T>
struct HostMatrices {
  std::vector<T> a, b, c;
};

class OpenBlas : public Peer {
 public:
  OpenBlas(Sgemm sgemm, Dgemm dgemm) : sgemm_(sgemm), dgemm_(dgemm) {}
  const char* name() const override { return "openblas"; }
  Status set(const Problem& problem) override {
    problem_ = problem;
    single_ = {};
    double_ = {};
    return problem.precision == Precision::single_precision ? fill(single_) : fill(double_);
  }
  Status run() override {
    if (problem_.precision == Precision::single_precision) {
      multiply(sgemm_, single_);
    } else {
      multiply(dgemm_, double_);
    }
    return {};
  }

 private:
  template <typename T>
  Status fill(HostMatrices<T>& host) const {
    const Extents e = extents(problem_);
    host = {random_elements<T>(e.a), random_elements<T>(e.b), std::vector<T>(e.c)};
    return {};
  }
  template <typename Function, typename T>
  void multiply(Function gemm, HostMatrices<T>& h) const {
    const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
    const Problem& p = problem_;
    gemm(101, p.trans_a ? 112 : 111, p.trans_b ? 112 : 111, as_int(p.m), as_int(p.n), as_int(p.k), T{1}, h.a.data(),
         as_int(p.lda), h.b.data(), as_int(p.ldb), T{0}, h.c.data(), as_int(p.ldc));
  }

  Sgemm sgemm_;
  Dgemm dgemm_;
  Problem problem_;
  HostMatrices<float> single_;
  HostMatrices<double> double_;
};

// CLBlast's C interface (clblast_c.h): the same constants as above.
template <typename T>
using ClblastGemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                            cl_mem, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                            cl_event*);

class Clblast : public Peer {
 public:
  Clblast(ClblastGemm<float> sgemm, ClblastGemm<double> dgemm, builder::Session session)
      : sgemm_(sgemm), dgemm_(dgemm), session_(std::move(session)) {}
  ~Clblast() override { release(); }
  Clblast(const Clblast&) = delete;
  Clblast& operator=(const Clblast&) = delete;
  const char* name() const override { return "clblast"; }
  Status set(const Problem& problem) override {
    release();
    problem_ = problem;
    return problem.precision == Precision::single_precision ? fill<float>() : fill<double>();
  }
  Status run() override {
    return problem_.precision == Precision::single_precision ? multiply<float>(sgemm_) : multiply<double>(dgemm_);
  }

 private:
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
  Status multiply(ClblastGemm<T> gemm) {
    const Problem& p = problem_;
    cl_command_queue queue = session_.queue();
    const int status = gemm(101, p.trans_a ? 112 : 111, p.trans_b ? 112 : 111, p.m, p.n, p.k, T{1}, a_, 0, p.lda, b_, 0,
                            p.ldb, T{0}, c_, 0, p.ldc, &queue, nullptr);
    if (status != 0) return {Code::opencl, "clblast: status " + std::to_string(status)};
    clFinish(queue);
    return {};
  }
  void release() {
    for (cl_mem* buffer : {&a_, &b_, &c_}) {
      if (*buffer) clReleaseMemObject(*buffer);
      *buffer = nullptr;
    }
  }

  ClblastGemm<float> sgemm_;
  ClblastGemm<double> dgemm_;
  builder::Session session_;
  Problem problem_;
  cl_mem a_ = nullptr;
  cl_mem b_ = nullptr;
  cl_mem c_ = nullptr;
};

Status not_installed(const char* name) { return {Code::not_found, std::string(name) + " is not installed"}; }

Result<std::unique_ptr<Peer>> make_openblas(const builder::Device& device) {
  // Read by the library when it is loaded. Some packaged versions take newer AVX-512 CPUs for older ones.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  }
  setenv("OPENBLAS_NUM_THREADS", std::to_string(device.compute_units).c_str(), 0);
  void* library = open_library({"libopenblas.so.0", "libopenblas.so"});
  if (!library) return not_installed("openblas");
  const auto sgemm = symbol<Sgemm>(library, "cblas_sgemm");
  const auto dgemm = symbol<Dgemm>(library, "cblas_dgemm");
  if (!sgemm || !dgemm) return not_installed("openblas with cblas");
  return std::unique_ptr<Peer>(std::make_unique<OpenBlas>(sgemm, dgemm));
}

Result<std::unique_ptr<Peer>> make_clblast(const builder::Session& session) {
  void* library = open_library({"libclblast.so.1", "libclblast.so"});
  if (!library) return not_installed("clblast");
  const auto sgemm = symbol<ClblastGemm<float>>(library, "CLBlastSgemm");
  const auto dgemm = symbol<ClblastGemm<double>>(library, "CLBlastDgemm");
  if (!sgemm || !dgemm) return not_installed("clblast with its C interface");
  return std::unique_ptr<Peer>(std::make_unique<Clblast>(sgemm, dgemm, session));
}

}  // namespace

Result<std::unique_ptr<Peer>> make_peer(const std::string& name, const builder::Device& device,
                                        const builder::Session& session) {
  if (name == "openblas") return make_openblas(device);
  if (name == "clblast") return make_clblast(session);
  if (name == "cublas") return make_cublas();
  if (name == "launch") return make_launch(session);
  return {Code::invalid_argument, "'" + name + "' is none of openblas, clblast, cublas and launch"};
}

}  // namespace clbake::tool
