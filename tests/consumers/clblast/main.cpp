// A program written for CLBlast that links the door. 77: no device.
#include <clblast.h>

#include <clbake/clblast_door.h>

#include <cstdio>
#include <vector>

int main() {
  if (clbake_clblast_use_bundle("/missing/gemm.clbake") == 0) return 1;
  cl_platform_id platforms[8];
  cl_uint count = 0;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return 77;
  for (cl_uint i = 0; i < count && !device; ++i) clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  if (!device) return 77;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  std::vector<float> values(16 * 16, 1);
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float), values.data(), nullptr);
  cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, values.size() * sizeof(float), nullptr, nullptr);
  const auto no = clblast::Transpose::kNo;
  const clblast::StatusCode status =
      clblast::Gemm<float>(clblast::Layout::kRowMajor, no, no, 16, 16, 16, 1, a, 0, 16, a, 0, 16, 0, c, 0, 16, &queue);
  clEnqueueReadBuffer(queue, c, CL_TRUE, 0, values.size() * sizeof(float), values.data(), 0, nullptr, nullptr);
  std::printf("status %d: %g\n", static_cast<int>(status), static_cast<double>(values[0]));
  clReleaseMemObject(a);
  clReleaseMemObject(c);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return status == clblast::StatusCode::kSuccess && values[0] == 16 ? 0 : 1;
}
