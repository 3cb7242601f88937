// Complex products: a complex product is one real product of operands that these kernels rearrange.
//
// Elements are interleaved: real part, imaginary part. So a row of C, n complex elements, is a row of 2 n reals, and
// with each element b of op(B) written out as the 2 x 2 matrix that multiplies by it,
//
//      A, m x 2k                   B, 2k x 2n                    C, m x 2n
//   [ re a, im a, ... ]    *    [  re b, im b, ... ]    =    [ re c, im c, ... ]
//                               [ -im b, re b, ... ]
//
// is the complex product, with as many operations as the textbook's four real ones. Every family's variants for single
// and double compute it; C is written in place, and A as stored is read in place. Nothing here moves an element far:
// transposed operands stay so, and meet variants for transposed ones.
//
//   stored                      written
//   A as op(A),   m x k         m x 2k   [ re, im ] or, conjugated, [ re, -im ]; only if it is conjugated
//   A transposed, k x m         2k x m   a row of real parts, a row of imaginary ones
//   B as op(B),   k x n         2k x 2n  as above
//   B transposed, n x k         2n x 2k  the transpose of that: [ re, -im ], [ im, re ]
//
// Build options:
//
//   PRECISION  bits of a real: 32 or 64
//   ITEMS      work-items of a work-group
//   WIDTH      reals that a work-item reads at a time: 2, 8 or 16
//
// Grid: x along the columns, y along the rows of the matrix as stored, z = product of the batch. The kernels cover all
// rows and columns whatever the grid, so that the runtime can bound it.

#if PRECISION == 64
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double real;
typedef double2 real2;
#define REAL double
#else
typedef float real;
typedef float2 real2;
#define REAL float
#endif
#define CONCAT_EXPANDED(x, y) x##y
#define CONCAT(x, y) CONCAT_EXPANDED(x, y)
typedef CONCAT(REAL, WIDTH) realv;  // WIDTH / 2 complex elements
// These need no more alignment than a real has.
#define VLOAD(from) CONCAT(vload, WIDTH)(0, from)
#define VSTORE(value, to) CONCAT(vstore, WIDTH)(value, 0, to)

#pragma OPENCL FP_CONTRACT ON

#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void name

#if WIDTH == 2
typedef real realh;  // half of them: real parts, or imaginary ones
#define VSTORE_HALF(value, to) (*(to) = (value))
#else
#if WIDTH == 8
#define HALF_WIDTH 4
#else
#define HALF_WIDTH 8
#endif
typedef CONCAT(REAL, HALF_WIDTH) realh;
#define VSTORE_HALF(value, to) CONCAT(vstore, HALF_WIDTH)(value, 0, to)
#endif

// conjugated(z, sign): with -1 the conjugate, with 1 z. turned(z): i * z.
#define DEFINE_COMPLEX(type, conjugated, turned, scaled)                                        \
  static inline type conjugated(type z, const real sign) {                                      \
    z.odd *= sign;                                                                              \
    return z;                                                                                   \
  }                                                                                             \
  static inline type turned(const type z) {                                                     \
    type t;                                                                                     \
    t.even = -z.odd;                                                                            \
    t.odd = z.even;                                                                             \
    return t;                                                                                   \
  }                                                                                             \
  /* Without an imaginary part there is no product with it: infinity times 0 would be a NaN. */ \
  static inline type scaled(const type z, const real2 factor) {                                 \
    return factor.y == 0 ? z * factor.x : z * factor.x + turned(z) * factor.y;                  \
  }
DEFINE_COMPLEX(realv, conjugated, turned, scaled)
DEFINE_COMPLEX(real2, conjugated_2, turned_2, scaled_2)  // at the end of a row

// Calls vector(q) for each WIDTH reals of a row, q being the first one's number, and pair(q) for the complex elements
// that are left over.
#define FOR_EACH(vector, pair)                                                            \
  for (size_t q = get_global_id(0) * WIDTH; q < reals; q += get_global_size(0) * WIDTH) { \
    if (q + WIDTH <= reals) {                                                             \
      vector(q);                                                                          \
    } else if (WIDTH > 2) {                                                               \
      for (; q < reals; q += 2) pair(q);                                                  \
    }                                                                                     \
  }

