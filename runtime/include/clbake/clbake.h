/* clbake runtime for C: GEMM from a bundle of device binaries, with nothing left to compile.
 *
 *   clbake_error error;
 *   clbake_bundle* bundle = NULL;
 *   clbake_library* library = NULL;
 *   clbake_problem problem;
 *   if (clbake_bundle_open("gemm.clbake", &bundle, &error) != CLBAKE_OK ||
 *       clbake_library_create(context, device, &bundle, 1, NULL, &library, &error) != CLBAKE_OK) {
 *     fprintf(stderr, "%s\n", error.message);
 *   }
 *   clbake_problem_init(&problem, CLBAKE_SINGLE, 512, 512, 512);
 *   clbake_library_gemm(library, queue, &problem, 1.0, a, 0, b, 0, 0.0, c, 0, NULL, 0, NULL, NULL, &error);
 *   clbake_library_release(library);
 *   clbake_bundle_release(bundle);
 *
 * The same library as clbake/clbake.hpp, where each function's C++ counterpart says more: semantics, thread rules,
 * failures. Every function that can fail returns a clbake_code and fills in `error`, which may be NULL, when it is not
 * CLBAKE_OK; results are written only on success. Objects that a function makes are the caller's to release; NULL may
 * be released. Any other null pointer where an object is wanted is CLBAKE_INVALID_ARGUMENT.
 *
 * Structs begin with their size, which their _init function sets; later versions add fields at the end. A function
 * refuses a struct of another size (CLBAKE_ARGUMENT_STRUCT_SIZE), but fills in one of a newer header as far as it knows
 * the fields. clbake_error and clbake_batch_offsets never change their size. */
#ifndef CLBAKE_CLBAKE_H
#define CLBAKE_CLBAKE_H

#include <clbake/version.h>

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clbake::Code: see clbake/status.hpp. */
typedef enum clbake_code {
  CLBAKE_OK = 0,
  CLBAKE_INVALID_ARGUMENT = 1,
  CLBAKE_OUT_OF_MEMORY = 2,
  CLBAKE_CANCELLED = 3,
  CLBAKE_NOT_FOUND = 10,
  CLBAKE_IO = 11,
  CLBAKE_NOT_A_BUNDLE = 20,
  CLBAKE_TRUNCATED = 21,
  CLBAKE_CHECKSUM = 22,
  CLBAKE_UNSUPPORTED_VERSION = 23,
  CLBAKE_MALFORMED = 24,
  CLBAKE_NOT_TRUSTED = 25,
  CLBAKE_NO_TARGET = 30,
  CLBAKE_OTHER_DRIVER = 31,
  CLBAKE_NO_VARIANT = 32,
  CLBAKE_NO_ENTRY = 33,
  CLBAKE_NO_PROGRAM = 34,
  CLBAKE_DRIVER_REJECTED = 40,
  CLBAKE_BUILD_FAILED = 50,
  CLBAKE_OPENCL = 51,
  CLBAKE_NO_DEVICE = 52,
  CLBAKE_WRONG_RESULT = 53
} clbake_code;

