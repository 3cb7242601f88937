// For all examples: a device by a part of its name, and a clock.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <string>

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
