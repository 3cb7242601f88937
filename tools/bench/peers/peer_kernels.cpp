// Kernels that are compiled here: an empty one, and the alternative to an epilogue.
#include "bench/peers/opencl_peer.hpp"

namespace clbake::tool {
namespace {

// An empty kernel: the device's launch overhead, below which no small product can go.
class Launch : public OpenClPeer {
 public:
  const char* name() const override { return "launch"; }
  bool computes() const override { return false; }
  void attach(const builder::Session* session) override {
    OpenClPeer::attach(session);
    kernel_ = compiled("__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nothing() {}", "nothing");
  }
  bool set(const Problem& /*problem*/) override { return true; }

 private:
  void enqueue(cl_event* event) override {
    constexpr std::size_t kOne[] = {1, 1, 1};
    launch(kernel_, 3, kOne, kOne, event);
  }

  cl::Kernel kernel_;
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
    kernel_ = compiled(kSource, "epilogue", std::string("-cl-std=CL1.2 -DACTIVATION=") + kExpressions[activation]);
    kernel_.setArg(0, c_);
    kernel_.setArg(1, bias_);
    kernel_.setArg(2, static_cast<cl_int>(problem.n));
    return true;
  }

 private:
  void enqueue(cl_event* event) override {
    need(product_->enqueue(queue(), 1, {a_()}, {b_()}, 0, {c_()}));
    const std::size_t global[] = {problem_.n, problem_.m};
    launch(kernel_, 2, global, nullptr, event);
  }

  const Library& library_;
  std::unique_ptr<Gemm> product_;
  cl::Buffer bias_;
  cl::Kernel kernel_;
};

}  // namespace

std::unique_ptr<Peer> make_launch() { return std::make_unique<Launch>(); }

std::unique_ptr<Peer> make_separate(const Library& library) { return std::make_unique<Separate>(library); }

}  // namespace clbake::tool
