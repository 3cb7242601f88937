// The names of OpenCL's functions with the number of their parameters, for X(number, name).
#pragma once

// clang-format off

// The functions of OpenCL 1.2 that the runtime calls.
#define CLBAKE_RUNTIME_FUNCTIONS(X) \
  X(6, clBuildProgram) X(9, clCompileProgram) X(5, clCreateBuffer) X(4, clCreateCommandQueue) X(6, clCreateImage) \
  X(3, clCreateKernel) X(7, clCreateProgramWithBinary) X(5, clCreateProgramWithSource) X(5, clCreateSubBuffer) \
  X(4, clEnqueueMarkerWithWaitList) X(9, clEnqueueNDRangeKernel) X(9, clEnqueueReadBuffer) X(1, clFinish) \
  X(1, clFlush) X(5, clGetCommandQueueInfo) X(5, clGetContextInfo) X(5, clGetDeviceInfo) X(5, clGetEventInfo) \
  X(6, clGetKernelWorkGroupInfo) X(5, clGetMemObjectInfo) X(5, clGetPlatformInfo) X(6, clGetProgramBuildInfo) \
  X(5, clGetProgramInfo) X(9, clLinkProgram) X(1, clReleaseCommandQueue) X(1, clReleaseContext) \
  X(1, clReleaseDevice) X(1, clReleaseEvent) X(1, clReleaseKernel) X(1, clReleaseMemObject) X(1, clReleaseProgram) \
  X(1, clRetainCommandQueue) X(1, clRetainContext) X(1, clRetainDevice) X(1, clRetainEvent) X(1, clRetainKernel) \
  X(1, clRetainMemObject) X(1, clRetainProgram) X(4, clSetKernelArg)

// Besides, what it calls where there is one, and what the builder and the tools call.
#define CLBAKE_MORE_FUNCTIONS(X) \
  X(4, clCreateProgramWithIL) X(2, clGetExtensionFunctionAddressForPlatform) X(3, clGetPlatformIDs) \
  X(5, clGetDeviceIDs) X(6, clCreateContext) \
  X(4, clCreateKernelsInProgram) X(5, clCreateSampler) X(11, clEnqueueReadImage) X(9, clEnqueueWriteBuffer) \
  X(11, clEnqueueWriteImage) X(6, clGetKernelArgInfo) X(5, clGetKernelInfo) X(1, clReleaseSampler) \
  X(2, clWaitForEvents) X(3, clSetKernelArgSVMPointer)

// All others of OpenCL 3.0.
#define CLBAKE_OTHER_FUNCTIONS(X) \
  X(5, clCreateContextFromType) X(4, clSetCommandQueueProperty) X(8, clCreateImage2D) X(10, clCreateImage3D) \
  X(6, clGetSupportedImageFormats) X(5, clGetImageInfo) X(1, clRetainSampler) X(5, clGetSamplerInfo) \
  X(0, clUnloadCompiler) X(5, clGetEventProfilingInfo) X(9, clEnqueueCopyBuffer) X(9, clEnqueueCopyImage) \
  X(9, clEnqueueCopyImageToBuffer) X(9, clEnqueueCopyBufferToImage) X(10, clEnqueueMapBuffer) \
  X(12, clEnqueueMapImage) X(6, clEnqueueUnmapMemObject) X(5, clEnqueueTask) X(10, clEnqueueNativeKernel) \
  X(2, clEnqueueMarker) X(3, clEnqueueWaitForEvents) X(1, clEnqueueBarrier) X(1, clGetExtensionFunctionAddress) \
  X(4, clSetEventCallback) X(3, clSetMemObjectDestructorCallback) X(2, clCreateUserEvent) \
  X(2, clSetUserEventStatus) X(14, clEnqueueReadBufferRect) X(14, clEnqueueWriteBufferRect) \
  X(13, clEnqueueCopyBufferRect) X(5, clCreateSubDevices) X(5, clCreateProgramWithBuiltInKernels) \
  X(1, clUnloadPlatformCompiler) X(9, clEnqueueFillBuffer) X(8, clEnqueueFillImage) \
  X(7, clEnqueueMigrateMemObjects) X(4, clEnqueueBarrierWithWaitList) \
  X(4, clCreateCommandQueueWithProperties) X(6, clCreatePipe) \
  X(5, clGetPipeInfo) X(4, clSVMAlloc) X(2, clSVMFree) X(8, clEnqueueSVMFree) X(8, clEnqueueSVMMemcpy) \
  X(8, clEnqueueSVMMemFill) X(8, clEnqueueSVMMap) X(5, clEnqueueSVMUnmap) X(3, clCreateSamplerWithProperties) \
  X(4, clSetKernelExecInfo) X(2, clCloneKernel) X(8, clEnqueueSVMMigrateMem) \
  X(3, clGetDeviceAndHostTimer) X(2, clGetHostTimer) X(8, clGetKernelSubGroupInfo) \
  X(3, clSetDefaultDeviceCommandQueue) X(3, clSetProgramReleaseCallback) X(4, clSetProgramSpecializationConstant) \
  X(6, clCreateBufferWithProperties) X(7, clCreateImageWithProperties) X(3, clSetContextDestructorCallback)

// clang-format on
