/* A program that knows nothing of clbake: unchanged [link|callback|ask]. Sums squares on every device of every platform
   that can compile, and prints each device's name and sum. Exit status 77: there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 256
#define CHECK(call)                                \
  do {                                             \
    cl_int outcome = (call);                       \
    if (outcome != CL_SUCCESS) {                   \
      fprintf(stderr, "%s: %d\n", #call, outcome); \
      exit(1);                                     \
    }                                              \
  } while (0)

static const char* const kSquare = "int square(int x) { return x * x; }\n";
static const char* const kSums =
    "int square(int x);\n"
    "kernel void squares(global int* to) { to[get_global_id(0)] = square((int)get_global_id(0) + OFFSET); }\n"
    "kernel void sums(global const int* from, global int* to, local int* part) {\n"
    "  int i = get_local_id(0);\n"
    "  part[i] = from[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (i == 0) {\n"
    "    int sum = 0;\n"
    "    for (int j = 0; j < (int)get_local_size(0); ++j) sum += part[j];\n"
    "    to[get_group_id(0)] = sum;\n"
    "  }\n"
    "}\n";
static const char* const kOptions = "-DOFFSET=1";

static void CL_CALLBACK built(cl_program program, void* data) { *(volatile cl_program*)data = program; }

static cl_program linked(cl_context context) {
  cl_int status;
  cl_program square = clCreateProgramWithSource(context, 1, (const char**)&kSquare, NULL, &status);
  cl_program sums = clCreateProgramWithSource(context, 1, (const char**)&kSums, NULL, &status);
  CHECK(clCompileProgram(square, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
  CHECK(clCompileProgram(sums, 0, NULL, kOptions, 0, NULL, NULL, NULL, NULL));
  cl_program parts[] = {square, sums};
  cl_program program = clLinkProgram(context, 0, NULL, "", 2, parts, NULL, NULL, &status);
  CHECK(status);
  CHECK(clReleaseProgram(square));
  CHECK(clReleaseProgram(sums));
  return program;
}

static cl_program plain(cl_context context, int callback) {
  cl_int status;
  const char* sources[] = {kSquare, kSums};
  cl_program program = clCreateProgramWithSource(context, 2, sources, NULL, &status);
  volatile cl_program heard = NULL;
  CHECK(status);
  CHECK(clBuildProgram(program, 0, NULL, kOptions, callback ? built : NULL, callback ? (void*)&heard : NULL));
  while (callback && heard != program) {
  }
  return program;
}

/* Questions of the program about itself; its binary makes it again, which has a binary, too. */
static void ask(cl_context context, cl_device_id device, cl_program program, cl_kernel kernel) {
  size_t size = 0, kernels = 0;
  cl_uint references = 0, arguments = 0;
  cl_int status;
  char text[256];
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char* binary = malloc(size);
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  cl_program again =
      clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char**)&binary, NULL, &status);
  CHECK(status);
  CHECK(clBuildProgram(again, 0, NULL, "", NULL, NULL));
  CHECK(clGetProgramInfo(again, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  CHECK(clReleaseProgram(again));
  free(binary);
  CHECK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL));
  CHECK(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL));
  CHECK(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
  printf("%zu kernels, %u references, %u arguments\n", kernels, references, arguments);
  CHECK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
  puts(text);
  CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, NULL));
  puts(text);
  CHECK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
  puts(text);
}

static void run(cl_device_id device, const char* how) {
  cl_int status;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  cl_program program = strcmp(how, "link") == 0 ? linked(context) : plain(context, strcmp(how, "callback") == 0);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  cl_kernel squares = clCreateKernel(program, "squares", &status);
  CHECK(status);
  cl_kernel sums = clCreateKernel(program, "sums", &status);
  CHECK(status);
  if (strcmp(how, "ask") == 0) ask(context, device, program, sums);
  CHECK(clReleaseProgram(program));
  cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_int), NULL, &status);
  cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS / 64 * sizeof(cl_int), NULL, &status);
  CHECK(clSetKernelArg(squares, 0, sizeof from, &from));
  CHECK(clSetKernelArg(sums, 0, sizeof from, &from));
  CHECK(clSetKernelArg(sums, 1, sizeof to, &to));
  CHECK(clSetKernelArg(sums, 2, 64 * sizeof(cl_int), NULL));
  size_t global = ITEMS, local = 64;
  CHECK(clEnqueueNDRangeKernel(queue, squares, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueNDRangeKernel(queue, sums, 1, NULL, &global, &local, 0, NULL, NULL));
  cl_int parts[ITEMS / 64], sum = 0;
  CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof parts, parts, 0, NULL, NULL));
  for (int i = 0; i < ITEMS / 64; ++i) sum += parts[i];
  char name[256];
  CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
  CHECK(clReleaseMemObject(from));
  CHECK(clReleaseMemObject(to));
  CHECK(clReleaseKernel(squares));
  CHECK(clReleaseKernel(sums));
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(context));
  printf("%s: %d\n", name, sum);
}

int main(int argc, char** argv) {
  cl_platform_id platforms[8];
  cl_uint platform_count = 0, devices = 0;
  if (clGetPlatformIDs(8, platforms, &platform_count) != CL_SUCCESS) return 77;
  for (cl_uint p = 0; p < platform_count && p < 8; ++p) {
    cl_device_id found[8];
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 8, found, &count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < count && d < 8; ++d, ++devices) run(found[d], argc > 1 ? argv[1] : "build");
  }
  return devices > 0 ? 0 : 77;
}
