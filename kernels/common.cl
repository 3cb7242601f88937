// Shared by all families: the addresses of the operands, the numbers of a call, and the update of C. The generator puts
// types.cl and this file in front of the family's own.
//
//     C = alpha * op(A) * op(B) + beta * C          row-major; the contract is in KERNELS.md
//
// Build options define these macros for every kernel; each family's file lists its own:
//
//   PRECISION           bits of one element: 16 (computed in float), 32 (float) or 64 (double). Of a mixed product
//                       those of C, perhaps 8; types.cl has its other macros
//   BFLOAT16            1: elements of 16 bits are bfloat16, the upper half of a float; else they are half
//   TRANS_A             1: op(A) is the transpose of A as stored, 0: A itself
//   TRANS_B             1: op(B) is the transpose of B as stored, 0: B itself
//   VECTOR_WIDTH        elements of one realv: 1, 2, 4, 8 or 16
//   ML, NL, KL          block of a work-group: rows of C, columns of C, depth, in elements
//   MS, NS              block of a work-item: rows of C, columns of C, in elements
//   KS                  unrolling of the loop over k, in steps
//   LAYOUT_A, LAYOUT_B  ROW_MAJOR: the operand is read as the caller stored it; else it is packed first (pack.cl)
//   SPLIT_K             slices of k; each has work-groups of its own, and reduce.cl adds up their partial sums. 0: the
//                       call says how many, and only for the last tiles
//   GROUP               1: each product of a launch has sizes of its own: tile.cl. Else it is not defined

#define ROW_MAJOR 0  // as the caller stored it
#define PAD 1        // packed: k rows, row-major
#define CBL 2        // packed column-block-major: one block column of ML (NL) columns after the other
#define RBL 3        // packed row-block-major: one block row of KL rows after the other, each in blocks of KL x ML (NL)
#define IMAGE 4      // packed as PAD, in an image
#define KMAJOR 5     // packed: rows of op(A), columns of op(B), one by one along k

// The kernel's output: C, or with split-k a slice's partial sum in reals. With SPLIT_K 0 partial sums are another
// buffer.
#define WRITES_C (SPLIT_K <= 1)
#if WRITES_C
typedef element output;
#define LOAD_OUTPUT(pointer) LOAD(pointer)
#define STORE_OUTPUT(value, pointer) STORE(value, pointer)
#define VLOAD_OUTPUT(pointer) VLOAD(pointer)
#define VSTORE_OUTPUT(vector, pointer) VSTORE(vector, pointer)
typedef scaled updated;  // the type in which it is computed
#define TO_UPDATED(sum) TO_SCALED(sum)
#define TO_UPDATEDV(sum) TO_SCALEDV(sum)
#else
typedef real output;
typedef real updated;
#define TO_UPDATED(sum) (sum)
#define TO_UPDATEDV(sum) (sum)
#define LOAD_OUTPUT(pointer) (*(pointer))
#define STORE_OUTPUT(value, pointer) (*(pointer) = (value))
#define VLOAD_OUTPUT(pointer) VLOAD_REAL(pointer)
#define VSTORE_OUTPUT(vector, pointer) VSTORE_REAL(vector, pointer)
#endif

// ---- The products of a batch ----

// The beginning of a product's matrix if the batch has a list: place 0, 1 or 2 is A, B or C.
//
// Mesa's llvmpipe (26.2) reads what has the same address for all work-items even where the condition for it is false,
// here through the null that stands for no list. So the address depends on the work-item, as far as a compiler can see;
// but not with the compilers that are known to do right.
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__) || defined(POCL_DEVICE_ADDRESS_BITS)
#define ZERO_OF_WORK_ITEM 0
#else
#define ZERO_OF_WORK_ITEM (get_local_id(0) > get_global_size(0))
#endif
#define LISTED(number, place) offsets[3 * (number) + (place) + ZERO_OF_WORK_ITEM]

// ---- Addresses of the operands' elements ----

