// ending LIBRARY HOW: an application that loads the door, multiplies and ends in an unusual way. Prints "right" after
// each right product. 77: no device, or for `static` none of PoCL: OpenCL does not demand that a driver launches
// kernels that late, and Intel's CPU driver 2026.22 aborts the process.
//   unload   releases everything, unloads the library, loads it again
//   static   multiplies, and releases its context, in the destructor of a static object
//   exit     ends with exit() in another thread, at once after the first product
#include <clblast_c.h>

#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSize = 32;

struct Application {
  void* library = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem a = nullptr, b = nullptr, c = nullptr;
  bool multiplies_at_end = false;

  void open_device() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    device = nullptr;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) std::exit(77);
    for (cl_uint i = 0; i < count && !device; ++i)
      clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    if (!device) std::exit(77);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, device, 0, nullptr);
    std::vector<float> ones(kSize * kSize, 1);
    for (cl_mem* matrix : {&a, &b, &c}) {
      *matrix = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, ones.size() * sizeof(float), ones.data(), nullptr);
    }
  }

  bool open(const char* path) {
    open_device();
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) std::fprintf(stderr, "%s\n", dlerror());
    return library;
  }

  bool multiply() {
    using Gemm = decltype(&CLBlastSgemm);
    const auto gemm = reinterpret_cast<Gemm>(dlsym(library, "CLBlastSgemm"));
    if (!gemm || gemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, kSize, kSize, kSize, 1, a, 0,
                      kSize, b, 0, kSize, 0, c, 0, kSize, &queue, nullptr) != CLBlastSuccess) {
      return false;
    }
    std::vector<float> result(kSize * kSize);
    clEnqueueReadBuffer(queue, c, CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0, nullptr, nullptr);
    for (const float x : result) {
      if (x != kSize) return false;
    }
    std::printf("right\n");
    std::fflush(stdout);
    return true;
  }

  bool on_pocl() const {
    char version[256] = {};
    clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version - 1, version, nullptr);
    return std::strstr(version, "PoCL") || std::strstr(version, "pocl");
  }

  void release() {
    for (cl_mem matrix : {a, b, c}) clReleaseMemObject(matrix);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    context = nullptr;
  }

  ~Application() {
    if (!multiplies_at_end) return;
    if (!multiply()) std::_Exit(1);
    release();
  }
};

Application application;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  if (!application.open(argv[1]) || !application.multiply()) return 1;
  if (std::strcmp(argv[2], "unload") == 0) {
    application.release();
    dlclose(application.library);
    return application.open(argv[1]) && application.multiply() && dlclose(application.library) == 0 ? 0 : 1;
  }
  if (std::strcmp(argv[2], "static") == 0) {
    if (!application.on_pocl()) return 77;
    application.multiplies_at_end = true;
  }
  if (std::strcmp(argv[2], "exit") == 0) std::thread([] { std::exit(0); }).join();
  return 0;
}
