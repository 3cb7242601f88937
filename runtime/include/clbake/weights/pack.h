/* Packed weights for C: clbake/weights/pack.hpp is the same for C++ and says more. In a library of its own,
 * clbake::weights (pkg-config: clbake-weights), which needs no OpenCL.
 *
 *   clbake_weight_format format;
 *   clbake_weight_format_init(&format, 4096, 4096);
 *   clbake_weights_bytes(&format, &size, &error);
 *   clbake_weights_quantize(&format, weights, 4096 * 4096, packed, size, &error);
 *
 * Any thread. A wrong length, and whatever else is wrong, is CLBAKE_INVALID_ARGUMENT with a message. `packed` gets
 * `packed_size` bytes, which clbake_weights_bytes tells. Halves are their bits. */
#ifndef CLBAKE_WEIGHTS_H
#define CLBAKE_WEIGHTS_H

#include <clbake/clbake.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix op(B), k x n. */
typedef struct clbake_weight_format {
  size_t struct_size;
  size_t k, n;   /* k: a multiple of the group */
  size_t bits;   /* 4 or 8 */
  size_t group;  /* steps of k that share a scale: 32, 64 or 128 */
  int has_zeros; /* 0: all zero points are the middle code, 8 or 128 */
} clbake_weight_format;

/* 4 bits in groups of 32, without zero points. */
static inline void clbake_weight_format_init(clbake_weight_format* format, size_t k, size_t n) {
  memset(format, 0, sizeof *format);
  format->struct_size = sizeof *format;
  format->k = k;
  format->n = n;
  format->bits = 4;
  format->group = 32;
}

CLBAKE_API clbake_code clbake_weights_bytes(const clbake_weight_format* format, size_t* bytes, clbake_error* error);

/* codes: k x n, row-major; scales and zeros: k / group x n; zeros: NULL unless the format has them. */
CLBAKE_API clbake_code clbake_weights_pack(const clbake_weight_format* format, const uint8_t* codes, size_t code_count,
                                           const uint16_t* scales, size_t scale_count, const uint8_t* zeros,
                                           size_t zero_count, void* packed, size_t packed_size, clbake_error* error);

/* The nearest weights to floats, k x n, row-major. */
CLBAKE_API clbake_code clbake_weights_quantize(const clbake_weight_format* format, const float* weights, size_t count,
                                               void* packed, size_t packed_size, clbake_error* error);

/* Checks packed weights and tells their format. */
CLBAKE_API clbake_code clbake_weights_inspect(const void* packed, size_t packed_size, clbake_weight_format* format,
                                              clbake_error* error);

CLBAKE_API clbake_code clbake_weights_unpack(const void* packed, size_t packed_size, float* weights, size_t count,
                                             clbake_error* error);

/* GGUF's blocks, n rows along k: Q4_0 (format->bits 4) or Q8_0 (8), groups of 32. */
CLBAKE_API clbake_code clbake_weights_pack_gguf(const clbake_weight_format* format, const void* blocks, size_t size,
                                                void* packed, size_t packed_size, clbake_error* error);

/* GPTQ's words of a format of 4 bits with zero points. minus_one: not 0 where the zero points are stored less one. */
CLBAKE_API clbake_code clbake_weights_pack_gptq(const clbake_weight_format* format, const uint32_t* qweight,
                                                size_t weight_count, const uint32_t* qzeros, size_t zero_count,
                                                const uint16_t* scales, size_t scale_count, int minus_one, void* packed,
                                                size_t packed_size, clbake_error* error);

/* AWQ's words, as of GPTQ. */
CLBAKE_API clbake_code clbake_weights_pack_awq(const clbake_weight_format* format, const uint32_t* qweight,
                                               size_t weight_count, const uint32_t* qzeros, size_t zero_count,
                                               const uint16_t* scales, size_t scale_count, void* packed,
                                               size_t packed_size, clbake_error* error);

#ifdef __cplusplus
}
#endif

#endif
