// CLBlast through its C interface (clblast_c.h).
#include "bench/peers/blas.hpp"
#include "bench/peers/open_library.hpp"
#include "bench/peers/peers.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <complex>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

// T is float, double, cl_float2 or cl_double2.
template <typename T>
struct Routines {
  int (*gemm)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_mem,
              std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*, cl_event*) = nullptr;
  int (*batch)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, std::size_t,
               cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, std::size_t,
               std::size_t, cl_command_queue*, cl_event*) = nullptr;
};

struct ClblastLibrary {
  Routines<float> single;
  Routines<double> in_double;
  Routines<cl_float2> complex_single;
  Routines<cl_double2> complex_double;
  int (*override_parameters)(cl_device_id, const char*, int, std::size_t, const char**, const std::size_t*) = nullptr;
};

cl_float one_of(const Routines<float>& /*of*/) { return 1; }
cl_double one_of(const Routines<double>& /*of*/) { return 1; }
cl_float2 one_of(const Routines<cl_float2>& /*of*/) { return {{1, 0}}; }
cl_double2 one_of(const Routines<cl_double2>& /*of*/) { return {{1, 0}}; }

class Clblast : public Peer {
 public:
  Clblast(const ClblastLibrary& library, std::vector<ClblastParameters> tuned)
      : library_(library), tuned_(std::move(tuned)) {}
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
    problem_ = problem;
    switch (problem.precision) {
      case Precision::single_precision: return use<float>(library_.single);
      case Precision::complex_single: return use<std::complex<float>>(library_.complex_single);
      case Precision::complex_double: return use<std::complex<double>>(library_.complex_double);
      default: return use<double>(library_.in_double);
    }
  }
  Status run() override { return builder::finish_timed(session_, enqueue_); }
  Result<std::vector<float>> single_result() const override {
    std::vector<float> c(extents(problem_).c);
    const cl_int error =
        cl::CommandQueue(session_.queue(), true).enqueueReadBuffer(c_, CL_TRUE, 0, c.size() * sizeof(float), c.data());
    if (error == CL_SUCCESS) return c;
    return {Code::opencl, "clblast: clEnqueueReadBuffer: OpenCL error " + std::to_string(error)};
  }

 private:
  Status apply(const ClblastParameters& parameters) const {
    std::vector<const char*> names;
    std::vector<std::size_t> values;
    for (const auto& [name, value] : parameters.values) {
      names.push_back(name.c_str());
      values.push_back(value);
    }
    const cl::Device device = cl::CommandQueue(session_.queue(), true).getInfo<CL_QUEUE_DEVICE>();
    const int status = library_.override_parameters(device(), parameters.kernel.c_str(), parameters.precision,
                                                    names.size(), names.data(), values.data());
    if (status == 0) return {};
    return {Code::invalid_argument, "clblast: refuses the parameters for " + parameters.kernel + " in " +
                                        std::to_string(parameters.precision) + " bits: status " +
                                        std::to_string(status)};
  }

  template <typename Element, typename T>
  Status use(const Routines<T>& routines) {
    a_ = b_ = c_ = cl::Buffer();  // releases the earlier ones
    const Extents e = extents(problem_);
    cl_int error = CL_SUCCESS;
    const auto make = [&](std::size_t count) {
      std::vector<Element> data = random_elements<Element>(count);
      if (error != CL_SUCCESS) return cl::Buffer();
      return cl::Buffer(cl::Context(session_.context(), true), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                        count * sizeof(Element), data.data(), &error);
    };
    a_ = make(e.a);
    b_ = make(e.b);
    c_ = make(e.c);
    if (error != CL_SUCCESS) return {Code::out_of_memory, "clblast: no room for the matrices"};
    enqueue_ = [this, routines](cl_event* event) { return enqueue(routines, event); };
    return {};
  }

  template <typename T>
  Status enqueue(const Routines<T>& routines, cl_event* event) const {
    const Problem& p = problem_;
    cl_command_queue queue = session_.queue();
    const int trans_a = blas_operation(p.trans_a, p.conj_a), trans_b = blas_operation(p.trans_b, p.conj_b);
    const T one = one_of(routines), zero = {};
    const int status =
        p.batch == 1 ? routines.gemm(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, b_(), 0, p.ldb,
                                     zero, c_(), 0, p.ldc, &queue, event)
                     : routines.batch(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, p.a_stride, b_(),
                                      0, p.ldb, p.b_stride, zero, c_(), 0, p.ldc, p.c_stride, p.batch, &queue, event);
    return status == 0 ? Status() : Status(Code::opencl, "clblast: status " + std::to_string(status));
  }

  ClblastLibrary library_;
  std::vector<ClblastParameters> tuned_;
  builder::Session session_;
  Problem problem_;
  cl::Buffer a_, b_, c_;
  std::function<Status(cl_event*)> enqueue_;
};

template <typename T>
bool find(void* library, const std::string& letter, Routines<T>& routines) {
  return find_function(library, ("CLBlast" + letter + "gemm").c_str(), routines.gemm) &&
         find_function(library, ("CLBlast" + letter + "gemmStridedBatched").c_str(), routines.batch);
}

}  // namespace

Result<std::unique_ptr<Peer>> make_clblast(const std::vector<ClblastParameters>& tuned) {
  void* handle = open_library({"libclblast.so.1", "libclblast.so"});
  if (!handle) return {Code::not_found, "clblast is not installed"};
  ClblastLibrary library;
  const bool found = find(handle, "S", library.single) && find(handle, "D", library.in_double) &&
                     find(handle, "C", library.complex_single) && find(handle, "Z", library.complex_double);
  if (!found) return {Code::not_found, "clblast with its C interface is not installed"};
  if (!find_function(handle, "CLBlastOverrideParameters", library.override_parameters) && !tuned.empty()) {
    return {Code::not_found, "clblast with CLBlastOverrideParameters is not installed"};
  }
  return std::unique_ptr<Peer>(std::make_unique<Clblast>(library, tuned));
}

}  // namespace clbake::tool
