// `clbake bench epilogue`: a bias and an activation in the product's own kernel, beside the product and a kernel that
// applies them afterwards.
#include "bench/alternate.hpp"
#include "bench/bench_device.hpp"
#include "cli/cli.hpp"
#include "cli/epilogue.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <algorithm>
#include <CL/opencl.hpp>
#include <cmath>
#include <cstdio>
#include <random>

namespace clbake::tool {
namespace {

Status opencl_status(const char* call, cl_int error) {
  if (error == CL_SUCCESS) return {};
  return {Code::opencl, std::string(call) + ": error " + std::to_string(error), error};
}

// One work-item for each element of an n columns wide C without gaps.
constexpr const char* kSeparateKernel = R"(
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

// The matrices of one size on the device. C is written by every call and not read.
class Matrices {
 public:
  Matrices(const BenchDevice& on, const Problem& p)
      : on_(on), a_(random(p.m * p.k)), b_(random(p.k * p.n)), bias_(random(p.n)), c_(random(p.m * p.n)) {}

  Status status() const { return status_; }

  Status multiply(Gemm& gemm, cl_event* event) {
    return gemm.enqueue(on_.session.queue(), 1, {a_()}, {b_()}, 0, {c_()}, {{bias_()}, {}}, 0, nullptr, event);
  }

  Status apply(cl_kernel kernel, const Problem& p, cl_event* event) {
    const cl_mem c = c_();
    const cl_mem bias = bias_();
    const auto n = static_cast<cl_int>(p.n);
    cl_int error = clSetKernelArg(kernel, 0, sizeof c, &c);
    if (error == CL_SUCCESS) error = clSetKernelArg(kernel, 1, sizeof bias, &bias);
    if (error == CL_SUCCESS) error = clSetKernelArg(kernel, 2, sizeof n, &n);
    const std::size_t global[] = {p.n, p.m};
    if (error == CL_SUCCESS) {
      error = clEnqueueNDRangeKernel(on_.session.queue(), kernel, 2, nullptr, global, nullptr, 0, nullptr, event);
    }
    return opencl_status("clEnqueueNDRangeKernel", error);
  }

  Result<std::vector<float>> read(std::size_t elements) const {
    std::vector<float> c(elements);
    const cl_int error = clEnqueueReadBuffer(on_.session.queue(), c_(), CL_TRUE, 0, elements * sizeof(float), c.data(),
                                             0, nullptr, nullptr);
    if (error != CL_SUCCESS) return opencl_status("clEnqueueReadBuffer", error);
    return c;
  }

 private:
  cl::Buffer random(std::size_t elements) {
    std::vector<float> values(elements);
    for (float& value : values) value = uniform_(generator_);
    cl_int error = CL_SUCCESS;
    cl::Buffer buffer(cl::Context(on_.session.context(), true), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                      elements * sizeof(float), values.data(), &error);
    if (error != CL_SUCCESS) status_ = opencl_status("clCreateBuffer", error);
    return buffer;
  }

  const BenchDevice& on_;
  Status status_;
  std::mt19937 generator_{1};
  std::uniform_real_distribution<float> uniform_{-1, 1};
  cl::Buffer a_, b_, bias_, c_;
};

Result<cl::Kernel> separate_kernel(const BenchDevice& on, Activation activation) {
  cl_int error = CL_SUCCESS;
  const cl::Program program(cl::Context(on.session.context(), true), kSeparateKernel, false, &error);
  if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithSource", error);
  const std::string options =
      std::string("-cl-std=CL1.2 -DACTIVATION=") + kExpressions[static_cast<std::size_t>(activation)];
  const cl_device_id id = on.device.id;
  error = clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) return opencl_status("clBuildProgram", error);
  cl::Kernel kernel(program, "epilogue", &error);
  if (error != CL_SUCCESS) return opencl_status("clCreateKernel", error);
  return kernel;
}

struct Row {
  Problem problem;
  Activation activation;
  double fused_us, separate_us, product_us;
};

// Both ways give the same sums, and the same C but for the rounding of what follows.
Status compare(const std::vector<float>& fused, const std::vector<float>& separate) {
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (std::abs(fused[i] - separate[i]) <= 1e-5F * std::max(1.0F, std::abs(separate[i]))) continue;
    return {Code::wrong_result, "element " + std::to_string(i) + " is " + std::to_string(fused[i]) +
                                    " with the epilogue, and " + std::to_string(separate[i]) +
                                    " with a kernel of its own"};
  }
  return {};
}

