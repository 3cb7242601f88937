// A perceptron of three layers that says for each row of its input which of ten classes it belongs to.
// network_clbake.cpp and network_opencl.cpp are two implementations.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

constexpr std::size_t kRows = 256;  // inputs that are classified together
constexpr std::array<std::size_t, 4> kWidths = {784, 512, 256, 10};
constexpr std::size_t kLayers = kWidths.size() - 1;

// Single precision, row-major. Layer i multiplies kRows x kWidths[i] values by kWidths[i] x kWidths[i + 1] weights.
// The caller owns the buffers.
struct Buffers {
  std::array<cl_mem, kLayers> weights{};
  std::array<cl_mem, kLayers> biases{};      // kWidths[i + 1] values
  std::array<cl_mem, kLayers + 1> values{};  // of each layer: the input first, the probabilities last
};

class Network {
 public:
  virtual ~Network() = default;
  // values[i + 1] = max(values[i] * weights[i] + biases[i], 0), for the last layer softmax instead of the maximum.
  virtual std::string enqueue(const Buffers& buffers) = 0;  // "", or what went wrong
};

extern const char* const network_name;
// For one in-order queue of the device. `error` says why when there is none.
std::unique_ptr<Network> make_network(cl_context context, cl_device_id device, cl_command_queue queue,
                                      std::string& error);

// Both implementations launch the softmax of softmax.cl: a work-item for each row. Returns OpenCL's error.
constexpr std::size_t kSoftmaxGroup = 64;  // the work-group size in programs.json; divides kRows
inline cl_int enqueue_softmax(cl_command_queue queue, cl_kernel softmax, cl_mem values) {
  const cl_int columns = kWidths.back();
  clSetKernelArg(softmax, 0, sizeof values, &values);
  clSetKernelArg(softmax, 1, sizeof columns, &columns);
  return clEnqueueNDRangeKernel(queue, softmax, 1, nullptr, &kRows, &kSoftmaxGroup, 0, nullptr, nullptr);
}
