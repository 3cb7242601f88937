// The same with OpenCL alone: kernels in OpenCL C, which the driver compiles.
#include "network.hpp"

#include <fstream>
#include <sstream>

namespace {

class WithOpenCl : public Network {
 public:
  WithOpenCl(cl_command_queue queue, cl_kernel dense, cl_kernel softmax)
      : queue_(queue), dense_(dense), softmax_(softmax) {}
  ~WithOpenCl() override {
    clReleaseKernel(dense_);
    clReleaseKernel(softmax_);
  }

  std::string enqueue(const Buffers& buffers) override {
    cl_int launched = CL_SUCCESS;
    for (std::size_t i = 0; i < kLayers && launched == CL_SUCCESS; ++i) {
      const cl_int inputs = kWidths[i], outputs = kWidths[i + 1], relu = i + 1 < kLayers;
      const cl_mem memory[] = {buffers.values[i], buffers.weights[i], buffers.biases[i], buffers.values[i + 1]};
      for (cl_uint m = 0; m < 4; ++m) clSetKernelArg(dense_, m, sizeof memory[m], &memory[m]);
      const cl_int numbers[] = {inputs, outputs, relu};
      for (cl_uint n = 0; n < 3; ++n) clSetKernelArg(dense_, 4 + n, sizeof numbers[n], &numbers[n]);
      const std::size_t group[] = {16, 16};  // TILE in dense.cl
      const std::size_t global[] = {(kWidths[i + 1] + 15) / 16 * 16, kRows};
      launched = clEnqueueNDRangeKernel(queue_, dense_, 2, nullptr, global, group, 0, nullptr, nullptr);
    }
    if (launched == CL_SUCCESS) launched = enqueue_softmax(queue_, softmax_, buffers.values.back());
    return launched == CL_SUCCESS ? "" : "OpenCL's error " + std::to_string(launched);
  }

 private:
  cl_command_queue queue_;
  cl_kernel dense_, softmax_;
};

}  // namespace

const char* const network_name = "OpenCL";

std::unique_ptr<Network> make_network(cl_context context, cl_device_id device, cl_command_queue queue,
                                      std::string& error) {
  std::ostringstream text;
  for (const char* file : {SOURCES "/dense.cl", SOURCES "/softmax.cl"}) text << std::ifstream(file).rdbuf() << '\n';
  const std::string source = text.str();
  const char* characters = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &characters, nullptr, nullptr);
  if (!program || clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
    return error = "dense.cl and softmax.cl do not compile", nullptr;
  }
  cl_kernel dense = clCreateKernel(program, "dense", nullptr);
  cl_kernel softmax = clCreateKernel(program, "softmax", nullptr);
  clReleaseProgram(program);
  if (!dense || !softmax) return error = "a kernel is missing", nullptr;
  return std::make_unique<WithOpenCl>(queue, dense, softmax);
}
