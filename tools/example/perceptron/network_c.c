/* The same with clbake's interface for C: Makefile builds it without CMake. Products are called with the library alone,
   which keeps what it loaded for the first. */
#include "network.h"

#include <clbake/clbake.h>
#include <perceptron_clbake.h>

static clbake_bundle* bundle;
static clbake_library* library;
static clbake_program* program;
static cl_kernel softmax;
static clbake_error error; /* the last failure's */

const char* const network_name = "clbake in C";

const char* start_network(cl_context context, cl_device_id device) {
  clbake_code code = clbake_bundle_from_memory(perceptron_clbake, perceptron_clbake_size, &bundle, &error);
  clbake_options options;
  clbake_options_init(&options);
  options.on_miss = CLBAKE_FAIL;
  if (code == CLBAKE_OK) code = clbake_library_create(context, device, &bundle, 1, &options, &library, &error);
  if (code == CLBAKE_OK) code = clbake_library_program(library, "softmax", &program, &error);
  if (code != CLBAKE_OK) return error.message;
  softmax = clCreateKernel(clbake_program_get(program), "softmax", NULL);
  return softmax ? NULL : "the program softmax has no kernel softmax";
}

const char* enqueue_network(cl_command_queue queue, const struct buffers* b) {
  size_t i;
  for (i = 0; i < LAYERS; ++i) {
    clbake_epilogue_buffers more = {0};
    clbake_problem problem;
    clbake_problem_init(&problem, CLBAKE_SINGLE, ROWS, widths[i + 1], widths[i]);
    problem.bias = CLBAKE_BIAS_PER_COLUMN;
    if (i + 1 < LAYERS) problem.activation = CLBAKE_RELU;
    more.bias = b->biases[i];
    if (clbake_library_gemm(library, queue, &problem, 1.0, b->values[i], 0, b->weights[i], 0, 0.0, b->values[i + 1], 0,
                            &more, 0, NULL, NULL, &error) != CLBAKE_OK) {
      return error.message;
    }
  }
  return enqueue_softmax(queue, softmax, b->values[LAYERS]);
}

void end_network(void) {
  if (softmax) clReleaseKernel(softmax);
  clbake_program_release(program);
  clbake_library_release(library);
  clbake_bundle_release(bundle);
}