/* clbake::Argument: see clbake/status.hpp. */
typedef enum clbake_argument {
  CLBAKE_ARGUMENT_NONE = 0,
  CLBAKE_ARGUMENT_PRECISION = 1,
  CLBAKE_ARGUMENT_LAYOUT = 2,
  CLBAKE_ARGUMENT_M = 3,
  CLBAKE_ARGUMENT_N = 4,
  CLBAKE_ARGUMENT_K = 5,
  CLBAKE_ARGUMENT_LDA = 6,
  CLBAKE_ARGUMENT_LDB = 7,
  CLBAKE_ARGUMENT_LDC = 8,
  CLBAKE_ARGUMENT_BATCH = 9,
  CLBAKE_ARGUMENT_A_STRIDE = 10,
  CLBAKE_ARGUMENT_B_STRIDE = 11,
  CLBAKE_ARGUMENT_C_STRIDE = 12,
  CLBAKE_ARGUMENT_OFFSETS = 13,
  CLBAKE_ARGUMENT_BIAS = 14,
  CLBAKE_ARGUMENT_BIAS_STRIDE = 15,
  CLBAKE_ARGUMENT_ACTIVATION = 16,
  CLBAKE_ARGUMENT_BOUNDS = 17,
  CLBAKE_ARGUMENT_LDD = 18,
  CLBAKE_ARGUMENT_D_STRIDE = 19,
  CLBAKE_ARGUMENT_CONJ_A = 51,
  CLBAKE_ARGUMENT_CONJ_B = 52,
  CLBAKE_ARGUMENT_ALPHA = 53,
  CLBAKE_ARGUMENT_BETA = 54,
  CLBAKE_ARGUMENT_SCALARS = 55,
  CLBAKE_ARGUMENT_A = 20,
  CLBAKE_ARGUMENT_B = 21,
  CLBAKE_ARGUMENT_C = 22,
  CLBAKE_ARGUMENT_A_SIZE = 23,
  CLBAKE_ARGUMENT_B_SIZE = 24,
  CLBAKE_ARGUMENT_C_SIZE = 25,
  CLBAKE_ARGUMENT_C_ALIAS = 26,
  CLBAKE_ARGUMENT_C_READ_ONLY = 27,
  CLBAKE_ARGUMENT_WORKSPACE = 28,
  CLBAKE_ARGUMENT_D = 32,
  CLBAKE_ARGUMENT_D_SIZE = 33,
  CLBAKE_ARGUMENT_D_ALIAS = 34,
  CLBAKE_ARGUMENT_BIAS_VECTOR = 35,
  CLBAKE_ARGUMENT_BIAS_SIZE = 36,
  CLBAKE_ARGUMENT_BIAS_ALIAS = 37,
  CLBAKE_ARGUMENT_QUEUE = 30,
  CLBAKE_ARGUMENT_WAIT_LIST = 31,
  CLBAKE_ARGUMENT_CONTEXT = 40,
  CLBAKE_ARGUMENT_DEVICE = 41,
  CLBAKE_ARGUMENT_PLATFORM = 42,
  CLBAKE_ARGUMENT_BUNDLE = 43,
  CLBAKE_ARGUMENT_LIBRARY = 44,
  CLBAKE_ARGUMENT_GEMM = 45,
  CLBAKE_ARGUMENT_OPTIONS = 46,
  CLBAKE_ARGUMENT_STRUCT_SIZE = 47,
  CLBAKE_ARGUMENT_OUTPUT = 48,
  CLBAKE_ARGUMENT_DIRECTORY = 49,
  CLBAKE_ARGUMENT_OTHER = 50
} clbake_argument;

/* Needs no initialisation. 1024 bytes in every version: a later field takes its room from the message, which is one
 * line, cut where it is longer. */
typedef struct clbake_error {
  clbake_code code;
  char message[1012];
  clbake_argument argument; /* the argument that was refused, with CLBAKE_INVALID_ARGUMENT */
  cl_int opencl_code;       /* what the OpenCL call returned that failed; 0 when none did */
} clbake_error;

typedef struct clbake_bundle clbake_bundle;
typedef struct clbake_library clbake_library;
typedef struct clbake_gemm clbake_gemm;
typedef struct clbake_program clbake_program;
typedef struct clbake_overlay clbake_overlay;
typedef struct clbake_trust clbake_trust;

/* ---- Bundles. Any thread. A library keeps what it needs: bundles may be released once it is created. ---- */

clbake_code clbake_bundle_open(const char* path, clbake_bundle** bundle, clbake_error* error);

/* Reads in place: the bytes must stay unchanged as long as the bundle and every library made with it live. */
clbake_code clbake_bundle_from_memory(const void* bytes, size_t size, clbake_bundle** bundle, clbake_error* error);

/* Copies the bytes; the caller may free them at once. */
clbake_code clbake_bundle_copy_memory(const void* bytes, size_t size, clbake_bundle** bundle, clbake_error* error);

