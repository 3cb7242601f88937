// Buffers over shared virtual memory. OpenCL has no query of a pointer; a buffer says whether its memory is shared.
#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

namespace clbake {

Result<cl_mem> svm_buffer(cl_context context, void* memory, std::size_t bytes) {
  if (!memory) return Status(Code::invalid_argument, "svm_buffer: the pointer is null");
  constexpr cl_mem_info uses_svm_pointer = 0x1109;  // CL_MEM_USES_SVM_POINTER, of OpenCL 2.0
  cl_int error = CL_SUCCESS;
  cl::Memory buffer(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &error));
  error = error_of(buffer, error);
  if (error != CL_SUCCESS) return opencl_status("clCreateBuffer", error);
  cl_bool shared = CL_FALSE;
  error = clGetMemObjectInfo(buffer(), uses_svm_pointer, sizeof shared, &shared, nullptr);
  if (error != CL_SUCCESS) return opencl_status("clGetMemObjectInfo(CL_MEM_USES_SVM_POINTER)", error);
  if (!shared) return Status(Code::invalid_argument, "svm_buffer: the pointer is none that clSVMAlloc returned");
  clRetainMemObject(buffer());
  return buffer();
}

}  // namespace clbake
