// The alternative to an epilogue: a kernel of its own, compiled here.
#include "bench/peers/opencl_peer.hpp"

namespace clbake::tool {
namespace {

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

std::unique_ptr<Peer> make_separate(const Library& library) { return std::make_unique<Separate>(library); }

}  // namespace clbake::tool
