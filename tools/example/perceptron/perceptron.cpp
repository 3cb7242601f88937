// A perceptron of three layers: how long from an existing OpenCL context until its first result?
//
//   perceptron [DEVICE]     a part of the device's or its platform's name; default: the first device
//
// Prints milliseconds: context and queue; then, with weights and input on the device, until the first probabilities are
// on the host, the library's start included; the median of ten later results. Every result is checked against one in
// double precision. Exit status 1 when one is wrong, 77 without a device.
#include "example/device.hpp"
#include "network.h"

#include <cmath>
#include <random>

namespace {

constexpr double kTolerance = 1e-5;  // of a probability

struct Data {
  std::vector<float> weights[LAYERS], biases[LAYERS], input;
  std::vector<double> probabilities;  // in double precision

  Data() {
    std::mt19937 random(1);
    const auto fill = [&](std::size_t count, double deviation) {
      std::normal_distribution<float> normal(0, static_cast<float>(deviation));
      std::vector<float> values(count);
      for (float& x : values) x = normal(random);
      return values;
    };
    for (std::size_t i = 0; i < LAYERS; ++i) {
      weights[i] = fill(widths[i] * widths[i + 1], std::sqrt(2.0 / static_cast<double>(widths[i])));
      biases[i] = fill(widths[i + 1], 0.5);
    }
    input = fill(ROWS * widths[0], 1);
    probabilities = reference();
  }

  std::vector<double> reference() const {
    std::vector<double> x(input.begin(), input.end());
    for (std::size_t i = 0; i < LAYERS; ++i) {
      std::vector<double> y;
      for (std::size_t row = 0; row < ROWS; ++row) {
        y.insert(y.end(), biases[i].begin(), biases[i].end());
        double* sums = &y[row * widths[i + 1]];
        for (std::size_t k = 0; k < widths[i]; ++k) {
          for (std::size_t n = 0; n < widths[i + 1]; ++n) {
            sums[n] += x[row * widths[i] + k] * static_cast<double>(weights[i][k * widths[i + 1] + n]);
          }
        }
      }
      if (i + 1 < LAYERS) {
        for (double& v : y) v = std::max(v, 0.0);
      }
      x = std::move(y);
    }
    for (auto row = x.begin(); row != x.end(); row += CLASSES) {
      double sum = 0;
      const double largest = *std::max_element(row, row + CLASSES);
      std::for_each(row, row + CLASSES, [&](double& v) { sum += v = std::exp(v - largest); });
      std::for_each(row, row + CLASSES, [&](double& v) { v /= sum; });
    }
    return x;
  }
};

int classify(cl_context context, cl_device_id device, cl_command_queue queue, double context_ms) {
  const Data data;
  buffers b{};
  std::vector<cl_mem> all;
  const auto upload = [&](const std::vector<float>& values) { return all.emplace_back(buffer_of(context, values)); };
  b.values[0] = upload(data.input);
  for (std::size_t i = 0; i < LAYERS; ++i) {
    b.weights[i] = upload(data.weights[i]);
    b.biases[i] = upload(data.biases[i]);
    b.values[i + 1] = upload(std::vector<float>(ROWS * widths[i + 1]));
  }
  const bool has_all = std::count(all.begin(), all.end(), nullptr) == 0 && clFinish(queue) == CL_SUCCESS;
  if (!has_all) return fail("no memory on the device");

  std::vector<float> result(ROWS * CLASSES);
  const auto text = [](const char* error) { return std::string(error ? error : ""); };
  const auto start = [&] { return text(start_network(context, device)); };
  const auto compute = [&] {
    const std::string error = text(enqueue_network(queue, &b));
    return error.empty() ? read(queue, b.values[LAYERS], result) : error;
  };
  const auto check = [&]() -> std::string {  // and forget the result
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double error = std::abs(static_cast<double>(result[i]) - data.probabilities[i]);
      if (!(error <= kTolerance)) return "a probability is wrong by " + std::to_string(error);
    }
    std::fill(result.begin(), result.end(), -1.0F);
    return "";
  };
  const int status = time_results(network_name, context_ms, start, compute, check);
  end_network();
  for (cl_mem memory : all) clReleaseMemObject(memory);
  return status;
}

}  // namespace

int main(int argc, char** argv) { return run_on_device(argc, argv, classify); }
