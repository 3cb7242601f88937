// A perceptron of three layers: how long from an existing OpenCL context until its first result?
//
//   perceptron [DEVICE]     a part of the device's or its platform's name; default: the first device
//
// Prints milliseconds: context and queue; then, with weights and input on the device, until the first probabilities are
// on the host, the library's start included; the median of ten later results. Every result is checked against one in
// double precision. Exit status 1 when one is wrong, 77 without a device.
#include "network.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTolerance = 1e-5;  // of a probability

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

// The first device whose platform's name and own name together contain `wanted`; null when there is none.
cl_device_id find_device(const std::string& wanted) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return nullptr;
  for (cl_uint p = 0; p < std::min(platform_count, 16U); ++p) {
    char platform[256] = "", name[256] = "";
    cl_device_id devices[16];
    cl_uint device_count = 0;
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, nullptr);
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < std::min(device_count, 16U); ++d) {
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, nullptr);
      if ((std::string(platform) + ' ' + name).find(wanted) != std::string::npos) return devices[d];
    }
  }
  return nullptr;
}

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
  const auto upload = [&](std::vector<float> values) {
    return all.emplace_back(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           values.size() * sizeof(float), values.data(), nullptr));
  };
  b.values[0] = upload(data.input);
  for (std::size_t i = 0; i < LAYERS; ++i) {
    b.weights[i] = upload(data.weights[i]);
    b.biases[i] = upload(data.biases[i]);
    b.values[i + 1] = upload(std::vector<float>(ROWS * widths[i + 1]));
  }
  const bool has_all = std::count(all.begin(), all.end(), nullptr) == 0 && clFinish(queue) == CL_SUCCESS;
  if (!has_all) return fail("no memory on the device");

  std::vector<double> ms;
  while (ms.size() < 11) {
    std::vector<float> result(ROWS * CLASSES, -1.0F);
    const Clock::time_point begin = Clock::now();
    const char* error = ms.empty() ? start_network(context, device) : nullptr;
    if (!error) error = enqueue_network(queue, &b);
    if (error) return fail(error);
    if (clEnqueueReadBuffer(queue, b.values[LAYERS], CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0,
                            nullptr, nullptr) != CL_SUCCESS) {
      return fail("the result cannot be read");
    }
    ms.push_back(ms_since(begin));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double off = std::abs(static_cast<double>(result[i]) - data.probabilities[i]);
      if (!(off <= kTolerance)) return fail("a probability is wrong by " + std::to_string(off));
    }
  }
  std::nth_element(ms.begin() + 1, ms.begin() + 6, ms.end());
  std::printf("%s: right; ms: context %.2f first %.2f later %.2f\n", network_name, context_ms, ms[0], ms[6]);
  end_network();
  for (cl_mem memory : all) clReleaseMemObject(memory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  cl_device_id device = find_device(argc > 1 ? argv[1] : "");
  if (!device) return fail("no such OpenCL device"), 77;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = context ? clCreateCommandQueue(context, device, 0, nullptr) : nullptr;
  if (!queue) return fail("no context or no queue on the device");
  const int status = classify(context, device, queue, ms_since(start));
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return status;
}
