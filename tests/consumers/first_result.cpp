// first_result [OVERLAY]: the first product of 512 x 512 x 512 of a program with its bundle inside; prints what served
// it and how long it took from opening the bundle to the result on the host. Exit status 77: no OpenCL device.
#include <direct_clbake.h>
#include <clbake/clbake.hpp>

#include <chrono>
#include <cstdio>
#include <vector>

namespace {

int fail(const char* what, const clbake::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t n = 512, bytes = n * n * sizeof(float);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 77;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 77;
  cl_int error = CL_SUCCESS;
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  std::vector<float> ones(n * n, 1.0F), c(n * n);
  const cl_mem_flags copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  const cl_mem a = clCreateBuffer(context, copied, bytes, ones.data(), &error);
  const cl_mem result = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);

  const auto start = std::chrono::steady_clock::now();
  const auto bundle = clbake::Bundle::from_memory({direct_clbake, direct_clbake_size});
  if (!bundle) return fail("bundle", bundle.status());
  clbake::Options options;
  if (argc > 1) {
    const auto overlay = clbake::open_overlay({argv[1], clbake::OverlayMode::read_write});
    if (!overlay) return fail("overlay", overlay.status());
    options.overlay = *overlay;
  }
  const auto library = clbake::Library::create(context, device, {*bundle}, options);
  if (!library) return fail("library", library.status());
  clbake::Problem problem;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = n;
  const clbake::Status done = library->gemm(queue, problem, 1.0, {a}, {a}, 0.0, {result});
  if (!done) return fail("gemm", done);
  clEnqueueReadBuffer(queue, result, CL_TRUE, 0, bytes, c.data(), 0, nullptr, nullptr);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  for (const float value : c) {
    if (value != static_cast<float>(n)) return std::fprintf(stderr, "wrong result\n"), 1;
  }
  const auto explained = library->explain(problem);
  std::printf("%s, %.2f ms\n", explained ? clbake::name(explained->origin) : "?", took.count());
  library->finish();
  return 0;
}
