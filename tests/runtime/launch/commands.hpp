// Command buffers (cl_khr_command_buffer) of the first device.
#pragma once

#include "api/library_scene.hpp"

#include <CL/cl_ext.h>

namespace clbake::tests {

// A function of an extension; null where the driver has none.
template <typename Function>
Function extension(const char* name) {
  cl_platform_id platform = nullptr;
  clGetDeviceInfo(here().device.id, CL_DEVICE_PLATFORM, sizeof platform, static_cast<void*>(&platform), nullptr);
  return reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
}

// One for the session's queue; null where the driver has none, or `changeable` and the driver has no such.
struct Commands {
  using Buffer = _cl_command_buffer_khr*;
  using Create = Buffer (*)(cl_uint, const cl_command_queue*, const cl_ulong* properties, cl_int*);
  using Call = cl_int (*)(Buffer);
  using Enqueue = cl_int (*)(cl_uint, cl_command_queue*, Buffer, cl_uint, const cl_event*, cl_event*);

  cl_command_queue queue = here().session.queue();
  Buffer buffer = nullptr;

  explicit Commands(bool changeable = false) {
    const auto create = extension<Create>("clCreateCommandBufferKHR");
    const bool can_change = extension<void*>("clUpdateMutableCommandsKHR") != nullptr;
    const cl_ulong properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 2 /* CL_COMMAND_BUFFER_MUTABLE_KHR */, 0};
    cl_int error = CL_SUCCESS;
    if (create && (can_change || !changeable)) {
      buffer = create(1, &queue, changeable ? properties : nullptr, &error);
    }
    BOOST_REQUIRE(error == CL_SUCCESS);
  }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands() {
    if (buffer) extension<Call>("clReleaseCommandBufferKHR")(buffer);
  }
  void finalize() const { BOOST_REQUIRE(extension<Call>("clFinalizeCommandBufferKHR")(buffer) == CL_SUCCESS); }
  void run() const {
    const auto enqueue = extension<Enqueue>("clEnqueueCommandBufferKHR");
    // PoCL 3.1 may say for a moment after clFinish that the commands still run.
    cl_int error = CL_INVALID_OPERATION;
    for (int tries = 0; error == CL_INVALID_OPERATION && tries < 10000; ++tries) {
      error = enqueue(0, nullptr, buffer, 0, nullptr, nullptr);
    }
    BOOST_REQUIRE(error == CL_SUCCESS);
    BOOST_REQUIRE(clFinish(queue) == CL_SUCCESS);
  }
};

}  // namespace clbake::tests
