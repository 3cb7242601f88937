// The same with OpenCL alone: kernels in OpenCL C, which the driver compiles.
#include "network.h"

#include <fstream>
#include <sstream>

static cl_kernel dense = nullptr, softmax = nullptr;

const char* const network_name = "OpenCL";

const char* start_network(cl_context context, cl_device_id device) {
  std::ostringstream text;
  for (const char* file : {SOURCES "/dense.cl", SOURCES "/softmax.cl"}) text << std::ifstream(file).rdbuf() << '\n';
  const std::string source = text.str();
  const char* characters = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &characters, nullptr, nullptr);
  if (!program || clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
    return "dense.cl and softmax.cl do not compile";
  }
  dense = clCreateKernel(program, "dense", nullptr);
  softmax = clCreateKernel(program, "softmax", nullptr);
  clReleaseProgram(program);
  return dense && softmax ? nullptr : "a kernel is missing";
}

const char* enqueue_network(cl_command_queue queue, const buffers* b) {
  for (std::size_t i = 0; i < LAYERS; ++i) {
    const cl_mem memory[] = {b->values[i], b->weights[i], b->biases[i], b->values[i + 1]};
    for (cl_uint m = 0; m < 4; ++m) clSetKernelArg(dense, m, sizeof memory[m], &memory[m]);
    const cl_int numbers[] = {static_cast<cl_int>(widths[i]), static_cast<cl_int>(widths[i + 1]), i + 1 < LAYERS};
    for (cl_uint n = 0; n < 3; ++n) clSetKernelArg(dense, 4 + n, sizeof numbers[n], &numbers[n]);
    const std::size_t group[] = {16, 16};  // TILE in dense.cl
    const std::size_t global[] = {(widths[i + 1] + 15) / 16 * 16, ROWS};
    if (clEnqueueNDRangeKernel(queue, dense, 2, nullptr, global, group, 0, nullptr, nullptr) != CL_SUCCESS) {
      return "dense cannot be launched";
    }
  }
  return enqueue_softmax(queue, softmax, b->values[LAYERS]);
}

void end_network() {
  for (cl_kernel kernel : {dense, softmax}) {
    if (kernel) clReleaseKernel(kernel);
  }
}
