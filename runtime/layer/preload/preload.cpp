// libclbake-preload.so, for loaders without layers: loaded before the program's libOpenCL, it has OpenCL's functions,
// and puts libclbake-layer.so, which is beside it, between the program and the functions of that libOpenCL.
#include "forward.hpp"

#include <dlfcn.h>
#include <string>

namespace {

// clang-format off
#define CLBAKE_FUNCTIONS(X) \
  X(3, clGetPlatformIDs) X(5, clGetPlatformInfo) X(5, clGetDeviceIDs) X(5, clGetDeviceInfo) X(6, clCreateContext) \
  X(5, clCreateContextFromType) X(1, clRetainContext) X(1, clReleaseContext) X(5, clGetContextInfo) \
  X(4, clCreateCommandQueue) X(1, clRetainCommandQueue) X(1, clReleaseCommandQueue) X(5, clGetCommandQueueInfo) \
  X(4, clSetCommandQueueProperty) X(5, clCreateBuffer) X(8, clCreateImage2D) X(10, clCreateImage3D) \
  X(1, clRetainMemObject) X(1, clReleaseMemObject) X(6, clGetSupportedImageFormats) X(5, clGetMemObjectInfo) \
  X(5, clGetImageInfo) X(5, clCreateSampler) X(1, clRetainSampler) X(1, clReleaseSampler) X(5, clGetSamplerInfo) \
  X(5, clCreateProgramWithSource) X(7, clCreateProgramWithBinary) X(1, clRetainProgram) X(1, clReleaseProgram) \
  X(6, clBuildProgram) X(0, clUnloadCompiler) X(5, clGetProgramInfo) X(6, clGetProgramBuildInfo) \
  X(3, clCreateKernel) X(4, clCreateKernelsInProgram) X(1, clRetainKernel) X(1, clReleaseKernel) \
  X(4, clSetKernelArg) X(5, clGetKernelInfo) X(6, clGetKernelWorkGroupInfo) X(2, clWaitForEvents) \
  X(5, clGetEventInfo) X(1, clRetainEvent) X(1, clReleaseEvent) X(5, clGetEventProfilingInfo) X(1, clFlush) \
  X(1, clFinish) X(9, clEnqueueReadBuffer) X(9, clEnqueueWriteBuffer) X(9, clEnqueueCopyBuffer) \
  X(11, clEnqueueReadImage) X(11, clEnqueueWriteImage) X(9, clEnqueueCopyImage) X(9, clEnqueueCopyImageToBuffer) \
  X(9, clEnqueueCopyBufferToImage) X(10, clEnqueueMapBuffer) X(12, clEnqueueMapImage) X(6, clEnqueueUnmapMemObject) \
  X(9, clEnqueueNDRangeKernel) X(5, clEnqueueTask) X(10, clEnqueueNativeKernel) X(2, clEnqueueMarker) \
  X(3, clEnqueueWaitForEvents) X(1, clEnqueueBarrier) X(1, clGetExtensionFunctionAddress) X(4, clSetEventCallback) \
  X(5, clCreateSubBuffer) X(3, clSetMemObjectDestructorCallback) X(2, clCreateUserEvent) X(2, clSetUserEventStatus) \
  X(14, clEnqueueReadBufferRect) X(14, clEnqueueWriteBufferRect) X(13, clEnqueueCopyBufferRect) \
  X(5, clCreateSubDevices) X(1, clRetainDevice) X(1, clReleaseDevice) X(6, clCreateImage) \
  X(5, clCreateProgramWithBuiltInKernels) X(9, clCompileProgram) X(9, clLinkProgram) X(1, clUnloadPlatformCompiler) \
  X(6, clGetKernelArgInfo) X(9, clEnqueueFillBuffer) X(8, clEnqueueFillImage) X(7, clEnqueueMigrateMemObjects) \
  X(4, clEnqueueMarkerWithWaitList) X(4, clEnqueueBarrierWithWaitList) \
  X(2, clGetExtensionFunctionAddressForPlatform) X(4, clCreateCommandQueueWithProperties) X(6, clCreatePipe) \
  X(5, clGetPipeInfo) X(4, clSVMAlloc) X(2, clSVMFree) X(8, clEnqueueSVMFree) X(8, clEnqueueSVMMemcpy) \
  X(8, clEnqueueSVMMemFill) X(8, clEnqueueSVMMap) X(5, clEnqueueSVMUnmap) X(3, clCreateSamplerWithProperties) \
  X(3, clSetKernelArgSVMPointer) X(4, clSetKernelExecInfo) X(2, clCloneKernel) X(4, clCreateProgramWithIL) \
  X(8, clEnqueueSVMMigrateMem) X(3, clGetDeviceAndHostTimer) X(2, clGetHostTimer) X(8, clGetKernelSubGroupInfo) \
  X(3, clSetDefaultDeviceCommandQueue) X(3, clSetProgramReleaseCallback) X(4, clSetProgramSpecializationConstant) \
  X(6, clCreateBufferWithProperties) X(7, clCreateImageWithProperties) X(3, clSetContextDestructorCallback)
// clang-format on

// The libOpenCL that is linked; else one that is loaded for itself, as modules of Python's link theirs out of sight.
void* libopencl() {
  return dlsym(RTLD_NEXT, "clGetPlatformIDs") ? RTLD_NEXT : dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
}

// Null where that libOpenCL has no such function.
cl_icd_dispatch next_functions() {
  cl_icd_dispatch table = {};
  void* const library = libopencl();
  if (!library) return table;  // null would be all libraries, with this one
#define CLBAKE_NEXT(n, name) table.name = reinterpret_cast<decltype(table.name)>(dlsym(library, #name));
  CLBAKE_FUNCTIONS(CLBAKE_NEXT)
#undef CLBAKE_NEXT
  return table;
}

std::string beside_this(const char* file) {
  static const char here = 0;
  Dl_info info = {};
  if (dladdr(&here, &info) == 0 || !info.dli_fname) return file;
  const std::string own = info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + file;
}

// The layer's functions, or those of libOpenCL where there is no layer. Both need no end.
const cl_icd_dispatch& functions() {
  static const cl_icd_dispatch below = next_functions();
  static const cl_icd_dispatch* const table = [] {
    const cl_icd_dispatch* made = &below;
    void* const layer = dlopen(beside_this("libclbake-layer.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const init = layer ? dlsym(layer, "clInitLayer") : nullptr;
    cl_uint entries = sizeof below / sizeof(void*);
    if (init) static_cast<void>(reinterpret_cast<pfn_clInitLayer>(init)(entries, &below, &entries, &made));
    return made;
  }();
  return *table;
}

}  // namespace

#pragma GCC visibility push(default)
#define CLBAKE_EXPORTED(n, name) CLBAKE_FORWARD(n, name, functions())
CLBAKE_FUNCTIONS(CLBAKE_EXPORTED)
#pragma GCC visibility pop