// Distances in elements, as 64 bits: a matrix may have more than 2^31 elements.
//   A_STEP_I                    from a row of op(A) to the next
//   A_STEP_P                    from a column of op(A) to the next, within a block of KL
//   B_STEP_J                    from a column of op(B) to the next
//   B_STEP_P                    from a row of op(B) to the next, within a block of KL
//   A_BLOCK_STEP, B_BLOCK_STEP  from a block of KL to the next
#if LAYOUT_A == KMAJOR
#define A_STEP_I ((ulong)lda)
#define A_STEP_P ((ulong)1)
#elif LAYOUT_A == CBL || LAYOUT_A == RBL
#define A_STEP_I ((ulong)1)
#define A_STEP_P ((ulong)ML)
#elif LAYOUT_A == PAD || LAYOUT_A == IMAGE || TRANS_A
#define A_STEP_I ((ulong)1)
#define A_STEP_P ((ulong)lda)
#else
#define A_STEP_I ((ulong)lda)
#define A_STEP_P ((ulong)1)
#endif
#if LAYOUT_B == KMAJOR
#define B_STEP_J ((ulong)ldb)
#define B_STEP_P ((ulong)1)
#elif LAYOUT_B == CBL || LAYOUT_B == RBL
#define B_STEP_J ((ulong)1)
#define B_STEP_P ((ulong)NL)
#elif LAYOUT_B == PAD || LAYOUT_B == IMAGE || !TRANS_B
#define B_STEP_J ((ulong)1)
#define B_STEP_P ((ulong)ldb)
#else
#define B_STEP_J ((ulong)ldb)
#define B_STEP_P ((ulong)1)
#endif
#if LAYOUT_A == RBL
#define A_BLOCK_STEP (KL * (ulong)lda)
#else
#define A_BLOCK_STEP (KL * A_STEP_P)
#endif
#if LAYOUT_B == RBL
#define B_BLOCK_STEP (KL * (ulong)ldb)
#else
#define B_BLOCK_STEP (KL * B_STEP_P)
#endif

// Neighbours in memory lie along k; else along the rows (columns) of C.
#define A_ALONG_K (LAYOUT_A == KMAJOR || (LAYOUT_A == ROW_MAJOR && !TRANS_A))
#define B_ALONG_K (LAYOUT_B == KMAJOR || (LAYOUT_B == ROW_MAJOR && (TRANS_B || READS_WEIGHTS)))
// A block of KL, ML rows or NL columns, consists of lines of neighbours: how many, their length in elements, and the
// distance from one to the next.
#define B_COLUMNS NL
#define A_LINES (A_ALONG_K ? ML : KL)
#define B_LINES (B_ALONG_K ? B_COLUMNS : KL)
#define A_LINE (A_ALONG_K ? KL : ML)
#define B_LINE (B_ALONG_K ? KL : B_COLUMNS)
#define A_LINE_STEP (A_ALONG_K ? A_STEP_I : A_STEP_P)
#define B_LINE_STEP (B_ALONG_K ? B_STEP_J : B_STEP_P)

// Offset of block column number `column` in a packed operand, in elements; `width` is that of a block, ML or NL.
static inline ulong block_column_offset(const int layout, const size_t column, const int width, const int k) {
  const ulong depth = ((ulong)k + KL - 1) / KL * KL;
  return column * width * (layout == CBL || layout == KMAJOR ? depth : layout == RBL ? KL : 1);
}

// ---- The epilogue ----

// The steps from x = alpha * sum + beta * d to an element of C, if the call has steps other than 0.
// Every program has all of it: a test of that number costs nothing, and the plain update of C stays as it is.
#define ACTIVATION 7    // three bits, one of these:
#define CLAMP 1         //   low <= x <= high; a NaN stays one
#define SIGMOID 2       //   s(x) = 1 / (1 + exp(-x))
#define SILU 3          //   x * s(x)
#define GELU 4          //   x * (1 + erf(x / sqrt(2))) / 2, where 1 + erf(y) = erfc(-y)
#define GELU_TANH 5     //   x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2, where (1 + tanh(y)) / 2 = s(2 y)
#define ROW_BIAS 8      // before that, x += bias[row]
#define COLUMN_BIAS 16  // before that, x += bias[column]
#define OTHER_D 32      // d is a matrix of its own, not C

typedef struct {
  int steps;  // bits of the list above
  scaled low, high;
  __global const bias_element* bias;  // of the first row or column of a part of C; null: none
  __global const element* d;          // the element that belongs to the first one of the part; null: C's own
  int ldd;
  MIXED_EPILOGUE
} Epilogue;

