/* A small program on plain OpenCL, to try clbake with: it builds one program from source, launches its two kernels, and
 * prints a sum, how long the first launch and a later one took, and what a launch costs on the host.
 *
 *     cc launches.c -o launches -lOpenCL && ./launches
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 4096, BATCHES = 101, BATCH = 100 };

static const char* const kSource =
    "kernel void square(global float* x) { const size_t i = get_global_id(0); x[i] = x[i] * x[i] + BIAS; }\n"
    "kernel void sums(global const float* x, global float* sum, local float* part) {\n"
    "  const size_t l = get_local_id(0);\n"
    "  part[l] = x[get_global_id(0)];\n"
    "  for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < half_size) part[l] += part[l + half_size];\n"
    "  }\n"
    "  if (l == 0) sum[get_group_id(0)] = part[0];\n"
    "}\n";

static void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "launches: %s: OpenCL error %d\n", what, code);
  exit(1);
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* From the call to the end of one launch, in microseconds. */
static double launch(cl_command_queue queue, cl_kernel kernel, const size_t* local) {
  const size_t global = N;
  const double start = microseconds();
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  return microseconds() - start;
}

/* Cost of setting an argument and enqueuing, on the host: the median of batches, in nanoseconds. */
static double host_cost(cl_command_queue queue, cl_kernel kernel, cl_mem x) {
  static double batches[BATCHES];
  const size_t one = 1;
  for (int i = 0; i < BATCHES; ++i) {
    const double start = microseconds();
    for (int j = 0; j < BATCH; ++j) {
      clSetKernelArg(kernel, 0, sizeof x, &x);
      clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    }
    batches[i] = (microseconds() - start) * 1e3 / BATCH;
    check(clFinish(queue), "clFinish");
  }
  qsort(batches, BATCHES, sizeof batches[0], compare);
  return batches[BATCHES / 2];
}

static cl_device_id first_device(void) {
  cl_platform_id platform;
  cl_device_id device;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  return device;
}

int main(void) {
  const size_t local = 64;
  cl_int code;
  cl_device_id device = first_device();
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");

  static float values[N], sums[N / 64];
  for (int i = 0; i < N; ++i) values[i] = (float)(i % 8);
  cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &code);
  check(code, "clCreateBuffer");
  cl_mem sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof sums, NULL, &code);
  check(code, "clCreateBuffer");

  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "-D BIAS=0.5f", NULL, NULL), "clBuildProgram");
  cl_kernel square = clCreateKernel(program, "square", &code);
  check(code, "clCreateKernel");
  cl_kernel add = clCreateKernel(program, "sums", &code);
  check(code, "clCreateKernel");

  check(clSetKernelArg(square, 0, sizeof x, &x), "clSetKernelArg");
  const double first = launch(queue, square, NULL); /* OpenCL chooses the local size */
  check(clSetKernelArg(add, 0, sizeof x, &x), "clSetKernelArg");
  check(clSetKernelArg(add, 1, sizeof sum, &sum), "clSetKernelArg");
  check(clSetKernelArg(add, 2, local * sizeof(float), NULL), "clSetKernelArg");
  launch(queue, add, &local);
  const double later = launch(queue, add, &local);
  check(clEnqueueReadBuffer(queue, sum, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL), "clEnqueueReadBuffer");

  double total = 0;
  for (int i = 0; i < N / 64; ++i) total += sums[i];
  printf("sum %.1f\n", total);
  printf("first launch %.0f us, later %.0f us, on the host %.0f ns\n", first, later, host_cost(queue, square, x));

  clReleaseKernel(add);
  clReleaseKernel(square);
  clReleaseProgram(program);
  clReleaseMemObject(sum);
  clReleaseMemObject(x);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