void clbake_bundle_release(clbake_bundle* bundle);

/* ---- The overlay: clbake::open_overlay. Any thread. ---- */

typedef enum clbake_overlay_mode { CLBAKE_OVERLAY_READ_ONLY = 1, CLBAKE_OVERLAY_READ_WRITE = 2 } clbake_overlay_mode;

/* max_bytes: 0 for 256 MiB. */
clbake_code clbake_overlay_open(const char* directory, clbake_overlay_mode mode, uint64_t max_bytes,
                                clbake_overlay** overlay, clbake_error* error);
void clbake_overlay_release(clbake_overlay* overlay);

/* Writes the path of the user's cache directory for the application, with its terminating zero, to `path`, which holds
 * `size` bytes. The only function that reads the environment. Also fails with CLBAKE_INVALID_ARGUMENT when `size` is
 * too small. */
clbake_code clbake_user_cache_directory(const char* application, char* path, size_t size, clbake_error* error);

/* ---- Problems: clbake::Problem. ---- */

typedef enum clbake_precision {
  CLBAKE_SINGLE = 1,
  CLBAKE_DOUBLE = 2,
  CLBAKE_HALF = 3,
  CLBAKE_BFLOAT16 = 4,
  CLBAKE_COMPLEX_SINGLE = 5,
  CLBAKE_COMPLEX_DOUBLE = 6
} clbake_precision;
typedef enum clbake_layout { CLBAKE_ROW_MAJOR = 0, CLBAKE_COLUMN_MAJOR = 1 } clbake_layout;

typedef struct clbake_batch_offsets {
  size_t a, b, c; /* elements */
} clbake_batch_offsets;

/* clbake::Bias and clbake::Activation: see clbake/clbake.hpp for the formulas. */
typedef enum clbake_bias { CLBAKE_BIAS_NONE = 0, CLBAKE_BIAS_PER_ROW = 1, CLBAKE_BIAS_PER_COLUMN = 2 } clbake_bias;
typedef enum clbake_activation {
  CLBAKE_ACTIVATION_NONE = 0,
  CLBAKE_RELU = 1,
  CLBAKE_CLAMP = 2,
  CLBAKE_SIGMOID = 3,
  CLBAKE_SILU = 4,
  CLBAKE_GELU = 5,
  CLBAKE_GELU_TANH = 6
} clbake_activation;

typedef struct clbake_problem {
  size_t struct_size;
  clbake_precision precision;
  clbake_layout layout;
  int trans_a, trans_b;                /* 0: no */
  int conj_a, conj_b;                  /* of complex problems; 0: no */
  size_t m, n, k, lda, ldb, ldc;       /* elements */
  size_t batch;                        /* products */
  size_t a_stride, b_stride, c_stride; /* elements */
  const clbake_batch_offsets* offsets; /* `batch` of them instead of the strides; or NULL. Read during the call only. */
  clbake_bias bias;                    /* and the rest: clbake::Epilogue */
  clbake_activation activation;
  size_t bias_stride; /* elements */
  double low, high;
  int has_d;            /* 0: no */
  size_t ldd, d_stride; /* elements */
} clbake_problem;

/* clbake::EpilogueBuffers: what an epilogue reads, NULL where it has none. Offsets in elements. */
typedef struct clbake_epilogue_buffers {
  cl_mem bias;
  size_t bias_offset;
  cl_mem d;
  size_t d_offset;
} clbake_epilogue_buffers;

/* clbake::Scalars: alpha and beta of a product, which have imaginary parts if it is complex, else 0. */
typedef struct clbake_scalars {
  double alpha, alpha_imaginary;
  double beta, beta_imaginary;
} clbake_scalars;