Result<Row> measure(const BenchDevice& on, const Library& library, const Problem& plain, Activation activation,
                    std::size_t rounds) {
  Problem with_epilogue = plain;
  with_epilogue.epilogue.bias = Bias::per_column;
  with_epilogue.epilogue.activation = activation;
  with_epilogue.epilogue.high = 1;
  Result<Gemm> product = library.prepare(plain);
  if (!product) return product.status();
  Result<Gemm> fused = library.prepare(with_epilogue, product->explanation().variant);
  if (!fused) return fused.status();
  const Result<cl::Kernel> kernel = separate_kernel(on, activation);
  if (!kernel) return kernel.status();
  Matrices matrices(on, plain);
  if (!matrices.status()) return matrices.status();

  // A product, then this kernel if there is one.
  const auto run = [&](Gemm& gemm, cl_kernel then) {
    return builder::finish_timed(on.session, [&](cl_event* event) {
      const Status status = matrices.multiply(gemm, then ? nullptr : event);
      return status && then ? matrices.apply(then, plain, event) : status;
    });
  };
  const auto run_fused = [&] { return run(*fused, nullptr); };
  const auto run_separate = [&] { return run(*product, (*kernel)()); };
  const auto run_product = [&] { return run(*product, nullptr); };
  Status status = run_fused();
  const Result<std::vector<float>> of_fused = matrices.read(plain.m * plain.n);
  if (status) status = run_separate();
  const Result<std::vector<float>> of_separate = matrices.read(plain.m * plain.n);
  if (status) status = of_fused.status();
  if (status) status = of_separate.status();
  if (status) status = compare(*of_fused, *of_separate);
  if (!status) return status;
  std::vector<TimedCall> calls = {{run_fused, {}}, {run_separate, {}}, {run_product, {}}};
  status = time_alternately(calls, rounds);
  if (!status) return status;
  return Row{plain, activation, builder::median(calls[0].us), builder::median(calls[1].us),
             builder::median(calls[2].us)};
}

Json to_json(const Row& row) {
  return {{"m", row.problem.m},           {"n", row.problem.n},
          {"k", row.problem.k},           {"activation", activation_words[static_cast<std::size_t>(row.activation)]},
          {"fused_us", row.fused_us},     {"separate_us", row.separate_us},
          {"product_us", row.product_us}, {"ratio", row.separate_us / row.fused_us}};
}

void print_table(const std::vector<Row>& rows, const Target& target, std::size_t rounds) {
  std::printf("%s; driver %s; single precision, a bias for each column; microseconds, medians over %s\n\n",
              target.device_name.c_str(), target.driver_version.c_str(), counted(rounds, "round").c_str());
  std::printf("| %-16s | %-10s | %10s | %10s | %10s | %8s |\n", "m x n x k", "activation", "epilogue", "separate",
              "product", "ratio");
  std::printf("|------------------|------------|-----------:|-----------:|-----------:|---------:|\n");
  for (const Row& row : rows) {
    const Size size{row.problem.m, row.problem.n, row.problem.k};
    std::printf("| %-16s | %-10s | %10.1f | %10.1f | %10.1f | %8.2f |\n", name(size).c_str(),
                activation_words[static_cast<std::size_t>(row.activation)], row.fused_us, row.separate_us,
                row.product_us, row.separate_us / row.fused_us);
  }
  std::printf(
      "\nepilogue: one kernel does all. separate: the product, then a kernel of its own for bias and "
      "activation. product: neither.\nratio: separate / epilogue.\n");
}

}  // namespace

int bench_epilogue(const std::vector<std::string>& arguments) {
  Cli cli("bench epilogue FILE [OPTIONS]",
          "Times a product with a bias and an activation in its own kernel, beside the product and a kernel that\n"
          "applies them afterwards. Single precision.");
  cli.add_device();
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default 512");
  cli.add_list("activation", "LIST", "none, relu, clamp, sigmoid, silu, gelu, gelu_tanh; default: all");
  cli.add_value("rounds", "N", "turns of 0.1 s of each competitor; default 5");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::vector<Size> sizes = sizes_of(cli.text("sizes", "512"));
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  const std::vector<Activation> activations = activations_of(cli.list("activation"));
  const Result<BenchBundle> bundle = open_bundle(cli.file(), cli.text("device"));
  if (!bundle) return fail("bench epilogue", bundle.status());
  const Result<Library> library = open_library(bundle->on, bundle->bundle);
  if (!library) return fail("bench epilogue", library.status());

  std::vector<Row> rows;
  for (const Size& size : sizes) {
    for (const Activation activation : activations) {
      const Problem problem = builder::tight_problem(Precision::single_precision, size.m, size.n, size.k);
      const Result<Row> row = measure(bundle->on, *library, problem, activation, rounds);
      if (!row) return fail("bench epilogue", row.status().within(name(size)));
      rows.push_back(*row);
    }
  }
  if (!cli.has("json")) {
    print_table(rows, bundle->on.device.target, rounds);
    return kSuccess;
  }
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  print({{"device", bundle->on.device.target.device_name}, {"rounds", rounds}, {"rows", list}});
  return kSuccess;
}

}  // namespace clbake::tool
