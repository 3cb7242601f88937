/* unchanged [FOLDER]: a program that links CLBlast and knows nothing of clbake; for LD_PRELOAD. Goes to the folder
   first. 77: no device. */
#include <clblast_c.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 1 && chdir(argv[1]) != 0) return 1;
  enum { n = 64 };
  static float ones[n * n], c[n * n];
  cl_platform_id platforms[8];
  cl_uint count = 0;
  cl_device_id device = NULL;
  for (int i = 0; i < n * n; ++i) ones[i] = 1;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return 77;
  for (cl_uint i = 0; i < count && !device; ++i) clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  if (!device) return 77;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof ones, ones, NULL);
  cl_mem y = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof ones, ones, NULL);
  cl_event event = NULL;
  CLBlastStatusCode status = CLBlastSgemm(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeYes, n, n, n, 0.5f,
                                          x, 0, n, x, 0, n, 1, y, 0, n, &queue, &event);
  /* Doubles y. A product into its own operand is not for clbake; what it adds is too small to change y. */
  if (status == CLBlastSuccess)
    status = CLBlastSgemm(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeYes, n, n, n, 1e-30f, y, 0, n, x,
                          0, n, 2, y, 0, n, &queue, NULL);
  if (status == CLBlastSuccess) status = CLBlastClearCache();
  clWaitForEvents(1, &event);
  clEnqueueReadBuffer(queue, y, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL);
  printf("status %d: %g %g\n", (int)status, (double)c[0], (double)c[n * n - 1]);
  clReleaseEvent(event);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return status == CLBlastSuccess && c[0] == n + 2 && c[n * n - 1] == n + 2 ? 0 : 1;
}
