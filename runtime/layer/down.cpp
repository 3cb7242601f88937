#include "down.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace clbake::layer {
namespace {

cl_icd_dispatch functions;

template <typename Function>
struct Signature;
template <typename R, typename... A>
struct Signature<R(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <typename Function>
using ResultOf = typename Signature<Function>::Result;
template <typename Function, std::size_t I>
using Argument = std::tuple_element_t<I, typename Signature<Function>::Arguments>;

}  // namespace

const cl_icd_dispatch& down() { return functions; }

void set_down(const cl_icd_dispatch* table, std::size_t entries) {
  functions = {};
  std::memcpy(&functions, table, std::min(entries * sizeof(void*), sizeof functions));
}

}  // namespace clbake::layer

using namespace clbake::layer;

// Definitions of the functions that the runtime calls, by the number of their arguments.
#define ARGUMENT(name, i) Argument<decltype(name), i> a##i
#define FORWARD_1(name) \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0)) { return functions.name(a0); }
#define FORWARD_3(name)                                                                    \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2)) { \
    return functions.name(a0, a1, a2);                                                     \
  }
#define FORWARD_4(name)                                                                                       \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2), ARGUMENT(name, 3)) { \
    return functions.name(a0, a1, a2, a3);                                                                    \
  }
#define FORWARD_5(name)                                                                                     \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2), ARGUMENT(name, 3), \
                                ARGUMENT(name, 4)) {                                                        \
    return functions.name(a0, a1, a2, a3, a4);                                                              \
  }
#define FORWARD_6(name)                                                                                     \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2), ARGUMENT(name, 3), \
                                ARGUMENT(name, 4), ARGUMENT(name, 5)) {                                     \
    return functions.name(a0, a1, a2, a3, a4, a5);                                                          \
  }
#define FORWARD_7(name)                                                                                     \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2), ARGUMENT(name, 3), \
                                ARGUMENT(name, 4), ARGUMENT(name, 5), ARGUMENT(name, 6)) {                  \
    return functions.name(a0, a1, a2, a3, a4, a5, a6);                                                      \
  }
#define FORWARD_9(name)                                                                                     \
  ResultOf<decltype(name)> name(ARGUMENT(name, 0), ARGUMENT(name, 1), ARGUMENT(name, 2), ARGUMENT(name, 3), \
                                ARGUMENT(name, 4), ARGUMENT(name, 5), ARGUMENT(name, 6), ARGUMENT(name, 7), \
                                ARGUMENT(name, 8)) {                                                        \
    return functions.name(a0, a1, a2, a3, a4, a5, a6, a7, a8);                                              \
  }

FORWARD_6(clBuildProgram)
FORWARD_5(clCreateBuffer)
FORWARD_4(clCreateCommandQueue)
FORWARD_6(clCreateImage)
FORWARD_3(clCreateKernel)
FORWARD_7(clCreateProgramWithBinary)
FORWARD_5(clCreateProgramWithSource)
FORWARD_5(clCreateSubBuffer)
FORWARD_4(clEnqueueMarkerWithWaitList)
FORWARD_9(clEnqueueNDRangeKernel)
FORWARD_9(clEnqueueReadBuffer)
FORWARD_1(clFinish)
FORWARD_1(clFlush)
FORWARD_5(clGetCommandQueueInfo)
FORWARD_5(clGetContextInfo)
FORWARD_5(clGetDeviceInfo)
FORWARD_5(clGetEventInfo)
FORWARD_6(clGetKernelWorkGroupInfo)
FORWARD_5(clGetMemObjectInfo)
FORWARD_5(clGetPlatformInfo)
FORWARD_6(clGetProgramBuildInfo)
FORWARD_5(clGetProgramInfo)
FORWARD_1(clReleaseCommandQueue)
FORWARD_1(clReleaseContext)
FORWARD_1(clReleaseDevice)
FORWARD_1(clReleaseEvent)
FORWARD_1(clReleaseKernel)
FORWARD_1(clReleaseMemObject)
FORWARD_1(clReleaseProgram)
FORWARD_1(clRetainCommandQueue)
FORWARD_1(clRetainContext)
FORWARD_1(clRetainDevice)
FORWARD_1(clRetainEvent)
FORWARD_1(clRetainKernel)
FORWARD_1(clRetainMemObject)
FORWARD_1(clRetainProgram)
FORWARD_4(clSetKernelArg)
