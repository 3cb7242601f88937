// The part that all families share; the generator puts it in front of the family's own file.
//
//     C = alpha * op(A) * op(B) + beta * C          row-major, the contract is in KERNELS.md
//
// Macros that the build options define for every kernel:
//
//   PRECISION     bits of one element: 32 (float) or 64 (double)
//   TRANS_A       1: op(A) is the transpose of A as stored, 0: A itself
//   TRANS_B       1: op(B) is the transpose of B as stored, 0: B itself
//   VECTOR_WIDTH  elements of one realv: 1, 2, 4, 8 or 16
//   ML, NL, KL    block of a work-group: rows of C, columns of C, depth, in elements
//   MS, NS        block of a work-item: rows of C, columns of C, in elements
//   KS            unrolling of the loop over k, in steps

#if PRECISION == 64
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define REAL double
#else
#define REAL float
#endif

// A sum of products may be one fused operation: faster, and rounded once instead of twice.
#pragma OPENCL FP_CONTRACT ON

#define CONCAT_EXPANDED(x, y) x##y
#define CONCAT(x, y) CONCAT_EXPANDED(x, y)

typedef REAL real;
#if VECTOR_WIDTH == 1
typedef real realv;
#define VLOAD(pointer) (*(pointer))
#define VSTORE(vector, pointer) (*(pointer) = (vector))
#else
typedef CONCAT(REAL, VECTOR_WIDTH) realv;
// Alignment of an element is enough for these.
#define VLOAD(pointer) CONCAT(vload, VECTOR_WIDTH)(0, pointer)
#define VSTORE(vector, pointer) CONCAT(vstore, VECTOR_WIDTH)(vector, 0, pointer)
#endif

// Distance of two neighbours in memory, in elements, as 64 bits: a matrix may have more than 2^31 elements.
//   A_STEP_I  one row of op(A) down       A_STEP_P  one column of op(A) to the right
//   B_STEP_P  one row of op(B) down       B_STEP_J  one column of op(B) to the right
#if TRANS_A
#define A_STEP_I ((ulong)1)
#define A_STEP_P ((ulong)lda)
#else
#define A_STEP_I ((ulong)lda)
#define A_STEP_P ((ulong)1)
#endif
#if TRANS_B
#define B_STEP_P ((ulong)1)
#define B_STEP_J ((ulong)ldb)
#else
#define B_STEP_P ((ulong)ldb)
#define B_STEP_J ((ulong)1)
#endif

// The one kernel of a program, with the contract's arguments. A work-group has local_x x local_y work-items.
#define GEMM_KERNEL(local_x, local_y)                                                                             \
  __kernel __attribute__((reqd_work_group_size(local_x, local_y, 1))) void clbake_gemm(                           \
      const int m, const int n, const int k, const real alpha, __global const real* a, const ulong a_offset,      \
      const int lda, __global const real* b, const ulong b_offset, const int ldb, const real beta,                \
      __global real* c, const ulong c_offset, const int ldc)

// c = alpha * sum + beta * c for one element; beta == 0 does not read c, which may hold NaN.
static inline void update_element(__global real* c, const real sum, const real alpha, const real beta) {
  if (beta == 0) {
    *c = alpha * sum;
  } else {
    *c = alpha * sum + beta * *c;
  }
}

// The same for the first `count` of VECTOR_WIDTH neighbours in a row of C.
static inline void update_vector(__global real* c, const realv sum, const int count, const real alpha,
                                 const real beta) {
  if (count >= VECTOR_WIDTH) {
    if (beta == 0) {
      VSTORE(alpha * sum, c);
    } else {
      VSTORE(alpha * sum + beta * VLOAD(c), c);
    }
  } else {
    for (int q = 0; q < count; ++q) {
      update_element(c + q, ((const real*)&sum)[q], alpha, beta);
    }
  }
}
