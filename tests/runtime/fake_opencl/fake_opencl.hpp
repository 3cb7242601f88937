// An OpenCL driver in host memory for tests of the runtime: one platform with two devices. Its cl* functions stand in
// an object library, so a test executable that links it never reaches the system's OpenCL (no_real_opencl.sh checks).
//
// A program is "compiled" by reading the macros of its build options (PRECISION, TRANS_A, SPLIT_K ...); its kernels are
// those of kernels/KERNELS.md, computed by plain loops in double precision. A source that begins with `#error` does not
// build; with "wgmma." in it, it leaves PTX that builds once its target has the suffix, as on NVIDIA's. Buffers begin
// as NaN. A binary says what was compiled for which device, and no other bytes are taken.
//
// As in PoCL, a kernel is a reference to its program, which is not built again meanwhile. A linked program has the
// kernels of its last part. A program of a binary tells neither options nor its kernels' arguments.
//
// The platform's name is that in the environment variable FAKE_OPENCL_PLATFORM, if there is one.
//
// To let a thread sanitizer see what the library under test forgets, calls share no lock: counters are relaxed, and a
// command runs in the thread that enqueues it, ordered with others only by its queue (in order) and its wait list.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fake {

// Every function that the driver has.
// clang-format off
#define FAKE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clRetainDevice) \
  X(clReleaseDevice) \
  X(clCreateContext) X(clRetainContext) X(clReleaseContext) X(clGetContextInfo) \
  X(clCreateCommandQueue) X(clRetainCommandQueue) X(clReleaseCommandQueue) \
  X(clGetCommandQueueInfo) X(clFlush) X(clFinish) \
  X(clCreateBuffer) X(clCreateSubBuffer) X(clCreateImage) X(clRetainMemObject) X(clReleaseMemObject) \
  X(clGetMemObjectInfo) \
  X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clRetainProgram) X(clReleaseProgram) \
  X(clBuildProgram) X(clGetProgramInfo) X(clGetProgramBuildInfo) \
  X(clCreateKernel) X(clRetainKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo) \
  X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) \
  X(clEnqueueMarkerWithWaitList) \
  X(clCreateUserEvent) X(clSetUserEventStatus) X(clSetEventCallback) X(clWaitForEvents) X(clRetainEvent) \
  X(clReleaseEvent) X(clGetEventInfo) \
  X(clCreateProgramWithIL) X(clCompileProgram) X(clLinkProgram) X(clCreateKernelsInProgram) X(clCloneKernel) \
  X(clGetKernelInfo) X(clGetKernelArgInfo)
// clang-format on

#define FAKE_OPENCL_ENUMERATOR(function) function,
enum class Function { FAKE_OPENCL_FUNCTIONS(FAKE_OPENCL_ENUMERATOR) count };
#undef FAKE_OPENCL_ENUMERATOR

// "clCreateBuffer". Never null.
const char* name(Function function);

// Kinds of objects with a reference count. The devices are never freed: alive(Kind::device) counts what was retained
// more often than released.
enum class Kind { device, context, queue, memory, program, kernel, event, count };

// The driver as at the start of the process: all objects are freed, whoever holds them, nothing is counted, no fault,
// no hook. For the start of a test, while no other thread calls the driver.
void reset();

// ---- What happened. Any thread. ----

// Calls since the last reset or forget_calls().
std::size_t calls();
std::size_t calls(Function function);
std::size_t compilations();  // builds for a device that were not of a binary
void forget_calls();

// Objects that have references left.
int alive(Kind kind);
// "2 kernel, 1 event"; empty when only the devices are alive.
std::string leaks();

// Errors of the callers, one line each: use after release, more releases than references, accesses out of bounds ...
std::vector<std::string> complaints();

// ---- Faults and hooks. While no other thread calls the driver. ----

// From now on, the call number `nth` (0: the next one) of `function`, or of all functions (Function::count), does
// nothing and returns `error`; `nth` = kEvery: all of them do. But clRetain* and clRelease* do their work first:
// callers cannot react to their errors, and the counts must stay right.
constexpr std::size_t kEvery = static_cast<std::size_t>(-1);
void fail(Function function, std::size_t nth, cl_int error);
// As an `error`: the call lies. It reports success and does nothing: clCreate* gives a null object, clBuildProgram
// builds nothing, clEnqueue* does its work and gives a null event. Other functions tell the truth.
constexpr cl_int kLie = 1;
void fail_nothing();
// The function whose call failed on demand latest; Function::count when none did.
Function failed();

// Called inside every call, before its work, in the calling thread and without any lock of the driver; it may call the
// driver and the library itself.
void set_hook(std::function<void(Function)> hook);

// Called with the bytes of each source and binary that a caller gives, in its thread, whether the driver takes them or
// not.
void set_witness(std::function<void(const std::string& bytes)> witness);
void show(const std::string& bytes);  // for the driver itself

// A build from source takes that long.
void set_build_time(unsigned milliseconds);

// true: clBuildProgram and the like report to their callback in a thread, which finish_reports() waits for.
void set_reports_in_threads(bool in_threads);
void finish_reports();

// true: commands wait until somebody waits for them (clFinish, clWaitForEvents, a blocking read), and then the latest
// one that may run comes first, so that a missing event in a wait list gives a wrong result.
void set_lazy(bool lazy);

// true: the two devices tell the same of themselves, and take the same binaries.
void set_twins(bool twins);

// true: a command that does not run, as an event that it waits for failed, reports success, so that what waits for that
// command runs. Intel's CPU driver 2026.22 does so.
void set_failures_end(bool end);

// True when the calling thread is inside a call to the driver.
bool inside();

// The bytes that clGetProgramInfo gives for a program of these build options on device 0 or 1.
std::vector<unsigned char> binary_for(int device, const std::string& build_options);

}  // namespace fake
