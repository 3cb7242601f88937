// A perceptron of three layers: how long from an existing OpenCL context until its first result?
//
//   perceptron [DEVICE]     a part of the device's or its platform's name; default: the first device
//
// Prints milliseconds: context and queue; then, with weights and input on the device, until the first probabilities are
// on the host, the library's start included; the median of ten later results. Every result is checked against one in
// double precision. Exit status 1 when one is wrong, 77 without a device.
#include "example/device.hpp"
#include "network.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr double kTolerance = 1e-5;  // of a probability

struct Data {
  std::array<std::vector<float>, kLayers> weights, biases;
  std::vector<float> input;
  std::vector<double> probabilities;  // in double precision

  Data() {
    std::mt19937 random(1);
    const auto fill = [&](std::size_t count, double deviation) {
      std::normal_distribution<float> normal(0, static_cast<float>(deviation));
      std::vector<float> values(count);
      for (float& x : values) x = normal(random);
      return values;
    };
    for (std::size_t i = 0; i < kLayers; ++i) {
      weights[i] = fill(kWidths[i] * kWidths[i + 1], std::sqrt(2.0 / kWidths[i]));
      biases[i] = fill(kWidths[i + 1], 0.5);
    }
    input = fill(kRows * kWidths[0], 1);
    probabilities = reference();
  }

 private:
  std::vector<double> reference() const {
    std::vector<double> x(input.begin(), input.end());
    for (std::size_t i = 0; i < kLayers; ++i) {
      std::vector<double> y;
      for (std::size_t row = 0; row < kRows; ++row) {
        y.insert(y.end(), biases[i].begin(), biases[i].end());
        double* sums = &y[row * kWidths[i + 1]];
        for (std::size_t k = 0; k < kWidths[i]; ++k) {
          for (std::size_t n = 0; n < kWidths[i + 1]; ++n) {
            sums[n] += x[row * kWidths[i] + k] * weights[i][k * kWidths[i + 1] + n];
          }
        }
      }
      if (i + 1 < kLayers) {
        for (double& v : y) v = std::max(v, 0.0);
      }
      x = std::move(y);
    }
    for (auto row = x.begin(); row != x.end(); row += kWidths.back()) {
      double sum = 0;
      const double largest = *std::max_element(row, row + kWidths.back());
      std::for_each(row, row + kWidths.back(), [&](double& v) { sum += v = std::exp(v - largest); });
      std::for_each(row, row + kWidths.back(), [&](double& v) { v /= sum; });
    }
    return x;
  }
};

class Session {
 public:
  Session(const Data& data, cl_context context, cl_command_queue queue)
      : data_(data), queue_(queue), result_(kRows * kWidths.back()) {
    const auto upload = [&](const std::vector<float>& from) {
      return clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, from.size() * sizeof(float),
                            const_cast<float*>(from.data()), nullptr);
    };
    buffers_.values[0] = upload(data.input);
    for (std::size_t i = 0; i < kLayers; ++i) {
      buffers_.weights[i] = upload(data.weights[i]);
      buffers_.biases[i] = upload(data.biases[i]);
      buffers_.values[i + 1] =
          clCreateBuffer(context, CL_MEM_READ_WRITE, kRows * kWidths[i + 1] * sizeof(float), nullptr, nullptr);
    }
  }
  ~Session() {
    for_all([](cl_mem memory) { clReleaseMemObject(memory); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool ready() const {
    std::size_t made = 0;
    for_all([&](cl_mem) { ++made; });
    return made == 3 * kLayers + 1 && clFinish(queue_) == CL_SUCCESS;
  }

  // The probabilities are on the host afterwards. "", or what went wrong.
  std::string run(Network& network) {
    const std::string error = network.enqueue(buffers_);
    if (!error.empty()) return error;
    const cl_int read = clEnqueueReadBuffer(queue_, buffers_.values.back(), CL_TRUE, 0, result_.size() * sizeof(float),
                                            result_.data(), 0, nullptr, nullptr);
    return read == CL_SUCCESS ? "" : "clEnqueueReadBuffer: OpenCL's error " + std::to_string(read);
  }

  // The largest difference from the reference, infinite if the result has a NaN. Forgets the result.
  double error() {
    double largest = 0;
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const double difference = std::abs(result_[i] - data_.probabilities[i]);
      largest = std::max(largest, std::isnan(difference) ? INFINITY : difference);
    }
    std::fill(result_.begin(), result_.end(), -1.0F);
    return largest;
  }

 private:
  template <typename Do>
  void for_all(Do act) const {
    for (const cl_mem memory : buffers_.weights) memory ? act(memory) : void();
    for (const cl_mem memory : buffers_.biases) memory ? act(memory) : void();
    for (const cl_mem memory : buffers_.values) memory ? act(memory) : void();
  }

  const Data& data_;
  cl_command_queue queue_;
  Buffers buffers_;
  std::vector<float> result_;
};

int classify(const Data& data, cl_context context, cl_device_id device, cl_command_queue queue, double context_ms) {
  Session session(data, context, queue);
  if (!session.ready()) return fail("no memory on the device");
  std::unique_ptr<Network> network;
  const auto later = [&] { return session.run(*network); };
  const auto first = [&] {
    std::string error;
    network = make_network(context, device, queue, error);
    return network ? later() : error;
  };
  const auto check = [&]() -> std::string {
    const double error = session.error();
    return error <= kTolerance ? "" : "a probability is wrong by " + std::to_string(error);
  };
  return time_results(network_name, context_ms, first, later, check);
}

}  // namespace

int main(int argc, char** argv) {
  const Data data;
  return run_on_device(argc, argv, [&](cl_context context, cl_device_id device, cl_command_queue queue, double ms) {
    return classify(data, context, device, queue, ms);
  });
}
