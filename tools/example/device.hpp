// For all examples: a device by a part of its name, buffers on it, and the time until a result.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The first device whose platform's name and own name together contain `wanted`; null when there is none.
inline cl_device_id find_device(const std::string& wanted) {
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

inline int fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

// A buffer that holds `values`; null when there is no memory.
inline cl_mem buffer_of(cl_context context, const std::vector<float>& values) {
  return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                        const_cast<float*>(values.data()), nullptr);
}

// Reads a whole buffer after all that was enqueued. "", or what went wrong.
inline std::string read(cl_command_queue queue, cl_mem buffer, std::vector<float>& values) {
  const cl_int error =
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, values.size() * sizeof(float), values.data(), 0, nullptr, nullptr);
  return error == CL_SUCCESS ? "" : "clEnqueueReadBuffer: OpenCL's error " + std::to_string(error);
}

// The main function of an example: run(context, device, queue, milliseconds that these took) on the device that the
// first argument names. Returns the exit status: that of `run`, or 77 without a device.
template <typename Run>
int run_on_device(int argc, char** argv, Run run) {
  const Clock::time_point start = Clock::now();
  cl_device_id device = find_device(argc > 1 ? argv[1] : "");
  if (!device) {
    fail("no such OpenCL device");
    return 77;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = context ? clCreateCommandQueue(context, device, 0, nullptr) : nullptr;
  if (!queue) return fail("no context or no queue on the device");
  const int status = run(context, device, queue, ms_since(start));
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return status;
}

// Times `start`, which starts a library, with the first call of `compute`, then ten more calls. `check` looks at each
// result. All return "" or what went wrong. Prints milliseconds, of the later calls the median; returns the exit
// status.
template <typename Start, typename Compute, typename Check>
int time_results(const char* name, double context_ms, Start start, Compute compute, Check check) {
  std::vector<double> ms;
  while (ms.size() < 11) {
    const Clock::time_point begin = Clock::now();
    std::string error = ms.empty() ? start() : "";
    if (error.empty()) error = compute();
    ms.push_back(ms_since(begin));
    if (error.empty()) error = check();
    if (!error.empty()) return fail(error);
  }
  std::nth_element(ms.begin() + 1, ms.begin() + 6, ms.end());
  std::printf("%s: right; ms: context %.2f first %.2f later %.2f\n", name, context_ms, ms[0], ms[6]);
  return 0;
}
