// clbake: three products with their epilogues, and the softmax, all from the bundle inside of the program
// (clbake_add_bundle in CMakeLists.txt). Nothing compiles.
#include "network.hpp"

#include <perceptron_clbake.h>
#include <clbake/clbake.hpp>

#include <future>
#include <utility>
#include <vector>

namespace {

using clbake::Result;

class WithClbake : public Network {
 public:
  WithClbake(std::vector<clbake::Gemm> layers, cl_kernel softmax, cl_command_queue queue)
      : layers_(std::move(layers)), softmax_(softmax), queue_(queue) {}
  ~WithClbake() override { clReleaseKernel(softmax_); }

  std::string enqueue(const Buffers& buffers) override {
    for (std::size_t i = 0; i < kLayers; ++i) {
      const clbake::EpilogueBuffers more = {{buffers.biases[i]}, {}};
      const clbake::Status status = layers_[i].enqueue(queue_, 1.0, {buffers.values[i]}, {buffers.weights[i]}, 0.0,
                                                       {buffers.values[i + 1]}, more);
      if (!status) return status.message();
    }
    const cl_int launched = enqueue_softmax(queue_, softmax_, buffers.values.back());
    return launched == CL_SUCCESS ? "" : "softmax: OpenCL's error " + std::to_string(launched);
  }

 private:
  std::vector<clbake::Gemm> layers_;
  cl_kernel softmax_;
  cl_command_queue queue_;
};

clbake::Problem problem_of(std::size_t layer) {
  clbake::Problem problem = clbake::make_problem({}, kRows, kWidths[layer + 1], kWidths[layer]);
  problem.epilogue.bias = clbake::Bias::per_column;
  if (layer + 1 < kLayers) problem.epilogue.activation = clbake::Activation::relu;
  return problem;
}

}  // namespace

const char* const network_name = "clbake";

std::unique_ptr<Network> make_network(cl_context context, cl_device_id device, cl_command_queue queue,
                                      std::string& error) {
  const auto bundle = clbake::Bundle::from_memory({perceptron_clbake, perceptron_clbake_size});
  if (!bundle) return error = bundle.status().message(), nullptr;
  const Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle});
  if (!library) return error = library.status().message(), nullptr;

  // Programs load side by side: a driver that writes them to its cache (PoCL) mostly waits for the disk.
  std::vector<std::future<Result<clbake::Gemm>>> loading;
  for (std::size_t i = 0; i < kLayers; ++i) {
    loading.push_back(std::async(std::launch::async, [&library, i] { return library->prepare(problem_of(i)); }));
  }
  const Result<clbake::LoadedProgram> program = library->program("softmax");
  std::vector<clbake::Gemm> layers;
  for (auto& each : loading) {
    Result<clbake::Gemm> layer = each.get();
    if (!layer) return error = layer.status().message(), nullptr;
    layers.push_back(std::move(*layer));
  }
  if (!program) return error = program.status().message(), nullptr;
  cl_kernel softmax = clCreateKernel(program->get(), "softmax", nullptr);
  if (!softmax) return error = "the program softmax has no kernel softmax", nullptr;
  return std::make_unique<WithClbake>(std::move(layers), softmax, queue);
}
