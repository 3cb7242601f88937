/* The perceptron in C, as perceptron.cpp and network_clbake.cpp are in C++: three products with a bias and ReLU, and a
 * softmax of the application's own, from a bundle inside of the program.
 *
 *   perceptron_c [DEVICE]     a part of the device's or its platform's name; default: the first device
 *
 * Prints the milliseconds from an existing context until the first probabilities are on the host, and checks them
 * against double precision. Exit status 1 when they are wrong, 77 without a device. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <clbake/clbake.h>
#include <perceptron_clbake.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 256, LAYERS = 3, CLASSES = 10, GROUP = 64 /* of softmax, as in programs.json */ };
static const size_t widths[LAYERS + 1] = {784, 512, 256, CLASSES};

typedef struct layer {
  float *weights, *bias;
  cl_mem weights_buffer, bias_buffer, result_buffer;
} layer;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* `count` numbers in [-scale, scale). */
static float* random_numbers(size_t count, double scale) {
  static unsigned state = 1;
  float* numbers = malloc(count * sizeof *numbers);
  size_t i;
  if (!numbers) abort();
  for (i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (float)(scale * ((double)(state >> 8) / (1 << 23) - 1));
  }
  return numbers;
}

static cl_device_id find_device(const char* wanted) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0, p, d;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return NULL;
  for (p = 0; p < platform_count && p < 16; ++p) {
    char platform[256] = "", name[256] = "";
    cl_device_id devices[16];
    cl_uint device_count = 0;
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS) continue;
    for (d = 0; d < device_count && d < 16; ++d) {
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
      if (strstr(platform, wanted) || strstr(name, wanted)) return devices[d];
    }
  }
  return NULL;
}

/* The largest difference of the probabilities from those in double precision. */
static double difference(const layer* layers, const float* input, const float* probabilities) {
  double values[2][784], largest = 0;
  size_t row, l, i, k;
  for (row = 0; row < ROWS; ++row) {
    double sum = 0, highest;
    double *x = values[0], *y = values[1], *swap;
    for (k = 0; k < widths[0]; ++k) x[k] = input[row * widths[0] + k];
    for (l = 0; l < LAYERS; ++l) {
      for (i = 0; i < widths[l + 1]; ++i) {
        y[i] = layers[l].bias[i];
        for (k = 0; k < widths[l]; ++k) y[i] += x[k] * layers[l].weights[k * widths[l + 1] + i];
        if (l + 1 < LAYERS && y[i] < 0) y[i] = 0;
      }
      swap = x, x = y, y = swap;
    }
    highest = x[0];
    for (i = 1; i < CLASSES; ++i) highest = fmax(highest, x[i]);
    for (i = 0; i < CLASSES; ++i) sum += x[i] = exp(x[i] - highest);
    for (i = 0; i < CLASSES; ++i) {
      const double d = fabs(x[i] / sum - probabilities[row * CLASSES + i]);
      if (!(d <= largest)) largest = isnan(d) ? HUGE_VAL : d;
    }
  }
  return largest;
}

