#include "down.hpp"

#include "forward.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::layer {
namespace {

cl_icd_dispatch functions;

}  // namespace

const cl_icd_dispatch& down() { return functions; }

void set_down(const cl_icd_dispatch* table, std::size_t entries) {
  functions = {};
  std::memcpy(&functions, table, std::min(entries * sizeof(void*), sizeof functions));
}

}  // namespace clbake::layer

// The functions that the runtime calls.
#define CLBAKE_DOWN(n, name) CLBAKE_FORWARD(n, name, clbake::layer::down())
CLBAKE_DOWN(6, clBuildProgram)
CLBAKE_DOWN(9, clCompileProgram)
CLBAKE_DOWN(5, clCreateBuffer)
CLBAKE_DOWN(4, clCreateCommandQueue)
CLBAKE_DOWN(6, clCreateImage)
CLBAKE_DOWN(3, clCreateKernel)
CLBAKE_DOWN(7, clCreateProgramWithBinary)
CLBAKE_DOWN(4, clCreateProgramWithIL)
CLBAKE_DOWN(5, clCreateProgramWithSource)
CLBAKE_DOWN(5, clCreateSubBuffer)
CLBAKE_DOWN(4, clEnqueueMarkerWithWaitList)
CLBAKE_DOWN(9, clEnqueueNDRangeKernel)
CLBAKE_DOWN(9, clEnqueueReadBuffer)
CLBAKE_DOWN(1, clFinish)
CLBAKE_DOWN(1, clFlush)
CLBAKE_DOWN(5, clGetCommandQueueInfo)
CLBAKE_DOWN(5, clGetContextInfo)
CLBAKE_DOWN(5, clGetDeviceInfo)
CLBAKE_DOWN(5, clGetEventInfo)
CLBAKE_DOWN(6, clGetKernelWorkGroupInfo)
CLBAKE_DOWN(5, clGetMemObjectInfo)
CLBAKE_DOWN(5, clGetPlatformInfo)
CLBAKE_DOWN(6, clGetProgramBuildInfo)
CLBAKE_DOWN(5, clGetProgramInfo)
CLBAKE_DOWN(9, clLinkProgram)
CLBAKE_DOWN(1, clReleaseCommandQueue)
CLBAKE_DOWN(1, clReleaseContext)
CLBAKE_DOWN(1, clReleaseDevice)
CLBAKE_DOWN(1, clReleaseEvent)
CLBAKE_DOWN(1, clReleaseKernel)
CLBAKE_DOWN(1, clReleaseMemObject)
CLBAKE_DOWN(1, clReleaseProgram)
CLBAKE_DOWN(1, clRetainCommandQueue)
CLBAKE_DOWN(1, clRetainContext)
CLBAKE_DOWN(1, clRetainDevice)
CLBAKE_DOWN(1, clRetainEvent)
CLBAKE_DOWN(1, clRetainKernel)
CLBAKE_DOWN(1, clRetainMemObject)
CLBAKE_DOWN(1, clRetainProgram)
CLBAKE_DOWN(4, clSetKernelArg)
