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
 * clbake/clbake.hpp is the same library for C++ and says more about each function.
 *
 * Failure: a function that can fail returns a clbake_code. Unless that is CLBAKE_OK, it fills in `error`, which may be
 * NULL, and writes no result. A null pointer is CLBAKE_INVALID_ARGUMENT unless the function allows it.
 * Ownership: the caller releases objects that a function makes; releasing NULL does nothing. Texts and arrays that are
 * passed in are read during the call only, unless said otherwise.
 * Threads: each section below says how many threads may use its objects at once.
 *
 * Most structs begin with their size, which their _init function sets. A function refuses an input struct of an unknown
 * size, but fills in the fields that it knows of an output struct of a newer header. RUNTIME.md, "What stays the same",
 * has all promises about versions. */
#ifndef CLBAKE_CLBAKE_H
#define CLBAKE_CLBAKE_H

#include <clbake/export.h>
#include <clbake/version.h>

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct _cl_command_buffer_khr; /* of cl_khr_command_buffer */

#ifdef __cplusplus
extern "C" {
#endif

/* Cause of a failure; 20 to 49 are also the reasons for a miss. The numbers never change. */
typedef enum clbake_code {
  CLBAKE_OK = 0,
  CLBAKE_INVALID_ARGUMENT = 1, /* clbake_error's argument and message name it */
  CLBAKE_OUT_OF_MEMORY = 2,    /* of the host or the device */
  CLBAKE_CANCELLED = 3,        /* stopped on request; finished work is kept */
  CLBAKE_NOT_FOUND = 10,       /* no such file */
  CLBAKE_IO = 11,              /* reading, writing, syncing or renaming failed */

  CLBAKE_NOT_A_BUNDLE = 20,        /* other bytes than a bundle's at the start */
  CLBAKE_TRUNCATED = 21,           /* fewer bytes than the header declares */
  CLBAKE_CHECKSUM = 22,            /* other bytes than were written */
  CLBAKE_UNSUPPORTED_VERSION = 23, /* a newer major version, or an unknown feature */
  CLBAKE_MALFORMED = 24,           /* right checksums, but fields against the rules of FORMAT.md */
  CLBAKE_NOT_TRUSTED = 25,         /* refused by clbake_options.trust */
  CLBAKE_NO_TARGET = 30,           /* the bundle has nothing for this device */
  CLBAKE_OTHER_DRIVER = 31,        /* the bundle has this device under another driver or platform version */
  CLBAKE_NO_VARIANT = 32,          /* the profile names no variant for the problem */
  CLBAKE_NO_ENTRY = 33,            /* the variant was not baked for this device and driver */
  CLBAKE_NO_PROGRAM = 34,          /* no bundle has a program of this name */
  CLBAKE_MISSING_FEATURE = 35,     /* baked for a CPU with a feature that this one lacks */
  CLBAKE_DRIVER_REJECTED = 40,     /* the driver refused a verified program */

  CLBAKE_BUILD_FAILED = 50, /* the source does not compile; the message has the build log */
  CLBAKE_OPENCL = 51,       /* another OpenCL call failed; the message names it */
  CLBAKE_NO_DEVICE = 52,    /* no OpenCL platform, or no device that matches */
  CLBAKE_WRONG_RESULT = 53  /* a result differs from the reference */
} clbake_code;

/* Refused argument of CLBAKE_INVALID_ARGUMENT. The numbers never change. */
typedef enum clbake_argument {
  CLBAKE_ARGUMENT_NONE = 0,

  /* Fields of clbake_problem. */
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
  CLBAKE_ARGUMENT_BOUNDS = 17, /* low and high of a clamp */
  CLBAKE_ARGUMENT_LDD = 18,
  CLBAKE_ARGUMENT_D_STRIDE = 19,
  CLBAKE_ARGUMENT_CONJ_A = 51,
  CLBAKE_ARGUMENT_CONJ_B = 52,
  CLBAKE_ARGUMENT_QUANTIZATION = 56, /* scales or zero points that the precision does not have, or out of range */

  CLBAKE_ARGUMENT_ALPHA = 53,   /* imaginary part of a problem that is not complex */
  CLBAKE_ARGUMENT_BETA = 54,    /* as ALPHA */
  CLBAKE_ARGUMENT_SCALARS = 55, /* null, or neither one nor one for each product */

  CLBAKE_ARGUMENT_A = 20, /* null, not a buffer, or of another context; so are B, C, D and BIAS_VECTOR */
  CLBAKE_ARGUMENT_B = 21,
  CLBAKE_ARGUMENT_C = 22,
  CLBAKE_ARGUMENT_A_SIZE = 23, /* the matrix ends behind its buffer */
  CLBAKE_ARGUMENT_B_SIZE = 24,
  CLBAKE_ARGUMENT_C_SIZE = 25,
  CLBAKE_ARGUMENT_C_ALIAS = 26,     /* C shares elements with A or B */
  CLBAKE_ARGUMENT_C_READ_ONLY = 27, /* kernels may not write to C's buffer */
  CLBAKE_ARGUMENT_WORKSPACE = 28,   /* missing, too small or not aligned */
  CLBAKE_ARGUMENT_D = 32,
  CLBAKE_ARGUMENT_D_SIZE = 33,
  CLBAKE_ARGUMENT_D_ALIAS = 34, /* D shares elements with C, and is not C */
  CLBAKE_ARGUMENT_BIAS_VECTOR = 35,
  CLBAKE_ARGUMENT_BIAS_SIZE = 36,
  CLBAKE_ARGUMENT_BIAS_ALIAS = 37, /* the bias shares elements with C */
  CLBAKE_ARGUMENT_ROW_SCALES = 57, /* as A; too small; or shares elements with C */
  CLBAKE_ARGUMENT_COLUMN_SCALES = 58,

  CLBAKE_ARGUMENT_GROUP = 64,  /* null; no products, or some that differ in what they share; Cs that share elements */
  CLBAKE_ARGUMENT_COUNTS = 65, /* as A; too small; or in C */

  CLBAKE_ARGUMENT_QUEUE = 30,     /* null, or of another context or device */
  CLBAKE_ARGUMENT_WAIT_LIST = 31, /* null, or with a null event */
  CLBAKE_ARGUMENT_CONTEXT = 40,
  CLBAKE_ARGUMENT_DEVICE = 41,
  CLBAKE_ARGUMENT_PLATFORM = 42,
  CLBAKE_ARGUMENT_BUNDLE = 43,
  CLBAKE_ARGUMENT_LIBRARY = 44,
  CLBAKE_ARGUMENT_GEMM = 45,
  CLBAKE_ARGUMENT_OPTIONS = 46, /* a value that is none of its enumeration's */
  CLBAKE_ARGUMENT_STRUCT_SIZE = 47,
  CLBAKE_ARGUMENT_OUTPUT = 48,    /* null, or too small, where a result should go */
  CLBAKE_ARGUMENT_DIRECTORY = 49, /* the overlay's */
  CLBAKE_ARGUMENT_OTHER = 50      /* the message names it */
} clbake_argument;

/* Failure of a call. Needs no initialisation. 1024 bytes in every version: a later field takes its room from the
 * message. */
typedef struct clbake_error {
  clbake_code code;
  char message[1012];       /* one line, cut where it is longer */
  clbake_argument argument; /* refused argument, with CLBAKE_INVALID_ARGUMENT */
  cl_int opencl_code;       /* error of the OpenCL call that failed; 0 when none did */
} clbake_error;

typedef struct clbake_bundle clbake_bundle;
typedef struct clbake_library clbake_library;
typedef struct clbake_gemm clbake_gemm;
typedef struct clbake_recorded clbake_recorded;
typedef struct clbake_group clbake_group;
typedef struct clbake_program clbake_program;
typedef struct clbake_overlay clbake_overlay;
typedef struct clbake_trust clbake_trust;

/* ---- Bundles: any number of threads at once. A library keeps what it needs: bundles may be released once it is
 * created. ---- */

/* Maps a bundle's file, which must not change afterwards but may be replaced by rename. Fails with CLBAKE_NOT_FOUND,
 * CLBAKE_IO, CLBAKE_OUT_OF_MEMORY, or with the code of a damaged or unknown file (20 to 24). */
CLBAKE_API clbake_code clbake_bundle_open(const char* path, clbake_bundle** bundle, clbake_error* error);

/* Reads a bundle in place: the bytes must stay unchanged as long as the bundle and every library made with it live.
 * Fails as clbake_bundle_open, but for the file. */
CLBAKE_API clbake_code clbake_bundle_from_memory(const void* bytes, size_t size, clbake_bundle** bundle,
                                                 clbake_error* error);

/* Copies the bytes, which the caller may free at once. Fails as clbake_bundle_from_memory. */
CLBAKE_API clbake_code clbake_bundle_copy_memory(const void* bytes, size_t size, clbake_bundle** bundle,
                                                 clbake_error* error);

CLBAKE_API void clbake_bundle_release(clbake_bundle* bundle);

/* ---- The overlay, a directory of compiled programs: any number of threads and processes at once. ---- */

typedef enum clbake_overlay_mode { CLBAKE_OVERLAY_READ_ONLY = 1, CLBAKE_OVERLAY_READ_WRITE = 2 } clbake_overlay_mode;

/* Opens the directory, and makes it for CLBAKE_OVERLAY_READ_WRITE. It must belong to the user and be writable by nobody
 * else. max_bytes: size at which old programs are dropped; 0 for 256 MiB. Fails with CLBAKE_INVALID_ARGUMENT,
 * CLBAKE_NOT_FOUND, CLBAKE_IO or CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_overlay_open(const char* directory, clbake_overlay_mode mode, uint64_t max_bytes,
                                           clbake_overlay** overlay, clbake_error* error);

/* The same over a directory for all users of a machine, which is only read, and looked in where the other one has
 * nothing. It must belong to root (Windows: to the system's accounts) or to `owner`, the name or number of a user or
 * NULL, and be writable by nobody else; it need not exist. directory: NULL for none beside it; `mode` is ignored then.
 */
CLBAKE_API clbake_code clbake_overlay_open_shared(const char* shared, const char* owner, const char* directory,
                                                  clbake_overlay_mode mode, uint64_t max_bytes,
                                                  clbake_overlay** overlay, clbake_error* error);
CLBAKE_API void clbake_overlay_release(clbake_overlay* overlay);

/* Writes the user's cache directory for the application to `path`, which holds `size` bytes. The only function that
 * reads the environment. Fails with CLBAKE_INVALID_ARGUMENT when `size` is too small, or with CLBAKE_NOT_FOUND. */
CLBAKE_API clbake_code clbake_user_cache_directory(const char* application, char* path, size_t size,
                                                   clbake_error* error);

/* ---- Problems. ---- */

typedef enum clbake_precision {
  CLBAKE_SINGLE = 1,
  CLBAKE_DOUBLE = 2,
  CLBAKE_HALF = 3,
  CLBAKE_BFLOAT16 = 4,
  CLBAKE_COMPLEX_SINGLE = 5,
  CLBAKE_COMPLEX_DOUBLE = 6
} clbake_precision;
/* Further types of elements, for CLBAKE_MIXED. */
typedef enum clbake_element {
  CLBAKE_INT8 = 7,
  CLBAKE_UINT8 = 8,
  CLBAKE_INT32 = 9,
  CLBAKE_E4M3 = 10,
  CLBAKE_E5M2 = 11,
  CLBAKE_Q4 = 12, /* packed weights: clbake/weights/pack.h */
  CLBAKE_Q8 = 13
} clbake_element;
/* The precision of a mixed product, by the types of A, B and C: A and B of CLBAKE_INT8 and CLBAKE_UINT8, or of
 * CLBAKE_E4M3 and CLBAKE_E5M2; C half, bfloat16 or single, or in the first case also an integer, in the second also of
 * 8 bits. Or B of CLBAKE_Q4 or CLBAKE_Q8, A half, bfloat16 or single, and C of A's type or single. */
#define CLBAKE_MIXED(a, b, c) ((int)(a) | (int)(b) << 8 | (int)(c) << 16)
typedef enum clbake_layout { CLBAKE_ROW_MAJOR = 0, CLBAKE_COLUMN_MAJOR = 1 } clbake_layout;

/* Elements from the start of A, B and C to the matrices of one product. */
typedef struct clbake_batch_offsets {
  size_t a, b, c;
} clbake_batch_offsets;

/* Vector that is added to C, with an element for each of its rows or columns. */
typedef enum clbake_bias { CLBAKE_BIAS_NONE = 0, CLBAKE_BIAS_PER_ROW = 1, CLBAKE_BIAS_PER_COLUMN = 2 } clbake_bias;

/* Function of each element x of C, with s(x) = 1 / (1 + exp(-x)). */
typedef enum clbake_activation {
  CLBAKE_ACTIVATION_NONE = 0,
  CLBAKE_RELU = 1,     /* max(x, 0) */
  CLBAKE_CLAMP = 2,    /* at least clbake_problem.low, at most high */
  CLBAKE_SIGMOID = 3,  /* s(x) */
  CLBAKE_SILU = 4,     /* x * s(x) */
  CLBAKE_GELU = 5,     /* x * (1 + erf(x / sqrt(2))) / 2 */
  CLBAKE_GELU_TANH = 6 /* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2 */
} clbake_activation;

/* C = act(alpha * op(A) * op(B) + beta * D + bias), where C is m x n, op(A) m x k, op(B) k x n, and D is C unless has_d
 * is set. Sizes, leading dimensions and strides are in elements. */
typedef struct clbake_problem {
  size_t struct_size;
  int precision; /* a clbake_precision, or CLBAKE_MIXED */
  clbake_layout layout;
  int trans_a, trans_b;                /* 0: no */
  int conj_a, conj_b;                  /* complex problems only; 0: no */
  size_t m, n, k, lda, ldb, ldc;       /* leading dimensions: at least the length of a line as stored, and 1 */
  size_t batch;                        /* number of products */
  size_t a_stride, b_stride, c_stride; /* from one product's matrix to the next */
  const clbake_batch_offsets* offsets; /* NULL, or one for each product in the place of the strides */
  clbake_bias bias;
  clbake_activation activation;
  size_t bias_stride;   /* from one product's bias to the next; 0: all share it */
  double low, high;     /* bounds of CLBAKE_CLAMP */
  int has_d;            /* 0: no */
  size_t ldd, d_stride; /* as ldc and c_stride */
  /* Mixed products: an element of A stands for (a - zero_a) times the scale of its row of op(A), one of B for
   * (b - zero_b) times that of its column of op(B); scales are singles. clbake.hpp says which types have which. */
  int row_scales, column_scales; /* 0: no */
  size_t row_scale_stride, column_scale_stride;
  int zero_a, zero_b; /* A and B of integers */
  int zero_c;         /* C of 8 bits, an integer: added to the rounded result */
  /* Packed weights: clbake/weights/pack.h. */
  size_t weight_group; /* steps of k that share a scale: 32, 64 or 128 */
  int weight_zeros;    /* 0: no zero points */
} clbake_problem;

/* A matrix at a pointer is given in the place of its buffer, (cl_mem)pointer, with one of these in its offset: a
 * pointer that clSVMAlloc returned, or one into an allocation of cl_intel_unified_shared_memory; clbake.hpp says more
 * (svm, usm). */
#define CLBAKE_SVM ((size_t)1 << (8 * sizeof(size_t) - 1))
#define CLBAKE_USM ((size_t)1 << (8 * sizeof(size_t) - 2))

/* Buffers of a problem with a bias, D or scales, else NULL. The caller owns them. Offsets are in elements. */
typedef struct clbake_epilogue_buffers {
  cl_mem bias;
  size_t bias_offset;
  cl_mem d;
  size_t d_offset;
  cl_mem row_scales;
  size_t row_scales_offset;
  cl_mem column_scales;
  size_t column_scales_offset;
} clbake_epilogue_buffers;

/* Alpha and beta of a product. Imaginary parts are 0 unless it is complex. */
typedef struct clbake_scalars {
  double alpha, alpha_imaginary;
  double beta, beta_imaginary;
} clbake_scalars;

/* Sets a problem of one row-major product: rows without gaps, nothing transposed, no bias, activation or D. */
static inline void clbake_problem_init(clbake_problem* problem, int precision, size_t m, size_t n, size_t k) {
  memset(problem, 0, sizeof *problem);
  problem->struct_size = sizeof *problem;
  problem->precision = precision;
  problem->m = m;
  problem->n = n;
  problem->k = k;
  problem->lda = k > 0 ? k : 1;
  problem->ldb = problem->ldc = n > 0 ? n : 1;
  problem->batch = 1;
  problem->weight_group = 32;
}

/* ---- The library: any number of threads at once. After a fork the child must not use it. ---- */

/* Policy when a bundle has no program for the problem on this device and driver. */
typedef enum clbake_on_miss {
  CLBAKE_COMPILE = 0, /* compile the bundle's source */
  CLBAKE_FAIL = 1,    /* fail with the reason of the miss */
  CLBAKE_FALLBACK = 2 /* serve with another program, and compile the wanted one in a thread of the library */
} clbake_on_miss;
typedef enum clbake_log_level { CLBAKE_INFO = 0, CLBAKE_WARNING = 1 } clbake_log_level;

/* Receives one line, valid during the call, of a miss or a failure. Called by the thread that does the work, perhaps by
 * several at once. May call the library, but must not release its last reference. */
typedef void (*clbake_log)(clbake_log_level level, const char* message, void* data);

typedef struct clbake_options {
  size_t struct_size;
  clbake_on_miss on_miss;
  int newer_driver; /* not 0: allow machine code made for an older driver, or offline, if its entry allows that */
  int only_build;   /* not 0: on PoCL, no first launch of a loaded program on zeros */
  clbake_log log;   /* or NULL */
  void* log_data;   /* for `log`; must live as long as the library */
  const clbake_overlay* overlay; /* or NULL; may be released once the library is created */
  int record;                    /* not 0: count the calls of each problem, for clbake_library_write_recording */
  const clbake_trust* trust;     /* or NULL: any bundle (clbake/trust.h); may be released like the overlay */
} clbake_options;

/* Sets the defaults: all 0. */
static inline void clbake_options_init(clbake_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
}

/* Makes a library of bundles for one device of the context, which it retains; the first bundle that has a program
 * serves. Loads nothing yet. options: NULL for the defaults. Fails with CLBAKE_INVALID_ARGUMENT, CLBAKE_OPENCL or
 * CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_library_create(cl_context context, cl_device_id device, clbake_bundle* const* bundles,
                                             size_t count, const clbake_options* options, clbake_library** library,
                                             clbake_error* error);

/* Adds a reference, which must be released, too, and returns its argument. */
CLBAKE_API clbake_library* clbake_library_retain(clbake_library* library);

/* Drops a reference. The last release waits for the library's thread to end its current compilation. */
CLBAKE_API void clbake_library_release(clbake_library* library);

/* Enqueues a product and returns without waiting for it; prepares the problem at its first call. Offsets are in
 * elements. more: NULL without a bias and D. event: NULL, or the caller's to release. beta = 0: C is not read; alpha =
 * 0 or k = 0: A and B are not read and may be NULL. Fails as clbake_gemm_prepare and clbake_gemm_enqueue. */
CLBAKE_API clbake_code clbake_library_gemm(clbake_library* library, cl_command_queue queue,
                                           const clbake_problem* problem, double alpha, cl_mem a, size_t a_offset,
                                           cl_mem b, size_t b_offset, double beta, cl_mem c, size_t c_offset,
                                           const clbake_epilogue_buffers* more, cl_uint wait_count,
                                           const cl_event* wait_list, cl_event* event, clbake_error* error);

/* The same with `count` scalars: 1 for all products, or one for each product of the batch. */
CLBAKE_API clbake_code clbake_library_gemm_scaled(clbake_library* library, cl_command_queue queue,
                                                  const clbake_problem* problem, const clbake_scalars* scalars,
                                                  size_t count, cl_mem a, size_t a_offset, cl_mem b, size_t b_offset,
                                                  cl_mem c, size_t c_offset, const clbake_epilogue_buffers* more,
                                                  cl_uint wait_count, const cl_event* wait_list, cl_event* event,
                                                  clbake_error* error);

/* Receives the progress of clbake_library_warm, on the calling thread; seconds_left is an estimate. Returns 0 to stop.
 */
typedef int (*clbake_progress)(size_t done, size_t total, double seconds_left, void* data);

/* Loads, or compiles, the programs of these problems ahead of time; goes on after a failure and returns the first.
 * progress: may be NULL; gets `data`. Fails with CLBAKE_CANCELLED when it stopped the rest. */
CLBAKE_API clbake_code clbake_library_warm(clbake_library* library, const clbake_problem* problems, size_t count,
                                           clbake_progress progress, void* data, clbake_error* error);

/* Origin of the program that serves a problem, best first. */
typedef enum clbake_origin {
  CLBAKE_NATIVE = 0,   /* machine code of the bundle */
  CLBAKE_PORTABLE = 1, /* an intermediate language of the bundle, which the driver compiled */
  CLBAKE_OVERLAY = 2,  /* compiled at an earlier miss and kept in the overlay */
  CLBAKE_SOURCE = 3    /* compiled from the bundle's source */
} clbake_origin;

/* The program that serves, and why. Texts are cut where they are longer. Times are the driver's, in microseconds, when
 * the program was first loaded. */
typedef struct clbake_explanation {
  size_t struct_size;
  clbake_origin origin;
  clbake_code miss;    /* why no machine code made for this device and driver serves; CLBAKE_OK when it does */
  int loaded;          /* not 0: before this call */
  size_t bundle;       /* index into the library's bundles */
  char variant[256];   /* name of the variant, or of the application's program */
  char waits_for[256]; /* CLBAKE_FALLBACK: the variant that is being compiled for later calls; else empty */
  char baked_for[256]; /* driver that the program was made for, if another; else empty */
  char reason[512];    /* for people: why this variant */
  char miss_message[512];
  double create_us, build_us, kernel_us;
} clbake_explanation;

static inline void clbake_explanation_init(clbake_explanation* explanation) {
  memset(explanation, 0, sizeof *explanation);
  explanation->struct_size = sizeof *explanation;
}

/* Tells what clbake_gemm_prepare would do now, without loading anything. Fails as it does for an impossible problem,
 * without a variant and, with CLBAKE_FAIL, without a program. */
CLBAKE_API clbake_code clbake_library_explain(clbake_library* library, const clbake_problem* problem,
                                              clbake_explanation* explanation, clbake_error* error);

/* Returns 1 if machine code made for this device and driver would serve the problem; else 0, also on a failure. */
CLBAKE_API int clbake_library_contains(clbake_library* library, const clbake_problem* problem);

/* Bytes of workspace that the problem's handle needs. Loads the program; fails as clbake_gemm_prepare. */
CLBAKE_API clbake_code clbake_library_workspace_bytes(clbake_library* library, const clbake_problem* problem,
                                                      size_t* bytes, clbake_error* error);

/* Events since the library was created. loaded to failed count calls that had to prepare, by what served them. */
typedef struct clbake_counters {
  size_t struct_size;
  uint64_t loaded, native, portable, overlay, source, fallback, failed;
  uint64_t cached;                         /* calls of clbake_library_gemm that had nothing to prepare */
  uint64_t waits;                          /* times that such calls waited for a lock */
  uint64_t misses[64];                     /* by clbake_code */
  uint64_t create_us, build_us, kernel_us; /* microseconds that drivers took, all threads together */
} clbake_counters;

static inline void clbake_counters_init(clbake_counters* counters) {
  memset(counters, 0, sizeof *counters);
  counters->struct_size = sizeof *counters;
}

/* Copies the counters. Fails for null arguments and unknown struct sizes only. */
CLBAKE_API clbake_code clbake_library_counters(clbake_library* library, clbake_counters* counters, clbake_error* error);
/* Writes which problems were called so far, for `clbake capture`; replaces the file atomically. Fails with
 * CLBAKE_INVALID_ARGUMENT without clbake_options.record, and with CLBAKE_IO. */
CLBAKE_API clbake_code clbake_library_write_recording(clbake_library* library, const char* path, clbake_error* error);
/* Waits until the library's thread has nothing left to compile or to write to the overlay. Not from clbake_log. */
CLBAKE_API void clbake_library_finish(clbake_library* library);

/* ---- Prepared problems: one thread at a time; clone for each thread. They may outlive their library. ---- */

/* Chooses the variant for the problem and loads its program. variant: a name, or NULL for the profile's choice.
 * caller_workspace: not 0 if clbake_gemm_use_workspace follows. Fails with CLBAKE_INVALID_ARGUMENT, CLBAKE_NO_VARIANT,
 * CLBAKE_BUILD_FAILED, with the reason of the miss (CLBAKE_FAIL), with CLBAKE_OPENCL or CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_gemm_prepare(clbake_library* library, const clbake_problem* problem, const char* variant,
                                           int caller_workspace, clbake_gemm** gemm, clbake_error* error);

/* Makes a handle of the same program with its own kernels and workspace. Fails with CLBAKE_OPENCL or
 * CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_gemm_clone(const clbake_gemm* gemm, clbake_gemm** clone, clbake_error* error);

/* Does not wait for the handle's calls. */
CLBAKE_API void clbake_gemm_release(clbake_gemm* gemm);

/* Bytes that clbake_gemm_use_workspace needs; 0 if none, and for NULL. */
CLBAKE_API size_t clbake_gemm_workspace_bytes(const clbake_gemm* gemm);

/* Uses the caller's buffer from offset_bytes on, a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN, and retains it. Fails
 * with CLBAKE_INVALID_ARGUMENT or CLBAKE_OPENCL; the handle then keeps what it had. */
CLBAKE_API clbake_code clbake_gemm_use_workspace(clbake_gemm* gemm, cl_mem buffer, size_t offset_bytes,
                                                 clbake_error* error);

/* Copies which program serves, and why. Fails for null arguments and unknown struct sizes only. */
CLBAKE_API clbake_code clbake_gemm_explanation(const clbake_gemm* gemm, clbake_explanation* explanation,
                                               clbake_error* error);

/* Enqueues the product; the arguments are those of clbake_library_gemm. Fails with CLBAKE_INVALID_ARGUMENT, and then
 * has enqueued nothing; with CLBAKE_OPENCL or CLBAKE_OUT_OF_MEMORY, and then what was enqueued before still runs. */
CLBAKE_API clbake_code clbake_gemm_enqueue(clbake_gemm* gemm, cl_command_queue queue, double alpha, cl_mem a,
                                           size_t a_offset, cl_mem b, size_t b_offset, double beta, cl_mem c,
                                           size_t c_offset, const clbake_epilogue_buffers* more, cl_uint wait_count,
                                           const cl_event* wait_list, cl_event* event, clbake_error* error);

/* The same with scalars as in clbake_library_gemm_scaled. */
CLBAKE_API clbake_code clbake_gemm_enqueue_scaled(clbake_gemm* gemm, cl_command_queue queue,
                                                  const clbake_scalars* scalars, size_t count, cl_mem a,
                                                  size_t a_offset, cl_mem b, size_t b_offset, cl_mem c, size_t c_offset,
                                                  const clbake_epilogue_buffers* more, cl_uint wait_count,
                                                  const cl_event* wait_list, cl_event* event, clbake_error* error);

/* Records the product into a command buffer of cl_khr_command_buffer that the caller creates, finalizes and enqueues.
 * It runs after the sync points of `wait`; `point` (may be NULL) is where it is done. The handle and the operands'
 * memory must outlive the command buffer; with a workspace, the handle's other calls must not run at the same time.
 * recorded: NULL, or where to put a new object that can change the product there, if the device has
 * cl_khr_command_buffer_mutable_dispatch 0.9.2 or later and the command buffer is a mutable one. Fails as
 * clbake_gemm_enqueue, and with CLBAKE_OPENCL where the platform lacks an extension. */
CLBAKE_API clbake_code clbake_gemm_record(clbake_gemm* gemm, struct _cl_command_buffer_khr* commands, double alpha,
                                          cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, double beta, cl_mem c,
                                          size_t c_offset, const clbake_epilogue_buffers* more, cl_uint wait_count,
                                          const cl_uint* wait, cl_uint* point, clbake_recorded** recorded,
                                          clbake_error* error);

/* Gives a recorded product other scalars and operands: all, or after a failure none of them. The command buffer is
 * finalized and does not run. Fails as clbake_gemm_enqueue, and with CLBAKE_ARGUMENT_SCALARS where the product would
 * need other launches. Not after the end of the handle or the command buffer. */
CLBAKE_API clbake_code clbake_recorded_update(clbake_recorded* recorded, double alpha, cl_mem a, size_t a_offset,
                                              cl_mem b, size_t b_offset, double beta, cl_mem c, size_t c_offset,
                                              const clbake_epilogue_buffers* more, clbake_error* error);
CLBAKE_API void clbake_recorded_release(clbake_recorded* recorded);

/* ---- Groups: products of different sizes in one call. One thread at a time may use a group, which may outlive its
 * library. ---- */

/* Prepares products that agree in precision, transposes, layout, epilogue (but for ldd) and quantization, each with a
 * batch of 1 and one member of `offsets` or none. One launch, where a bundle has a variant for groups; else a launch or
 * more for each product. variant: the name of one for groups, which serves or the call fails; or NULL. Fails with
 * CLBAKE_INVALID_ARGUMENT, also where the Cs of two products share elements; else as clbake_gemm_prepare. */
CLBAKE_API clbake_code clbake_group_prepare(clbake_library* library, const clbake_problem* products, size_t count,
                                            const char* variant, clbake_group** group, clbake_error* error);

/* Prepares problem->batch products that share n, k and leading dimensions, and whose rows are counted on the device:
 * clbake.hpp, Library::prepare_counted_group. m: the most rows of all together. */
CLBAKE_API clbake_code clbake_group_prepare_counted(clbake_library* library, const clbake_problem* problem,
                                                    const char* variant, clbake_group** group, clbake_error* error);
CLBAKE_API void clbake_group_release(clbake_group* group);

/* 1 where one launch computes all products. */
CLBAKE_API int clbake_group_is_one_launch(const clbake_group* group);

/* Copies which program serves, and why; that of the first product where each has its own. */
CLBAKE_API clbake_code clbake_group_explanation(const clbake_group* group, clbake_explanation* explanation,
                                                clbake_error* error);

/* Enqueues all products. Offsets of products are added to those of the call; bias and scales of product i begin i times
 * their stride behind it, D where C does. counts: an int32 for each product of a counted group, else NULL. Fails as
 * clbake_gemm_enqueue. */
CLBAKE_API clbake_code clbake_group_enqueue(clbake_group* group, cl_command_queue queue, const clbake_scalars* scalars,
                                            cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, cl_mem c,
                                            size_t c_offset, const clbake_epilogue_buffers* more, cl_mem counts,
                                            size_t counts_offset, cl_uint wait_count, const cl_event* wait_list,
                                            cl_event* event, clbake_error* error);

/* ---- The application's own programs: any number of threads at once. They may outlive their library. ---- */

/* Loads the program of this name (`clbake build --programs`). Fails with CLBAKE_NO_PROGRAM, or as
 * clbake_gemm_prepare. */
CLBAKE_API clbake_code clbake_library_program(clbake_library* library, const char* name, clbake_program** program,
                                              clbake_error* error);

/* Tells what clbake_library_program would do now, without loading anything. Fails with CLBAKE_NO_PROGRAM and, with
 * CLBAKE_FAIL, with the reason of the miss. */
CLBAKE_API clbake_code clbake_library_explain_program(clbake_library* library, const char* name,
                                                      clbake_explanation* explanation, clbake_error* error);

/* All that the application would give OpenCL for one program. The pointers are the caller's; they are read during the
 * call only. */
typedef struct clbake_program_text {
  size_t struct_size;
  const char* const* sources; /* as for clCreateProgramWithSource; their joined bytes count */
  const size_t* source_sizes; /* bytes; NULL: each source ends with a zero */
  size_t source_count;
  const void* il;      /* SPIR-V of clCreateProgramWithIL, in place of sources; else NULL */
  size_t il_size;      /* bytes */
  const char* options; /* of clBuildProgram, of clCompileProgram for a part, of clLinkProgram with parts; or NULL */
  const char* const* header_names; /* of clCompileProgram */
  const char* const* header_texts;
  size_t header_count;
  const struct clbake_program_text* const* parts; /* programs of clLinkProgram; then there are no sources and no il */
  size_t part_count;
} clbake_program_text;

/* Sets a text of nothing. */
static inline void clbake_program_text_init(clbake_program_text* text) {
  memset(text, 0, sizeof *text);
  text->struct_size = sizeof *text;
}

/* Loads the program of this content, whatever its name in a bundle, or compiles what is given. Reads the files that it
 * may include. Fails as clbake_gemm_prepare; with CLBAKE_INVALID_ARGUMENT where it cannot be told which files a
 * compiler would read; with CLBAKE_FAIL, with CLBAKE_NO_PROGRAM where no bundle has it. */
CLBAKE_API clbake_code clbake_library_program_text(clbake_library* library, const clbake_program_text* text,
                                                   clbake_program** program, clbake_error* error);

/* Tells what clbake_library_program_text would do now, without loading anything. Fails as that. */
CLBAKE_API clbake_code clbake_library_explain_program_text(clbake_library* library, const clbake_program_text* text,
                                                           clbake_explanation* explanation, clbake_error* error);

CLBAKE_API void clbake_program_release(clbake_program* program);

/* The program for clCreateKernel; NULL for NULL. Valid until the release; kernels keep it longer. */
CLBAKE_API cl_program clbake_program_get(const clbake_program* program);

/* As clbake_gemm_explanation. */
CLBAKE_API clbake_code clbake_program_explanation(const clbake_program* program, clbake_explanation* explanation,
                                                  clbake_error* error);

/* ---- Releases in slices (`clbake split`): any number of threads at once. clbake/delivery/slice_index.hpp says more.
 * ---- */

typedef struct clbake_slice_index clbake_slice_index;
typedef struct clbake_slice_list clbake_slice_list;

/* Reads an index. minimum_release: an older one is refused. trust: NULL, or what the index must pass; its slices then
 * pass with it. Fails as clbake_bundle_open, or with CLBAKE_NOT_TRUSTED. */
CLBAKE_API clbake_code clbake_slice_index_open(const char* path, uint64_t minimum_release, const clbake_trust* trust,
                                               clbake_slice_index** index, clbake_error* error);
/* The same for bytes, which are copied. */
CLBAKE_API clbake_code clbake_slice_index_copy_memory(const void* bytes, size_t size, uint64_t minimum_release,
                                                      const clbake_trust* trust, clbake_slice_index** index,
                                                      clbake_error* error);
CLBAKE_API void clbake_slice_index_release(clbake_slice_index* index);

/* Number of the release; 0 for NULL. */
CLBAKE_API uint64_t clbake_slice_index_number(const clbake_slice_index* index);

typedef struct clbake_slice {
  size_t struct_size;
  char name[80];        /* of its file */
  uint64_t bytes;       /* of the whole file */
  clbake_origin origin; /* of what it has for the question, the last where several; never CLBAKE_OVERLAY */
  int instead;          /* not 0: it need not be fetched, and would serve without those that are 0 */
} clbake_slice;

static inline void clbake_slice_init(clbake_slice* slice) {
  memset(slice, 0, sizeof *slice);
  slice->struct_size = sizeof *slice;
}

/* Lists the slices that the device needs for these problems and programs: names, or "content-" and the digits of a
 * content. newer_driver: as in clbake_options. Fetches nothing. Fails with CLBAKE_INVALID_ARGUMENT, CLBAKE_OPENCL or
 * with what is wrong with the index. */
CLBAKE_API clbake_code clbake_slice_index_needed(const clbake_slice_index* index, cl_device_id device, int newer_driver,
                                                 const clbake_problem* problems, size_t problem_count,
                                                 const char* const* programs, size_t program_count,
                                                 clbake_slice_list** list, clbake_error* error);
CLBAKE_API void clbake_slice_list_release(clbake_slice_list* list);

/* Number of slices, first those that are to be fetched; 0 for NULL. */
CLBAKE_API size_t clbake_slice_list_count(const clbake_slice_list* list);
CLBAKE_API clbake_code clbake_slice_list_get(const clbake_slice_list* list, size_t i, clbake_slice* slice,
                                             clbake_error* error);
/* The i-th kind of problem or program that no slice serves; NULL behind the last one. Valid until the release. */
CLBAKE_API const char* clbake_slice_list_unserved(const clbake_slice_list* list, size_t i);

/* Opens a slice that was fetched, once its digest is the index'. Fails with CLBAKE_INVALID_ARGUMENT for a name that the
 * index does not have, as clbake_bundle_open (CLBAKE_TRUNCATED: a part is there), or with CLBAKE_CHECKSUM. */
CLBAKE_API clbake_code clbake_slice_index_open_slice(const clbake_slice_index* index, const char* name,
                                                     const char* path, clbake_bundle** bundle, clbake_error* error);
/* The same for bytes, which are copied. */
CLBAKE_API clbake_code clbake_slice_index_copy_slice(const clbake_slice_index* index, const char* name,
                                                     const void* bytes, size_t size, clbake_bundle** bundle,
                                                     clbake_error* error);

/* ---- Without a library: any thread. ---- */

/* Does early what NVIDIA's driver would do at the first program of the process; call it in a thread of its own beside
 * clCreateContext. Fails with CLBAKE_NOT_FOUND, CLBAKE_OPENCL or CLBAKE_INVALID_ARGUMENT; no call depends on it. */
CLBAKE_API clbake_code clbake_preload(cl_platform_id platform, clbake_error* error);

/* CLBAKE_VERSION_NUMBER of the loaded library, which may differ from the headers'. */
CLBAKE_API int clbake_version(void);

/* The code's name, for example "checksum"; "unknown" for another number. Static, never NULL. */
CLBAKE_API const char* clbake_code_name(clbake_code code);

#ifdef __cplusplus
}
#endif

#endif
