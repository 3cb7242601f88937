// The peers on OpenCL: CLBlast, through its C interface (clblast_c.h), and the alternative to an epilogue, a kernel of
// its own.
#include "bench/peers/peers.hpp"
#include "bench/peers/shared_library.hpp"

#include <clbake/builder/gemm_run.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

// A queue, and matrices in buffers.
class OpenClPeer : public Peer {
 public:
  bool uses_opencl() const override { return true; }
  void attach(const builder::Session* session) override { session_ = *session; }

  bool set(const Problem& problem) override {
    problem_ = problem;
    a_ = b_ = c_ = cl::Buffer();  // releases the earlier ones
    const Extents e = extents(problem);
    a_ = random_buffer(e.a);
    b_ = random_buffer(e.b);
    c_ = random_buffer(e.c);
    return true;
  }

  void run() override {
    need(builder::finish_timed(session_, [this](cl_event* event) {
      enqueue(event);
      return Status();
    }));
  }

  std::vector<unsigned char> result() const override {
    std::vector<unsigned char> c(extents(problem_).c * bytes_of(element_c(problem_.precision)));
    need_success("clEnqueueReadBuffer",
                 clEnqueueReadBuffer(queue(), c_(), CL_TRUE, 0, c.size(), c.data(), 0, nullptr, nullptr));
    return c;
  }

 protected:
  // Enqueues the product; `event`, if not null, takes the event of its end. Throws Failure.
  virtual void enqueue(cl_event* event) = 0;

  // Throws Failure, which names the peer and `call`, for anything but success.
  void need_success(const char* call, cl_int error) const {
    if (error != CL_SUCCESS)
      throw Failure(std::string(name()) + ": " + call + ": OpenCL error " + std::to_string(error));
  }

  cl::Context context() const { return cl::Context(session_.context(), true); }
  cl_command_queue queue() const { return session_.queue(); }

  // A buffer of the problem's precision.
  cl::Buffer random_buffer(std::size_t count) const {
    std::vector<unsigned char> bytes = random_matrix(element_a(problem_.precision), count);
    cl_int error = CL_SUCCESS;
    const cl::Buffer buffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &error);
    need_success("clCreateBuffer", error);
    return buffer;
  }

  Problem problem_;
  cl::Buffer a_, b_, c_;

 private:
  builder::Session session_;
};

// T is float, double, cl_float2 or cl_double2.
template <typename T>
struct Routines {
  using Gemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                       cl_mem, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                       cl_event*);
  using Batch = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, std::size_t, cl_command_queue*, cl_event*);

  Routines(const SharedLibrary& library, const std::string& letter)
      : gemm(library["CLBlast" + letter + "gemm"]), batch(library["CLBlast" + letter + "gemmStridedBatched"]) {}

  Gemm gemm;
  Batch batch;
};

// The best parameters of one of CLBlast's kernels for GEMM.
class Clblast : public OpenClPeer {
 public:
  const char* name() const override { return "clblast"; }

 private:
  void enqueue(cl_event* event) override {
    switch (problem_.precision) {
      case Precision::single_precision: return call<float>(single_, 1, event);
      case Precision::complex_single: return call<cl_float2>(complex_single_, {{1, 0}}, event);
      case Precision::complex_double: return call<cl_double2>(complex_double_, {{1, 0}}, event);
      default: return call<double>(double_, 1, event);
    }
  }

  template <typename T>
  void call(const Routines<T>& routines, const T& one, cl_event* event) const {
    const Problem& p = problem_;
    cl_command_queue to = queue();
    const int trans_a = blas_operation(p.trans_a, p.conj_a), trans_b = blas_operation(p.trans_b, p.conj_b);
    const T zero = {};
    const int status =
        p.batch == 1 ? routines.gemm(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, b_(), 0, p.ldb,
                                     zero, c_(), 0, p.ldc, &to, event)
                     : routines.batch(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, p.a_stride, b_(),
                                      0, p.ldb, p.b_stride, zero, c_(), 0, p.ldc, p.c_stride, p.batch, &to, event);
    if (status != 0) throw Failure("clblast: status " + std::to_string(status));
  }

  const SharedLibrary library_{{"libclblast.so.1", "libclblast.so"}};
  const Routines<float> single_{library_, "S"};
  const Routines<double> double_{library_, "D"};
  const Routines<cl_float2> complex_single_{library_, "C"};
  const Routines<cl_double2> complex_double_{library_, "Z"};
};

// One work-item for each element of C, which is n columns wide without gaps.
constexpr const char* kSource = R"(
__kernel void epilogue(__global float* c, __global const float* bias, const int n) {
  const size_t i = get_global_id(1) * (size_t)n + get_global_id(0);
  const float x = c[i] + bias[get_global_id(0)];
  c[i] = ACTIVATION;
}
)";

// By the number of the Activation; a clamp is to 0 and 1.
constexpr const char* kExpressions[] = {"x",
                                        "fmax(x,0.0f)",
                                        "clamp(x,0.0f,1.0f)",
                                        "1/(1+exp(-x))",
                                        "x/(1+exp(-x))",
                                        "x*0.5f*erfc(x*-0.70710678f)",
                                        "x/(1+exp(-x*(1.59576912f+0.07135481f*x*x)))"};

// The product, then a kernel of its own for the bias and the activation.
class Separate : public OpenClPeer {
 public:
  explicit Separate(const Library& library) : library_(library) {}
  const char* name() const override { return "separate"; }
  bool has(Precision precision) const override { return precision == Precision::single_precision; }

  bool set(const Problem& problem) override {
    OpenClPeer::set(problem);
    Problem plain = problem;
    plain.epilogue = {};
    product_ = std::make_unique<Gemm>(need(library_.prepare(plain)));
    bias_ = random_buffer(problem.n);
    const auto activation = static_cast<std::size_t>(problem.epilogue.activation);
    cl::Program program(context(), kSource);
    const std::string options = std::string("-cl-std=CL1.2 -DACTIVATION=") + kExpressions[activation];
    need_success("clBuildProgram", program.build(options.c_str()));
    kernel_ = cl::Kernel(program, "epilogue");
    kernel_.setArg(0, c_);
    kernel_.setArg(1, bias_);
    kernel_.setArg(2, static_cast<cl_int>(problem.n));
    return true;
  }

 private:
  void enqueue(cl_event* event) override {
    need(product_->enqueue(queue(), 1, {a_()}, {b_()}, 0, {c_()}));
    const std::size_t global[] = {problem_.n, problem_.m};
    need_success("clEnqueueNDRangeKernel",
                 clEnqueueNDRangeKernel(queue(), kernel_(), 2, nullptr, global, nullptr, 0, nullptr, event));
  }

  const Library& library_;
  std::unique_ptr<Gemm> product_;
  cl::Buffer bias_;
  cl::Kernel kernel_;
};

}  // namespace

std::unique_ptr<Peer> make_clblast() { return std::make_unique<Clblast>(); }
std::unique_ptr<Peer> make_separate(const Library& library) { return std::make_unique<Separate>(library); }

}  // namespace clbake::tool