/* One row-major product of matrices without gaps between their rows, neither of them transposed, no epilogue. */
static inline void clbake_problem_init(clbake_problem* problem, clbake_precision precision, size_t m, size_t n,
                                       size_t k) {
  memset(problem, 0, sizeof *problem);
  problem->struct_size = sizeof *problem;
  problem->precision = precision;
  problem->m = m;
  problem->n = n;
  problem->k = k;
  problem->lda = k > 0 ? k : 1;
  problem->ldb = problem->ldc = n > 0 ? n : 1;
  problem->batch = 1;
}

/* ---- The library: clbake::Library. Any number of threads at once. ---- */

typedef enum clbake_on_miss { CLBAKE_COMPILE = 0, CLBAKE_FAIL = 1, CLBAKE_FALLBACK = 2 } clbake_on_miss;
typedef enum clbake_log_level { CLBAKE_INFO = 0, CLBAKE_WARNING = 1 } clbake_log_level;
typedef void (*clbake_log)(clbake_log_level level, const char* message, void* data);

typedef struct clbake_options {
  size_t struct_size;
  clbake_on_miss on_miss;
  int newer_driver; /* 0: no */
  int only_build;   /* 0: no */
  clbake_log log;   /* or NULL */
  void* log_data;
  const clbake_overlay* overlay; /* or NULL. May be released once the library is created. */
  int record;                    /* 0: no */
  const clbake_trust* trust;     /* or NULL: any bundle. clbake/trust.h. May be released as the overlay. */
} clbake_options;

/* The defaults. */
static inline void clbake_options_init(clbake_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
}

/* options: NULL for the defaults. */
clbake_code clbake_library_create(cl_context context, cl_device_id device, clbake_bundle* const* bundles, size_t count,
                                  const clbake_options* options, clbake_library** library, clbake_error* error);

/* Adds a reference, which must be released, too. Threads that each have one may release them in any order. */
clbake_library* clbake_library_retain(clbake_library* library);
void clbake_library_release(clbake_library* library);

/* Offsets in elements, from the start of the buffer. more: NULL when the epilogue has neither bias nor D. */
clbake_code clbake_library_gemm(clbake_library* library, cl_command_queue queue, const clbake_problem* problem,
                                double alpha, cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, double beta,
                                cl_mem c, size_t c_offset, const clbake_epilogue_buffers* more, cl_uint wait_count,
                                const cl_event* wait_list, cl_event* event, clbake_error* error);

/* The same with `count` scalars: 1 for all products, or one for each product of the problem's batch. Read before it
 * returns. */
clbake_code clbake_library_gemm_scaled(clbake_library* library, cl_command_queue queue, const clbake_problem* problem,
                                       const clbake_scalars* scalars, size_t count, cl_mem a, size_t a_offset, cl_mem b,
                                       size_t b_offset, cl_mem c, size_t c_offset, const clbake_epilogue_buffers* more,
                                       cl_uint wait_count, const cl_event* wait_list, cl_event* event,
                                       clbake_error* error);

/* How far clbake_library_warm has come: before the first problem, and after each one; seconds_left is an estimate.
   Returns 0 to stop. */
typedef int (*clbake_progress)(size_t done, size_t total, double seconds_left, void* data);

/* progress: may be NULL; gets data. CLBAKE_CANCELLED when it stopped the rest. */
clbake_code clbake_library_warm(clbake_library* library, const clbake_problem* problems, size_t count,
                                clbake_progress progress, void* data, clbake_error* error);

typedef enum clbake_origin {
  CLBAKE_NATIVE = 0,
  CLBAKE_PORTABLE = 1,
  CLBAKE_OVERLAY = 2,
  CLBAKE_SOURCE = 3
} clbake_origin;

/* clbake::Explanation; texts are cut where they are longer. */
typedef struct clbake_explanation {
  size_t struct_size;
  clbake_origin origin;
  clbake_code miss;
  int loaded;
  size_t bundle;
  char variant[256];
  char waits_for[256];
  char baked_for[256];
  char reason[512];
  char miss_message[512];
  double create_us, build_us, kernel_us;
} clbake_explanation;

