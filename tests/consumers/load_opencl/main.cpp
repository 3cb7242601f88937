// consumer WAY LIBRARY: an application that links no OpenCL. It opens LIBRARY itself for its own calls, and multiplies
// with a libclbake that has OpenCL's functions by WAY: "table", the application's own; "library", LIBRARY by its path;
// "c", the same by the C API. Before that, libraries and tables that will not do are refused. Exit status 77: no
// OpenCL, or no device.
#define CL_TARGET_OPENCL_VERSION 120
#include <clbake/opencl/load.h>
#include <direct_clbake.h>
#include <clbake/clbake.hpp>
#include <clbake/opencl/load.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace {

void* opencl = nullptr;

template <typename Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(opencl, name));
}
#define CALL(name) function<decltype(name)>(#name)

[[noreturn]] void fail(const char* what, const std::string& why = {}) {
  std::printf("%s: %s\n", what, why.c_str());
  std::exit(1);
}

void require_failure(const clbake::Status& status, clbake::Code code, const char* text) {
  if (status.code() != code || status.message().find(text) == std::string::npos) fail(text, status.message());
}

cl_device_id first_device() {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl_device_id device = nullptr;
  if (CALL(clGetPlatformIDs)(16, platforms, &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count && i < 16 && !device; ++i) {
    if (CALL(clGetDeviceIDs)(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) device = nullptr;
  }
  return device;
}

// The application's table, without the function that `data` names.
clbake::OpenclFunction lookup(const char* name, void* data) {
  if (data && std::strcmp(name, static_cast<const char*>(data)) == 0) return nullptr;
  return reinterpret_cast<clbake::OpenclFunction>(dlsym(opencl, name));
}

void require_refusals(cl_device_id device) {
  using clbake::Code;
  require_failure(clbake::identify(device).status(), Code::opencl, "no OpenCL was opened");
  require_failure(clbake::load_opencl("/missing/libOpenCL.so"), Code::not_found, "/missing/libOpenCL.so");
  require_failure(clbake::load_opencl("libm.so.6"), Code::invalid_argument, "libm.so.6: clBuildProgram is missing");
  char without[] = "clCreateImage";
  require_failure(clbake::use_opencl(lookup, without), Code::invalid_argument, "clCreateImage is missing");
  require_failure(clbake::use_opencl(nullptr, nullptr), Code::invalid_argument, "lookup is null");
  require_failure(clbake::identify(device).status(), Code::opencl, "no OpenCL was opened");
}

void open(const std::string& way, const char* library) {
  clbake_error error = {};
  clbake::Status opened;
  if (way == "table") {
    opened = clbake::use_opencl(lookup, nullptr);
  } else if (way == "library") {
    opened = clbake::load_opencl(library);
  } else if (clbake_load_opencl("/missing/libOpenCL.so", &error) != CLBAKE_NOT_FOUND ||
             clbake_use_opencl(nullptr, nullptr, &error) != CLBAKE_INVALID_ARGUMENT ||
             clbake_load_opencl(library, &error) != CLBAKE_OK) {
    fail("C", error.message);
  }
  if (!opened) fail("not opened", opened.message());
  opened = clbake::load_opencl(library);  // the same functions
  if (!opened) fail("not opened again", opened.message());
  char without[] = "clWaitForEvents";
  require_failure(clbake::use_opencl(lookup, without), clbake::Code::invalid_argument, "in use already");
}

bool multiply(cl_device_id device) {
  const clbake::Result<clbake::Bundle> bundle = clbake::Bundle::from_memory({direct_clbake, direct_clbake_size});
  if (!bundle) fail("bundle", bundle.status().message());
  cl_context context = CALL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = CALL(clCreateCommandQueue)(context, device, 0, nullptr);
  float values[4] = {1, 2, 3, 4};
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem a = CALL(clCreateBuffer)(context, flags, sizeof values, values, nullptr);
  cl_mem c = CALL(clCreateBuffer)(context, flags, sizeof values, values, nullptr);
  {
    const clbake::Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle});
    if (!library) fail("library", library.status().message());
    const clbake::Problem problem = clbake::make_problem({clbake::Precision::single_precision}, 2, 2, 2);
    const clbake::Status status = library->gemm(queue, problem, 1.0, {a}, {a}, 0.0, {c});
    if (!status) fail("gemm", status.message());
    CALL(clEnqueueReadBuffer)(queue, c, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
  }
  CALL(clReleaseMemObject)(a);
  CALL(clReleaseMemObject)(c);
  CALL(clReleaseCommandQueue)(queue);
  CALL(clReleaseContext)(context);
  return values[0] == 7 && values[1] == 10 && values[2] == 15 && values[3] == 22;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  opencl = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (!opencl) std::printf("%s\n", dlerror());
  cl_device_id device = opencl ? first_device() : nullptr;
  if (!device) return 77;
  require_refusals(device);
  open(argv[1], argv[2]);
  return multiply(device) ? 0 : 1;
}
