// An application with a bundle inside: opens it in place, prints how many targets it has, and multiplies on the first
// device, for which the bundle has nothing: the runtime compiles from the bundle's source. Exit status 77: no device.
#include <direct_clbake.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <clbake/clbake.hpp>

#include <cstdint>
#include <cstdio>

namespace {

int failed(const clbake::Status& status) {
  std::printf("%s\n", status.message().c_str());
  return 1;
}

cl_device_id first_device() {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count && i < 16 && !device; ++i) {
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) device = nullptr;
  }
  return device;
}

int multiply(const clbake::Bundle& bundle, cl_device_id device) {
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  float values[4] = {1, 2, 3, 4};
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem a = clCreateBuffer(context, flags, sizeof values, values, nullptr);
  cl_mem c = clCreateBuffer(context, flags, sizeof values, values, nullptr);

  const clbake::Result<clbake::Library> library = clbake::Library::create(context, device, {bundle});
  if (!library) return failed(library.status());
  clbake::Problem problem;
  problem.m = problem.n = problem.k = 2;
  problem.lda = problem.ldb = problem.ldc = 2;
  clbake::Result<clbake::Gemm> gemm = library->prepare(problem);
  if (!gemm) return failed(gemm.status());
  const clbake::Result<clbake::LoadedProgram> own = library->program("none");
  if (own) return own->get() && own->explanation().variant.empty() ? 3 : 4;  // there is none; links what it takes
  if (own.status().code() != clbake::Code::no_program) return failed(own.status());
  const clbake::Status status = gemm->enqueue(queue, 1.0, {a}, {a}, 0.0, {c});
  if (!status) return failed(status);
  clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
  std::printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);

  clReleaseMemObject(a);
  clReleaseMemObject(c);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return values[0] == 7 && values[1] == 10 && values[2] == 15 && values[3] == 22 ? 0 : 1;
}

}  // namespace

int main() {
  if (reinterpret_cast<std::uintptr_t>(direct_clbake) % 64 != 0) return 2;
  const clbake::Result<clbake::Bundle> bundle = clbake::Bundle::from_memory({direct_clbake, direct_clbake_size});
  if (!bundle) return failed(bundle.status());
  std::printf("%u targets\n", bundle->target_count());
  cl_device_id device = first_device();
  return device ? multiply(*bundle, device) : 77;
}
