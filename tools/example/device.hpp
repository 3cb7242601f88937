// For all examples: a device by a part of its name, and the time until a result.
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

inline std::string text_of(cl_platform_id platform) {
  char text[256] = "";
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, nullptr);
  return text;
}

inline std::string text_of(cl_device_id device) {
  char text[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, nullptr);
  return text;
}

// The first device whose platform's name and own name together contain `wanted`; null when there is none.
inline cl_device_id find_device(const std::string& wanted) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return nullptr;
  for (cl_uint p = 0; p < std::min(platform_count, 16U); ++p) {
    cl_device_id devices[16];
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < std::min(device_count, 16U); ++d) {
      if ((text_of(platforms[p]) + ' ' + text_of(devices[d])).find(wanted) != std::string::npos) return devices[d];
    }
  }
  return nullptr;
}

inline int fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
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

// Times `first`, which starts a library and computes a result, and ten calls of `later`, which compute one each.
// `check` looks at each result. All return "" or what went wrong. Prints milliseconds, `later` as its median; returns
// the exit status.
template <typename First, typename Later, typename Check>
int time_results(const char* name, double context_ms, First first, Later later, Check check) {
  Clock::time_point start = Clock::now();
  std::string error = first();
  const double first_ms = ms_since(start);
  std::vector<double> later_ms;
  while (later_ms.size() < 10) {
    if (error.empty()) error = check();
    if (!error.empty()) return fail(error);
    start = Clock::now();
    error = later();
    later_ms.push_back(ms_since(start));
  }
  if (error.empty()) error = check();
  if (!error.empty()) return fail(error);
  std::nth_element(later_ms.begin(), later_ms.begin() + 5, later_ms.end());
  std::printf("%s: right; ms: context %.2f first %.2f later %.2f\n", name, context_ms, first_ms, later_ms[5]);
  return 0;
}