// The offset of row number `row` of product `number`, in reals. All but `row` are in complex elements.
static inline ulong row_start(const ulong offset, __global const ulong* offsets, const int operand, const ulong stride,
                              const ulong number, const size_t row, const int ld) {
  return 2 * (offset + (offsets ? offsets[3 * number + operand] : number * stride) + row * ld);
}

// The source of a copy, as in the contract: rows x columns complex elements, as stored. The copies of a launch lie one
// after the other in `target`, `target_stride` reals apart.
#define SOURCE                                                                                                    \
  const int rows, const int columns, __global const real *restrict source, const ulong offset, const int ld,      \
      const ulong stride, __global const ulong *offsets, const int first_product, __global real *restrict target, \
      const ulong target_stride

#define FOR_EACH_ROW for (size_t row = get_group_id(1); row < (size_t)rows; row += get_num_groups(1))

// The copy of op(A), with rows `target_ld` reals apart. sign: -1 conjugates.
KERNEL(clbake_complex_a)(SOURCE, const int target_ld, const int transposed, const real sign) {
  const size_t reals = 2 * (size_t)columns;
  target += get_group_id(2) * target_stride;
  FOR_EACH_ROW {
    __global const real* from =
        source + row_start(offset, offsets, 0, stride, get_group_id(2) + first_product, row, ld);
    if (transposed) {
      __global real* real_parts = target + 2 * row * target_ld;
      __global real* imaginary_parts = real_parts + target_ld;
#define SEPARATE(q)                                    \
  {                                                    \
    const realv z = VLOAD(from + q);                   \
    VSTORE_HALF(z.even, real_parts + q / 2);           \
    VSTORE_HALF(z.odd* sign, imaginary_parts + q / 2); \
  }
#define SEPARATE_PAIR(q)                         \
  {                                              \
    real_parts[q / 2] = from[q];                 \
    imaginary_parts[q / 2] = from[q + 1] * sign; \
  }
      FOR_EACH(SEPARATE, SEPARATE_PAIR)
    } else {
      __global real* to = target + row * target_ld;
#define COPY(q) VSTORE(conjugated(VLOAD(from + q), sign), to + q)
#define COPY_PAIR(q) vstore2(conjugated_2(vload2(0, from + q), sign), 0, to + q)
      FOR_EACH(COPY, COPY_PAIR)
    }
  }
}

// The copy of alpha * op(B): two rows for each one that is stored, `target_ld` reals apart. sign: -1 conjugates B.
// last_sign: -1 if B is stored transposed.
KERNEL(clbake_complex_b)(SOURCE, const int target_ld, const real2 alpha, const real sign, const real last_sign) {
  const size_t reals = 2 * (size_t)columns;
  target += get_group_id(2) * target_stride;
  FOR_EACH_ROW {
    __global const real* from =
        source + row_start(offset, offsets, 1, stride, get_group_id(2) + first_product, row, ld);
    __global real* to = target + 2 * row * target_ld;
    __global real* next = to + target_ld;
#define EXPAND(q)                                                                            \
  {                                                                                          \
    const realv z = conjugated(scaled(conjugated(VLOAD(from + q), sign), alpha), last_sign); \
    VSTORE(z, to + q);                                                                       \
    VSTORE(turned(z), next + q);                                                             \
  }
#define EXPAND_PAIR(q)                                                                                 \
  {                                                                                                    \
    const real2 z = conjugated_2(scaled_2(conjugated_2(vload2(0, from + q), sign), alpha), last_sign); \
    vstore2(z, 0, to + q);                                                                             \
    vstore2(turned_2(z), 0, next + q);                                                                 \
  }
    FOR_EACH(EXPAND, EXPAND_PAIR)
  }
}

// C = beta * C, for a beta that is not real.
KERNEL(clbake_complex_c)
(const int rows, const int columns, __global real* c, const ulong offset, const int ld, const ulong stride,
 __global const ulong* offsets, const int first_product, const real2 beta) {
  const size_t reals = 2 * (size_t)columns;
  FOR_EACH_ROW {
    __global real* at = c + row_start(offset, offsets, 2, stride, get_group_id(2) + first_product, row, ld);
#define SCALE(q) VSTORE(scaled(VLOAD(at + q), beta), at + q)
#define SCALE_PAIR(q) vstore2(scaled_2(vload2(0, at + q), beta), 0, at + q)
    FOR_EACH(SCALE, SCALE_PAIR)
  }
}
