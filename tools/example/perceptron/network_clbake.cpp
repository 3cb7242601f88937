// clbake: three products with their epilogues, and the softmax, all from the bundle inside of the program
// (clbake_add_bundle in CMakeLists.txt). Nothing compiles: a product or program that the bundle lacks is a failure.
#include "network.h"

#include <perceptron_clbake.h>
#include <clbake/clbake.hpp>

#include <future>
#include <string>
#include <vector>

namespace {

using clbake::Result;

std::string message;  // the last failure's
std::vector<clbake::Gemm> layers;
cl_kernel softmax = nullptr;

const char* failed(const clbake::Status& status) { return (message = status.message()).c_str(); }

clbake::Problem problem_of(std::size_t layer) {
  clbake::Problem problem = clbake::make_problem({}, ROWS, widths[layer + 1], widths[layer]);
  problem.epilogue.bias = clbake::Bias::per_column;
  if (layer + 1 < LAYERS) problem.epilogue.activation = clbake::Activation::relu;
  return problem;
}

}  // namespace

const char* const network_name = "clbake";

const char* start_network(cl_context context, cl_device_id device) {
  const auto bundle = clbake::Bundle::from_memory({perceptron_clbake, perceptron_clbake_size});
  if (!bundle) return failed(bundle.status());
  clbake::Options options;
  options.on_miss = clbake::OnMiss::fail;
  const Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle}, options);
  if (!library) return failed(library.status());

  // Programs load side by side: a driver that writes them to its cache (PoCL) mostly waits for the disk.
  std::vector<std::future<Result<clbake::Gemm>>> loading;
  for (std::size_t i = 0; i < LAYERS; ++i) {
    loading.push_back(std::async(std::launch::async, [&library, i] { return library->prepare(problem_of(i)); }));
  }
  const Result<clbake::LoadedProgram> program = library->program("softmax");
  for (auto& each : loading) {
    Result<clbake::Gemm> layer = each.get();
    if (!layer) return failed(layer.status());
    layers.push_back(std::move(*layer));
  }
  if (!program) return failed(program.status());
  softmax = clCreateKernel(program->get(), "softmax", nullptr);
  return softmax ? nullptr : "the program softmax has no kernel softmax";
}

const char* enqueue_network(cl_command_queue queue, const buffers* b) {
  for (std::size_t i = 0; i < LAYERS; ++i) {
    const clbake::EpilogueBuffers more = {{b->biases[i]}, {}};
    const clbake::Status status =
        layers[i].enqueue(queue, 1.0, {b->values[i]}, {b->weights[i]}, 0.0, {b->values[i + 1]}, more);
    if (!status) return failed(status);
  }
  return enqueue_softmax(queue, softmax, b->values[LAYERS]);
}

void end_network() {
  if (softmax) clReleaseKernel(softmax);
  layers.clear();
}
