// OpenCL for the runtime's own sources. Not Khronos' CLHPP: it adds 9 KB to every program that embeds the library.
#pragma once

#include <clbake/status.hpp>

#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <utility>

namespace clbake {

// Owned references to objects of OpenCL, null or not. Copies retain the object.
namespace cl {

template <typename Object, cl_int(CL_API_CALL* retain)(Object), cl_int(CL_API_CALL* release)(Object)>
class Handle {
 public:
  Handle() = default;
  // Takes the caller's reference over, or retains the object itself.
  explicit Handle(Object object, bool retains = false) : object_(object) {
    if (retains && object_) retain(object_);
  }
  Handle(const Handle& other) : Handle(other.object_, true) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_) release(object_);
  }
  Object operator()() const { return object_; }

 private:
  Object object_ = nullptr;
};

using Context = Handle<cl_context, clRetainContext, clReleaseContext>;
using Device = Handle<cl_device_id, clRetainDevice, clReleaseDevice>;
using Program = Handle<cl_program, clRetainProgram, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clRetainKernel, clReleaseKernel>;
using Memory = Handle<cl_mem, clRetainMemObject, clReleaseMemObject>;
using Event = Handle<cl_event, clRetainEvent, clReleaseEvent>;
using CommandQueue = Handle<cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue>;

// A number that a query answers; unchanged on failure.
template <typename T>
cl_int info(const Device& device, cl_device_info what, T& value) {
  return clGetDeviceInfo(device(), what, sizeof value, &value, nullptr);
}

// A text, for which get(size, text, size_ret) is called twice. Without its final zero.
template <typename Get>
std::string text(cl_int& error, const Get& get) {
  std::size_t size = 0;
  std::string value;
  error = get(std::size_t{0}, nullptr, &size);
  if (error != CL_SUCCESS) return value;
  value.resize(size);
  error = get(size, value.data(), nullptr);
  if (!value.empty()) value.pop_back();
  return value;
}

}  // namespace cl

// "CL_OUT_OF_RESOURCES (-5)"; "OpenCL error -9999" for numbers that the standard does not know.
std::string opencl_error(cl_int error);

// Ok for CL_SUCCESS; else a Status of code opencl, or out_of_memory for allocation failures, with a message such as
// "clCreateKernel: CL_INVALID_KERNEL_NAME (-46)".
Status opencl_status(const char* call, cl_int error);

// A function of an extension of the device's platform; null where there is none.
void* extension_function(const cl::Device& device, const char* name);

std::string platform_text(cl_platform_id platform, cl_platform_info what, cl_int& error);

// The error of a call that makes `object`. Of a driver that reports success and gives none: CL_INVALID_VALUE.
template <typename Object>
cl_int error_of(const Object& object, cl_int error) {
  return error == CL_SUCCESS && !object() ? CL_INVALID_VALUE : error;
}

}  // namespace clbake
