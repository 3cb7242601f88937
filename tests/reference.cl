// The kernel contract of KERNELS.md in its shortest form: one work-item computes one element of C. It is no family: it
// is never tuned or baked. tests/kernels/contract_test.cpp runs it and every family with equal arguments and compares.
//
// Built with -DPRECISION=16|32|64 [-DBFLOAT16=1] -DTRANS_A=0|1 -DTRANS_B=0|1. Launched with 8 x 8 work-items,
// tile_m = tile_n = 8.

#ifndef BFLOAT16
#define BFLOAT16 0
#endif
#if PRECISION == 64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double element;  // of A, B and C in global memory
typedef double real;     // what sums are kept in
typedef double4 real4;
#elif PRECISION == 32
typedef float element;
typedef float real;
typedef float4 real4;
#elif BFLOAT16
typedef ushort element;  // the upper half of a float
typedef float real;
typedef float4 real4;
#else
typedef half element;  // used through pointers only, which needs no cl_khr_fp16
typedef float real;
typedef float4 real4;
#endif

#if BFLOAT16
#define LOAD(pointer) as_float((uint)(*(pointer)) << 16)
#define STORE(value, pointer) (*(pointer) = rounded(value))
static inline ushort rounded(const float value) {  // to nearest even
  const uint bits = as_uint(value);
  return isnan(value) ? (bits >> 16 | 0x40) : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#elif PRECISION == 16
#define LOAD(pointer) vload_half(0, pointer)
#define STORE(value, pointer) vstore_half_rte(value, 0, pointer)
#else
#define LOAD(pointer) (*(pointer))
#define STORE(value, pointer) (*(pointer) = (value))
#endif

typedef struct {
  ulong a_offset, b_offset, c_offset;
  ulong a_stride, b_stride, c_stride;
  ulong bias_offset, bias_stride, d_offset, d_stride;
  int m, n, k;
  int lda, ldb, ldc, ldd;
  int first_product;
  int steps;
  int unused;
} Numbers;

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void clbake_gemm(
    __global const element* a, __global const element* b, __global element* c, __global const ulong* offsets,
    __global const element* bias, __global const element* d, const Numbers numbers, const real4 scalars) {
  const int m = numbers.m, n = numbers.n, k = numbers.k;
  const int lda = numbers.lda, ldb = numbers.ldb, ldc = numbers.ldc;
  const int steps = numbers.steps;
  const real alpha = scalars.x, beta = scalars.y, low = scalars.z, high = scalars.w;
  const ulong j = get_global_id(0);
  const ulong i = get_global_id(1);
  if (i >= (ulong)m || j >= (ulong)n) {
    return;  // the grid is rounded up to whole work-groups
  }

  const ulong product = get_group_id(2) + numbers.first_product;
  a += numbers.a_offset + (offsets ? offsets[3 * product] : product * numbers.a_stride);
  b += numbers.b_offset + (offsets ? offsets[3 * product + 1] : product * numbers.b_stride);
  c += numbers.c_offset + (offsets ? offsets[3 * product + 2] : product * numbers.c_stride) + i * ldc + j;

  real sum = 0;
  const int depth = alpha == 0 ? 0 : k;  // with alpha = 0, A and B are not read
  for (ulong p = 0; p < (ulong)depth; ++p) {
    const real a_ip = LOAD(a + (TRANS_A ? p * lda + i : i * lda + p));
    const real b_pj = LOAD(b + (TRANS_B ? j * ldb + p : p * ldb + j));
    sum += a_ip * b_pj;
  }
  // beta * D, which is C if it is no matrix of its own; with beta = 0, it is not read: it may hold NaN
  d += numbers.d_offset + (offsets ? offsets[3 * product + 2] : product * numbers.d_stride) + i * numbers.ldd + j;
  const real c_ij = beta == 0 ? 0 : beta * LOAD(steps & 32 ? d : c);
  real x = alpha * sum + c_ij;
  bias += numbers.bias_offset + product * numbers.bias_stride;
  if (steps & 8) x += LOAD(bias + i);
  if (steps & 16) x += LOAD(bias + j);
  switch (steps & 7) {
    case 1: x = x < low ? low : x > high ? high : x; break;
    case 2: x = 1 / (1 + exp(-x)); break;
    case 3: x = x / (1 + exp(-x)); break;
    case 4: x = x * erfc(-x / sqrt((real)2)) / 2; break;
    case 5: x = x * (1 + tanh(sqrt((real)0.63661977236758134308) * (x + (real)0.044715 * x * x * x))) / 2; break;
  }
  STORE(x, c);
}
