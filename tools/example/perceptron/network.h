/* A perceptron of three layers that says for each row of its input which of ten classes it belongs to.
   network_clbake.cpp and network_c.c implement it with clbake, network_opencl.cpp with OpenCL alone. */
#ifndef NETWORK_H
#define NETWORK_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROWS = 256 /* inputs that are classified together */, LAYERS = 3, CLASSES = 10 };
enum { SOFTMAX_GROUP = 64 /* the work-group size in programs.json; divides ROWS */ };
static const size_t widths[LAYERS + 1] = {784, 512, 256, CLASSES};

/* Single precision, row-major. Layer i multiplies ROWS x widths[i] values by widths[i] x widths[i + 1] weights. */
struct buffers {
  cl_mem weights[LAYERS];
  cl_mem biases[LAYERS];     /* widths[i + 1] values */
  cl_mem values[LAYERS + 1]; /* of each layer: the input first, the probabilities last */
};

extern const char* const network_name;

/* Both return NULL, or what went wrong. */
const char* start_network(cl_context context, cl_device_id device);
/* values[i + 1] = max(values[i] * weights[i] + biases[i], 0), for the last layer softmax instead of the maximum. */
const char* enqueue_network(cl_command_queue queue, const struct buffers* buffers);
/* Frees what was started. */
void end_network(void);

/* The softmax of softmax.cl, a work-item for each row. */
static inline const char* enqueue_softmax(cl_command_queue queue, cl_kernel softmax, cl_mem values) {
  const size_t rows = ROWS, group = SOFTMAX_GROUP;
  const cl_int columns = CLASSES;
  clSetKernelArg(softmax, 0, sizeof values, &values);
  clSetKernelArg(softmax, 1, sizeof columns, &columns);
  return clEnqueueNDRangeKernel(queue, softmax, 1, NULL, &rows, &group, 0, NULL, NULL) == CL_SUCCESS
             ? NULL
             : "softmax cannot be launched";
}

#ifdef __cplusplus
}
#endif
#endif
