#include "questions.hpp"

#include "down.hpp"
#include "opencl/cl.hpp"

#include <cstring>

namespace clbake::layer {
namespace {

// Up to the first zero.
template <typename Get>
std::string text_of(const Get& get) {
  cl_int error = CL_SUCCESS;
  const std::string text = cl::text(error, get);
  return error == CL_SUCCESS ? text.c_str() : std::string();
}

template <typename Object, typename Get>
std::vector<cl_device_id> devices_of(Object object, Get get, cl_uint what) {
  std::size_t bytes = 0;
  if (get(object, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::vector<cl_device_id> all(bytes / sizeof(cl_device_id));
  if (get(object, what, bytes, all.data(), nullptr) != CL_SUCCESS) return {};
  return all;
}

}  // namespace

std::string name_of(cl_kernel kernel) {
  return text_of([&](std::size_t size, char* to, std::size_t* size_ret) {
    return down().clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, to, size_ret);
  });
}

std::string info_text(cl_program program, cl_program_info what) {
  return text_of([&](std::size_t size, char* to, std::size_t* size_ret) {
    return down().clGetProgramInfo(program, what, size, to, size_ret);
  });
}

std::string build_log_of(cl_program program, cl_device_id device) {
  return text_of([&](std::size_t size, char* to, std::size_t* size_ret) {
    return down().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, to, size_ret);
  });
}

std::vector<cl_device_id> devices_of(cl_program program) {
  return devices_of(program, down().clGetProgramInfo, CL_PROGRAM_DEVICES);
}

std::vector<cl_device_id> devices_of(cl_context context) {
  return devices_of(context, down().clGetContextInfo, CL_CONTEXT_DEVICES);
}

cl_device_id device_of(cl_command_queue queue) {
  cl_device_id device = nullptr;
  static_cast<void>(down().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr));
  return device;
}

cl_platform_id platform_of(cl_device_id device) {
  cl_platform_id platform = nullptr;
  static_cast<void>(down().clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr));
  return platform;
}

std::string joined_sources(cl_uint count, const char** strings, const std::size_t* lengths) {
  std::string all;
  for (cl_uint i = 0; i < count; ++i) {
    const bool ends_in_zero = !lengths || lengths[i] == 0;
    all.append(strings[i], ends_in_zero ? std::strlen(strings[i]) : lengths[i]);
  }
  return all;
}

}  // namespace clbake::layer