// The epilogue of the part of C that begins at `row` and `column` in product `number` of the batch.
static inline Epilogue find_epilogue(const size_t row, const size_t column, const ulong number,
                                     __global const ulong* offsets, MIXED_PARAMETERS const int steps, const scaled low,
                                     const scaled high, __global const bias_element* bias, const ulong bias_offset,
                                     const ulong bias_stride, __global const element* d, const ulong d_offset,
                                     const ulong d_stride, const int ldd) {
  Epilogue e = {steps, low, high, 0, 0, ldd MIXED_ZERO};
  FIND_MIXED_EPILOGUE
  if (steps & (ROW_BIAS | COLUMN_BIAS))
    e.bias = bias + (bias_offset + number * bias_stride + (steps & ROW_BIAS ? row : column));
  if (steps & OTHER_D)
    e.d = d + (d_offset + (offsets ? LISTED(number, 2) : number * d_stride) + row * (ulong)ldd + column);
  return e;
}

// Its last parameters, from a kernel's arguments.
#define EPILOGUE_ARGUMENTS                                                                                         \
  offsets, MIXED_ARGUMENTS numbers.steps, scalars.z, scalars.w, bias, numbers.bias_offset, numbers.bias_stride, d, \
      numbers.d_offset, numbers.d_stride, numbers.ldd
#define TILE_EPILOGUE \
  find_epilogue(tile.row, tile.column, (ulong)tile.product + numbers.first_product, EPILOGUE_ARGUMENTS)

// activate for one number, activate_vector for a scaledv. The division by sqrt(2) is a product with its reciprocal.
#if C_TYPE == S32
#define SMOOTH_ACTIVATIONS  // of floating point alone
#else
#define SMOOTH_ACTIVATIONS                                                       \
  case SIGMOID: return 1 / (1 + exp(-x));                                        \
  case SILU: return x / (1 + exp(-x));                                           \
  case GELU: return x * (scaled)0.5 * erfc(x * (scaled)-0.70710678118654752440); \
  case GELU_TANH: /* 2 sqrt(2 / pi), and that times 0.044715 */                  \
    return x / (1 + exp(-x * ((scaled)1.5957691216057308 + (scaled)0.07135481627260025 * x * x)));
#endif
#define DEFINE_ACTIVATE(name, type)                          \
  static inline type name(const type x, const Epilogue* e) { \
    switch (e->steps & ACTIVATION) {                         \
      case CLAMP: {                                          \
        const type above = x < e->low ? (type)(e->low) : x;  \
        return above > e->high ? (type)(e->high) : above;    \
      }                                                      \
        SMOOTH_ACTIVATIONS                                   \
      default: return x;                                     \
    }                                                        \
  }
DEFINE_ACTIVATE(activate, scaled)
#if VECTOR_WIDTH > 1
DEFINE_ACTIVATE(activate_vector, scaledv)
#else
#define activate_vector activate
#endif

// ---- The kernels' arguments ----

// Few arguments, as drivers take time for each. These numbers are the same for all kernels of a variant.
typedef struct {
  ulong a_offset, b_offset, c_offset;  // elements
  ulong a_stride, b_stride, c_stride;
  ulong bias_offset, bias_stride, d_offset, d_stride;
  int m, n, k;
  int lda, ldb, ldc, ldd;
  int first_product;
  int steps;  // of the epilogue
  int group;  // products of a group; minus their number where `offsets` is the rows of each; else 0
} Numbers;

// The last ones of gemm and reduce. scalars: alpha, beta, low, high. In a group the numbers of a work-group's product
// are made of those of the call.
#ifndef GROUP
#define GROUP 0
#endif
#if GROUP
#define CALL_NUMBERS call
#else
#define CALL_NUMBERS numbers
#endif
#define CALL_PARAMETERS                                                                        \
  __global const ulong *offsets, __global const bias_element *bias, __global const element *d, \
      const Numbers CALL_NUMBERS, const CONCAT(SCALED, 4) scalars MIXED_CALL_PARAMETERS

static inline int round_up(const int value, const int factor) {
  return (value / factor + (value % factor != 0)) * factor;
}

// ---- Sums, and the update of C ----

#define VECTORS (NS / VECTOR_WIDTH)  // in a row of a work-item

// Sets a work-item's sums, realv sum[MS][VECTORS], to zero. This and the steps of long kernels are macros that use the
// kernel's variables: as functions, even inlined ones, they changed the registers that tuned kernels need.
#define CLEAR_SUM EACH_SUM(sum[i][w] = (realv)(0))
#define EACH_SUM(statement) \
  UNROLLED(i, MS) {         \
    UNROLLED(w, VECTORS) {  \
      statement;            \
    }                       \
  }

