/* The C header in a C program: compiled as C, it multiplies two matrices of ones. */
#include <clbake/clbake.h>

#include <stdio.h>
#include <string.h>

enum { size = 24 };

static int fail(const clbake_error* error) {
  fprintf(stderr, "%s: %s\n", clbake_code_name(error->code), error->message);
  return 1;
}

/* 0 when the product is right. */
int multiply_in_c(cl_context context, cl_device_id device, cl_command_queue queue, const char* path);

int multiply_in_c(cl_context context, cl_device_id device, cl_command_queue queue, const char* path) {
  clbake_error error;
  clbake_bundle* bundle = NULL;
  clbake_library* library = NULL;
  clbake_gemm* gemm = NULL;
  clbake_problem problem;
  clbake_explanation explanation;
  clbake_counters counters;
  clbake_options options;
  float ones[size * size];
  float c[size * size];
  cl_mem in, out;
  int i;
  for (i = 0; i < size * size; ++i) ones[i] = 1.0F;
  in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof ones, ones, NULL);
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof c, NULL, NULL);

  if (clbake_bundle_copy_memory(path, strlen(path), &bundle, &error) == CLBAKE_OK) return 1; /* a name is no bundle */
  if (clbake_bundle_open(path, &bundle, &error) != CLBAKE_OK) return fail(&error);
  clbake_options_init(&options);
  options.record = 1;
  if (clbake_library_create(context, device, &bundle, 1, &options, &library, &error) != CLBAKE_OK) return fail(&error);
  clbake_bundle_release(bundle);
  clbake_problem_init(&problem, CLBAKE_SINGLE, size, size, size);
  if (clbake_gemm_prepare(library, &problem, NULL, 0, &gemm, &error) != CLBAKE_OK) return fail(&error);
  clbake_explanation_init(&explanation);
  clbake_counters_init(&counters);
  if (clbake_gemm_explanation(gemm, &explanation, &error) != CLBAKE_OK) return fail(&error);
  if (clbake_gemm_enqueue(gemm, queue, 2.0, in, 0, in, 0, 0.0, out, 0, NULL, 0, NULL, NULL, &error) != CLBAKE_OK)
    return fail(&error);
  if (clbake_library_gemm(library, queue, &problem, 1.0, in, 0, in, 0, 1.0, out, 0, NULL, 0, NULL, NULL, &error) != CLBAKE_OK)
    return fail(&error);
  if (clbake_library_counters(library, &counters, &error) != CLBAKE_OK) return fail(&error);
  if (clbake_library_write_recording(library, "c_header.recording", &error) != CLBAKE_OK) return fail(&error);
  if (remove("c_header.recording") != 0) return 1;
  clbake_gemm_release(gemm);
  clbake_library_release(library);

  if (clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL) != CL_SUCCESS) return 1;
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  for (i = 0; i < size * size; ++i) {
    if (c[i] != 3.0F * size) return 1; /* exact: small whole numbers */
  }
  return explanation.variant[0] == '\0' || counters.loaded != 1;
}