static inline void clbake_explanation_init(clbake_explanation* explanation) {
  memset(explanation, 0, sizeof *explanation);
  explanation->struct_size = sizeof *explanation;
}

clbake_code clbake_library_explain(clbake_library* library, const clbake_problem* problem,
                                   clbake_explanation* explanation, clbake_error* error);

/* 1 or 0. */
int clbake_library_contains(clbake_library* library, const clbake_problem* problem);

clbake_code clbake_library_workspace_bytes(clbake_library* library, const clbake_problem* problem, size_t* bytes,
                                           clbake_error* error);

/* clbake::Counters. */
typedef struct clbake_counters {
  size_t struct_size;
  uint64_t loaded, native, portable, overlay, source, fallback, failed, cached, waits;
  uint64_t misses[64]; /* by clbake_code */
  uint64_t create_us, build_us, kernel_us;
} clbake_counters;

static inline void clbake_counters_init(clbake_counters* counters) {
  memset(counters, 0, sizeof *counters);
  counters->struct_size = sizeof *counters;
}

clbake_code clbake_library_counters(clbake_library* library, clbake_counters* counters, clbake_error* error);
clbake_code clbake_library_write_recording(clbake_library* library, const char* path, clbake_error* error);
void clbake_library_finish(clbake_library* library);

/* ---- Prepared problems: clbake::Gemm. One thread at a time; clone for each thread. ---- */

/* variant: a name, or NULL for the profile's choice. caller_workspace: not 0 when clbake_gemm_use_workspace follows. */
clbake_code clbake_gemm_prepare(clbake_library* library, const clbake_problem* problem, const char* variant,
                                int caller_workspace, clbake_gemm** gemm, clbake_error* error);
clbake_code clbake_gemm_clone(const clbake_gemm* gemm, clbake_gemm** clone, clbake_error* error);
void clbake_gemm_release(clbake_gemm* gemm);

size_t clbake_gemm_workspace_bytes(const clbake_gemm* gemm);
clbake_code clbake_gemm_use_workspace(clbake_gemm* gemm, cl_mem buffer, size_t offset_bytes, clbake_error* error);
clbake_code clbake_gemm_explanation(const clbake_gemm* gemm, clbake_explanation* explanation, clbake_error* error);

clbake_code clbake_gemm_enqueue(clbake_gemm* gemm, cl_command_queue queue, double alpha, cl_mem a, size_t a_offset,
                                cl_mem b, size_t b_offset, double beta, cl_mem c, size_t c_offset,
                                const clbake_epilogue_buffers* more, cl_uint wait_count, const cl_event* wait_list,
                                cl_event* event, clbake_error* error);

/* As clbake_library_gemm_scaled. */
clbake_code clbake_gemm_enqueue_scaled(clbake_gemm* gemm, cl_command_queue queue, const clbake_scalars* scalars,
                                       size_t count, cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, cl_mem c,
                                       size_t c_offset, const clbake_epilogue_buffers* more, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event, clbake_error* error);

/* ---- The application's own programs: clbake::LoadedProgram. Any number of threads at once. ---- */

clbake_code clbake_library_program(clbake_library* library, const char* name, clbake_program** program,
                                   clbake_error* error);
clbake_code clbake_library_explain_program(clbake_library* library, const char* name, clbake_explanation* explanation,
                                           clbake_error* error);
void clbake_program_release(clbake_program* program);

/* For clCreateKernel; NULL for NULL. Valid until the release, unless kernels or clRetainProgram keep it longer. */
cl_program clbake_program_get(const clbake_program* program);
clbake_code clbake_program_explanation(const clbake_program* program, clbake_explanation* explanation,
                                       clbake_error* error);

/* ---- Beside a library. Any thread. ---- */

clbake_code clbake_preload(cl_platform_id platform, clbake_error* error);

/* CLBAKE_VERSION_NUMBER of the library that the program runs with. */
int clbake_version(void);

/* The code's name, for example "checksum". */
const char* clbake_code_name(clbake_code code);

#ifdef __cplusplus
}
#endif

#endif
