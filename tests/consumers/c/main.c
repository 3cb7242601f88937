/* A project in plain C with a bundle inside: opens it in place and multiplies on the first device, for which the bundle
   has nothing: the runtime compiles from the bundle's source. Exit status 77: no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clbake/clbake.h>
#include <direct_clbake.h>

#include <stdio.h>

static int failed(const clbake_error* error) {
  printf("%s\n", error->message);
  return 1;
}

static cl_device_id first_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl_uint i;
  cl_device_id device = NULL;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return NULL;
  for (i = 0; i < count && i < 16 && !device; ++i) {
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) device = NULL;
  }
  return device;
}

static int multiply(clbake_library* library, cl_context context, cl_command_queue queue) {
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  float values[4] = {1, 2, 3, 4};
  cl_mem a = clCreateBuffer(context, flags, sizeof values, values, NULL);
  cl_mem c = clCreateBuffer(context, flags, sizeof values, values, NULL);
  clbake_problem problem;
  clbake_error error;
  clbake_problem_init(&problem, CLBAKE_SINGLE, 2, 2, 2);
  if (clbake_library_gemm(library, queue, &problem, 1.0, a, 0, a, 0, 0.0, c, 0, NULL, 0, NULL, NULL, &error) !=
      CLBAKE_OK) {
    return failed(&error);
  }
  clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL);
  printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  clReleaseMemObject(a);
  clReleaseMemObject(c);
  return values[0] == 7 && values[1] == 10 && values[2] == 15 && values[3] == 22 ? 0 : 1;
}

int main(void) {
  clbake_bundle* bundle = NULL;
  clbake_library* library = NULL;
  clbake_error error;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  int status;
  if (clbake_bundle_from_memory(direct_clbake, direct_clbake_size, &bundle, &error) != CLBAKE_OK) return failed(&error);
  device = first_device();
  if (!device) return 77;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  if (clbake_library_create(context, device, &bundle, 1, NULL, &library, &error) != CLBAKE_OK) return failed(&error);
  status = multiply(library, context, queue);
  clbake_library_release(library);
  clbake_bundle_release(bundle);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return status;
}