// c = alpha * sum + beta * c for one element. With beta = 0, c is not read: it may hold NaN.
static inline void update_element(__global output* c, const real sum, const updated alpha, const updated beta) {
  if (beta == 0) {
    STORE_OUTPUT(alpha * TO_UPDATED(sum), c);
  } else {
    STORE_OUTPUT(alpha * TO_UPDATED(sum) + beta * LOAD_OUTPUT(c), c);
  }
}

// The same for the first `count` of VECTOR_WIDTH neighbours in a row of C.
static inline void update_vector(__global output* c, const realv sum, const int count, const updated alpha,
                                 const updated beta) {
  if (count >= VECTOR_WIDTH) {
    if (beta == 0) {
      VSTORE_OUTPUT(alpha * TO_UPDATEDV(sum), c);
    } else {
      VSTORE_OUTPUT(alpha * TO_UPDATEDV(sum) + beta * VLOAD_OUTPUT(c), c);
    }
  } else {
    // Unrolled, because a GPU keeps an array in registers only if all indices are constants.
    UNROLLED(q, VECTOR_WIDTH) {
      if (q < count) update_element(c + q, ((const real*)&sum)[q], alpha, beta);
    }
  }
}

#if WRITES_C
// The first `count` of VECTOR_WIDTH neighbours.
static inline scaledv load_some(__global const element* from, const int count) {
  if (count >= VECTOR_WIDTH) return VLOAD(from);
  scaledv some = (scaledv)(0);
  for (int q = 0; q < count; ++q) ((scaled*)&some)[q] = LOAD(from + q);
  return some;
}

// As update_vector, with the epilogue; c is in this row and column of the epilogue's part of C. Slower, and there once
// in a program, not for each vector of a work-item.
static inline void finish_vector(const Epilogue* e, __global element* c, const int row, const int column,
                                 const realv sum, const int count, const scaled alpha, const scaled beta) {
  scaledv x = alpha * MIXED_SUM(sum);
  if (beta != 0) x += beta * load_some(e->d ? e->d + (row * (ulong)e->ldd + column) : c, count);
  if (e->steps & ROW_BIAS) x += LOAD_BIAS(e->bias + row);
  if (e->steps & COLUMN_BIAS) x += LOAD_BIASES(e->bias + column, count);
  x = activate_vector(x, e);
  SHIFT_C(x, e);
  if (count >= VECTOR_WIDTH) {
    VSTORE(x, c);
  } else {
    for (int q = 0; q < count; ++q) STORE(((const scaled*)&x)[q], c + q);
  }
}
#endif

// A kernel's last step: updates a work-item's vectors of C, sum[MS][VECTORS]. each_vector(unrolling, update) repeats
// `update` for every vector i, w of the work-item and its `row` and `column` in the tile: EACH_VECTOR where the family
// defines ROW_OF(i) and COLUMN_OF(w), or a macro of its own. With an epilogue it goes through a copy of the sums, as an
// array stays in registers only if all indices are constants. Partial sums have no epilogue: reduce.cl applies it.
#define UPDATE_C(each_vector) \
  STORE_SLICE(each_vector)    \
  FINISH_C(each_vector)       \
  each_vector("unroll",       \
              update_vector(tile.c + (row * (ulong)ldc + column), sum[i][w], tile.columns - column, alpha, beta))
#define EACH_VECTOR(unrolling, update)                       \
  _Pragma(unrolling) for (int i = 0; i < MS; ++i) {          \
    const int row = ROW_OF(i);                               \
    if (row < tile.rows) {                                   \
      _Pragma(unrolling) for (int w = 0; w < VECTORS; ++w) { \
        const int column = COLUMN_OF(w);                     \
        update;                                              \
      }                                                      \
    }                                                        \
  }
#if SPLIT_K == 0
#define STORE_SLICE(each_vector)                                                            \
  if (part.slices > 1) {                                                                    \
    each_vector("unroll", VSTORE_REAL(sum[i][w], SLICE_SUMS + (row * NL + column))) return; \
  }
#else
#define STORE_SLICE(each_vector)
#endif
#if WRITES_C
#define FINISH_C(each_vector)                                                                                \
  if (numbers.steps != 0) {                                                                                  \
    const Epilogue e = TILE_EPILOGUE;                                                                        \
    realv copy[MS][VECTORS];                                                                                 \
    EACH_SUM(copy[i][w] = sum[i][w])                                                                         \
    each_vector("unroll 1", finish_vector(&e, tile.c + (row * (ulong)ldc + column), row, column, copy[i][w], \
                                          tile.columns - column, alpha, beta)) return;                       \
  }
#else
#define FINISH_C(each_vector)
#endif