/* Everything between the data on the device and the probabilities on the host; frees what it makes. */
static clbake_code classify(cl_context context, cl_device_id device, cl_command_queue queue, const layer* layers,
                            cl_mem input, float* probabilities, clbake_error* error) {
  clbake_bundle* bundle = NULL;
  clbake_library* library = NULL;
  clbake_program* program = NULL;
  cl_kernel softmax = NULL;
  const size_t rows = ROWS, group = GROUP;
  const cl_int columns = CLASSES;
  size_t l;
  clbake_code code = clbake_bundle_from_memory(perceptron_clbake, perceptron_clbake_size, &bundle, error);
  if (code == CLBAKE_OK) code = clbake_library_create(context, device, &bundle, 1, NULL, &library, error);
  for (l = 0; l < LAYERS && code == CLBAKE_OK; ++l) {
    clbake_epilogue_buffers more = {NULL, 0, NULL, 0};
    clbake_problem problem;
    clbake_problem_init(&problem, CLBAKE_SINGLE, ROWS, widths[l + 1], widths[l]);
    problem.bias = CLBAKE_BIAS_PER_COLUMN;
    if (l + 1 < LAYERS) problem.activation = CLBAKE_RELU;
    more.bias = layers[l].bias_buffer;
    code = clbake_library_gemm(library, queue, &problem, 1.0, l == 0 ? input : layers[l - 1].result_buffer, 0,
                               layers[l].weights_buffer, 0, 0.0, layers[l].result_buffer, 0, &more, 0, NULL, NULL,
                               error);
  }
  if (code == CLBAKE_OK) code = clbake_library_program(library, "softmax", &program, error);
  if (code == CLBAKE_OK) {
    cl_int failed = 0;
    softmax = clCreateKernel(clbake_program_get(program), "softmax", &failed);
    if (!failed) failed = clSetKernelArg(softmax, 0, sizeof(cl_mem), &layers[LAYERS - 1].result_buffer);
    if (!failed) failed = clSetKernelArg(softmax, 1, sizeof columns, &columns);
    if (!failed) failed = clEnqueueNDRangeKernel(queue, softmax, 1, NULL, &rows, &group, 0, NULL, NULL);
    if (!failed) {
      failed = clEnqueueReadBuffer(queue, layers[LAYERS - 1].result_buffer, CL_TRUE, 0,
                                   ROWS * CLASSES * sizeof *probabilities, probabilities, 0, NULL, NULL);
    }
    if (failed) {
      code = CLBAKE_OPENCL;
      sprintf(error->message, "softmax: OpenCL's error %d", (int)failed);
    }
  }
  if (softmax) clReleaseKernel(softmax);
  clbake_program_release(program);
  clbake_library_release(library);
  clbake_bundle_release(bundle);
  return code;
}

int main(int argc, char** argv) {
  const cl_mem_flags copy = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  static float probabilities[ROWS * CLASSES];
  cl_device_id device = find_device(argc > 1 ? argv[1] : "");
  cl_context context;
  cl_command_queue queue;
  cl_mem input_buffer;
  float* input;
  layer layers[LAYERS];
  clbake_error error;
  double start, first, off;
  size_t l;
  if (!device) {
    fprintf(stderr, "perceptron: no such OpenCL device\n");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  input = random_numbers(ROWS * widths[0], 1.7);
  input_buffer = clCreateBuffer(context, copy, ROWS * widths[0] * sizeof *input, input, NULL);
  for (l = 0; l < LAYERS; ++l) {
    const size_t outputs = widths[l + 1], count = widths[l] * outputs;
    layers[l].weights = random_numbers(count, sqrt(6.0 / (double)widths[l]));
    layers[l].bias = random_numbers(outputs, 1);
    layers[l].weights_buffer = clCreateBuffer(context, copy, count * sizeof(float), layers[l].weights, NULL);
    layers[l].bias_buffer = clCreateBuffer(context, copy, outputs * sizeof(float), layers[l].bias, NULL);
    layers[l].result_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, ROWS * outputs * sizeof(float), NULL, NULL);
  }

  start = now_ms();
  if (classify(context, device, queue, layers, input_buffer, probabilities, &error) != CLBAKE_OK) {
    fprintf(stderr, "perceptron: %s\n", error.message);
    return 1;
  }
  first = now_ms() - start;
  off = difference(layers, input, probabilities);
  if (!(off <= 1e-5)) {
    fprintf(stderr, "perceptron: a probability is wrong by %g\n", off);
    return 1;
  }
  printf("clbake in C: right within %.1e; ms: first %.2f\n", off, first);

  for (l = 0; l < LAYERS; ++l) {
    clReleaseMemObject(layers[l].weights_buffer);
    clReleaseMemObject(layers[l].bias_buffer);
    clReleaseMemObject(layers[l].result_buffer);
    free(layers[l].weights);
    free(layers[l].bias);
  }
  clReleaseMemObject(input_buffer);
  free(input);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
