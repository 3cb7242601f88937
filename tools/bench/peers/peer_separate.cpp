// The alternative to an epilogue: the product, then a kernel of its own for the bias and the activation.
#include "bench/peers/peers.hpp"

#include <clbake/builder/gemm_run.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

Status opencl_status(const char* call, cl_int error) {
  if (error == CL_SUCCESS) return {};
  return {Code::opencl, std::string("separate: ") + call + ": OpenCL error " + std::to_string(error), error};
}

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

class Separate : public Peer {
 public:
  explicit Separate(const Library& library) : library_(library) {}
  const char* name() const override { return "separate"; }
  bool uses_opencl() const override { return true; }
  bool has(Precision precision) const override { return precision == Precision::single_precision; }

  Status attach(const builder::Session* session) override {
    session_ = *session;
    return {};
  }

  Status set(const Problem& problem) override {
    problem_ = problem;
    Problem plain = problem;
    plain.epilogue = {};
    Result<Gemm> product = library_.prepare(plain);
    if (!product) return product.status();
    product_ = std::make_unique<Gemm>(std::move(*product));
    const Extents e = extents(problem);
    cl_int error = CL_SUCCESS;
    const auto make = [&](std::size_t count) {
      std::vector<float> values = random_elements<float>(count);
      if (error != CL_SUCCESS) return cl::Buffer();
      return cl::Buffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(float), values.data(),
                        &error);
    };
    a_ = make(e.a);
    b_ = make(e.b);
    c_ = make(e.c);
    bias_ = make(problem.n);
    return error == CL_SUCCESS ? make_kernel() : opencl_status("clCreateBuffer", error);
  }

  Status run() override {
    return builder::finish_timed(session_, [&](cl_event* event) {
      const Status status = product_->enqueue(session_.queue(), 1, {a_()}, {b_()}, 0, {c_()});
      return status ? apply(event) : status;
    });
  }

  Result<std::vector<float>> single_result() const override {
    std::vector<float> c(extents(problem_).c);
    const cl_int error = clEnqueueReadBuffer(session_.queue(), c_(), CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0,
                                             nullptr, nullptr);
    if (error != CL_SUCCESS) return opencl_status("clEnqueueReadBuffer", error);
    return c;
  }

 private:
  cl::Context context() const { return cl::Context(session_.context(), true); }

  Status make_kernel() {
    const auto activation = static_cast<std::size_t>(problem_.epilogue.activation);
    const std::string options = std::string("-cl-std=CL1.2 -DACTIVATION=") + kExpressions[activation];
    const cl::Program program(context(), kSource);
    cl_int error = program.build(options.c_str());
    if (error == CL_SUCCESS) kernel_ = cl::Kernel(program, "epilogue", &error);
    if (error == CL_SUCCESS) error = kernel_.setArg(0, c_);
    if (error == CL_SUCCESS) error = kernel_.setArg(1, bias_);
    if (error == CL_SUCCESS) error = kernel_.setArg(2, static_cast<cl_int>(problem_.n));
    return opencl_status("clBuildProgram", error);
  }

  Status apply(cl_event* event) const {
    const std::size_t global[] = {problem_.n, problem_.m};
    return opencl_status("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel(session_.queue(), kernel_(), 2, nullptr,
                                                                          global, nullptr, 0, nullptr, event));
  }

  const Library& library_;
  builder::Session session_;
  Problem problem_;
  std::unique_ptr<Gemm> product_;
  cl::Buffer a_, b_, c_, bias_;
  cl::Kernel kernel_;
};

}  // namespace

std::unique_ptr<Peer> make_separate(const Library& library) { return std::make_unique<Separate>(library); }

}  // namespace clbake::tool
