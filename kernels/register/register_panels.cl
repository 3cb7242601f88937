// How register_tile cuts C into tiles, packs, panels of op(B) and strips of op(A), and writes a tile. For
// AVX512-VNNI and AVX512-BF16: register_dots.cl.

#define IN_REAL (DOTS ? 32 / 8 / (int)sizeof(operand) : 1)  // steps of k in a real of the panel
#define PANEL (KL / IN_REAL * VECTORS)
#define KEEPS_SUMS (SPLIT_K == 1 && PRECISION < 32)
// Tiles for large products pack op(A), too: tall ones have no registers for MS row pointers; of a transposed A, rows
// 4 KB apart evict each other from the cache.
#define FOR_LARGE (!LINES && NL >= 4 * NS)
// Rows of op(B) are packed before they are multiplied, not panel by panel meanwhile, where few rows of op(A) hide
// nothing, and with short vectors, on CPUs of small caches, also for large products: each page is touched once.
#define MAY_PACK_ROWS (!TRANS_B && !DOTS && NL >= 4 * NS)
#define SHORT_VECTORS (VECTOR_WIDTH < (PRECISION == 64 ? 8 : 16))
#define PACKS_ALL (MAY_PACK_ROWS && SHORT_VECTORS && FOR_LARGE)
#define PACKS_ROWS(rows) (PACKS_ALL || (MAY_PACK_ROWS && (rows) <= (SHORT_VECTORS ? 128 : 16)))
// Half and 8 bits of floating point are converted once for all panels.
#define CONVERTS_A (MIXED ? !SUMS_INTEGERS : (PRECISION == 16 && !BFLOAT16) || FOR_LARGE)

// How many steps of k ahead the rows of a matrix are prefetched: a step takes MS * VECTORS / 2 cycles, 6 to 14, an
// access to memory some hundreds. Prefetching beyond the end is harmless.
#define B_AHEAD 40
#define A_AHEAD 24
#define ROWS_AHEAD 4    // of op(B), NL elements each
#define ALONG_AHEAD 64  // elements of a row of a transposed op(B)

// The tile size that cuts `extent` into equal tiles of at most `largest`, in multiples of `unit`. With one smaller tile
// at the end, its core would run out of work early.
static inline size_t equal_tile(const size_t extent, const size_t largest, const size_t unit) {
  const size_t tiles = max((extent + largest - 1) / largest, (size_t)1);
  const size_t size = (extent + tiles - 1) / tiles;
  return (size + unit - 1) / unit * unit;
}

// c = alpha * sum + beta * c for up to `count` elements of a vector, or its epilogue.
static ALWAYS_INLINE void update_part(__global output* to, const realv sum, const int count, const updated alpha,
                                      const updated beta, const Epilogue* e, const int row, const int column) {
#if SPLIT_K == 1
  if (e->steps != 0) {
    finish_vector(e, to, row, column, sum, count, alpha, beta);
    return;
  }
#endif
  update_vector(to, sum, count, alpha, beta);
}

// c = alpha * sum + beta * c for the rows x columns tile at c, which begins at this row and column of the epilogue's
// part of C. A whole tile goes straight from registers to C, an incomplete one, or with an epilogue, through memory:
// both are rare, and their code stays small.
static ALWAYS_INLINE void update_tile(__global output* c, const int ldc, realv sum[MS][VECTORS], const int rows,
                                      const int columns, const updated alpha, const updated beta, const Epilogue* e,
                                      const int row, const int column) {
  if (rows == MS && columns == NS && e->steps == 0) {
    EACH_SUM(update_vector(c + i * (ulong)ldc + w * VECTOR_WIDTH, sum[i][w], VECTOR_WIDTH, alpha, beta))
    return;
  }
  realv copy[MS][VECTORS];
  EACH_SUM(copy[i][w] = sum[i][w])
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v * VECTOR_WIDTH < columns; ++v) {
      update_part(c + i * (ulong)ldc + v * VECTOR_WIDTH, copy[i][v], columns - v * VECTOR_WIDTH, alpha, beta, e,
                  row + i, column + v * VECTOR_WIDTH);
    }
  }
}

#if (TRANS_B && VECTOR_WIDTH > 1) || LINES
// Transposes a square of VECTOR_WIDTH vectors. Each stage interleaves the upper with the lower half of the rows; after
// log2(VECTOR_WIDTH) stages element (i, j) is at (j, i).
static inline void transpose(realv block[VECTOR_WIDTH]) {
#pragma unroll
  for (int stage = 1; stage < VECTOR_WIDTH; stage *= 2) {
    realv next[VECTOR_WIDTH];
    UNROLLED(i, VECTOR_WIDTH / 2) {
      const realv upper = block[i];
      const realv lower = block[i + VECTOR_WIDTH / 2];
      next[2 * i].even = upper.lo;
      next[2 * i].odd = lower.lo;
      next[2 * i + 1].even = upper.hi;
      next[2 * i + 1].odd = lower.hi;
    }
    UNROLLED(i, VECTOR_WIDTH) block[i] = next[i];
  }
}
#endif

#if !DOTS

// Packs the depth x columns part of op(B) at b into the panel and fills it up with zeros to NS columns.
static inline void pack_panel(realv* panel, __global const operand* b, const int ldb, const int depth,
                              const int columns) {
  for (int v = 0; v < VECTORS; ++v) {
    const int count = columns - v * VECTOR_WIDTH;  // may be negative or more than a vector
    __global const operand* source = b + v * VECTOR_WIDTH * B_STEP_J;
    int p = 0;
#if TRANS_B && VECTOR_WIDTH > 1
    for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
      realv square[VECTOR_WIDTH];
      UNROLLED(q, VECTOR_WIDTH) {
        square[q] = (realv)(0);
        if (q >= count) continue;
        PREFETCH_LINE(source + q * B_STEP_J + p + ALONG_AHEAD);
        square[q] = VLOAD_B(source + q * B_STEP_J + p);
      }
      transpose(square);
      UNROLLED(q, VECTOR_WIDTH) panel[(p + q) * VECTORS + v] = square[q];
    }
#elif !TRANS_B
    if (count >= VECTOR_WIDTH) {
      for (; p < depth; ++p) panel[p * VECTORS + v] = VLOAD_B(source + p * B_STEP_P);
    }
#endif
    for (; p < depth; ++p) {
      real* row = (real*)(panel + p * VECTORS + v);
      for (int q = 0; q < VECTOR_WIDTH; ++q) row[q] = q < count ? LOAD_B(source + p * B_STEP_P + q * B_STEP_J) : 0;
    }
  }
}

#if MAY_PACK_ROWS
// The whole panels of a block.
static inline void pack_rows(realv* panels, __global const operand* b, const int ldb, const int depth,
                             const int columns) {
  for (int p = 0; p < depth; ++p, b += B_STEP_P) {
    for (int j = 0; j + NS <= columns; j += NS) {
      UNROLLED(v, VECTORS) {
        PREFETCH_LINE(b + ROWS_AHEAD * B_STEP_P + j + v * VECTOR_WIDTH);
        panels[j / NS * PANEL + p * VECTORS + v] = VLOAD_B(b + j + v * VECTOR_WIDTH);
      }
    }
  }
}
#endif

#define BEGINS(strip, i) 0
#if CONVERTS_A
typedef struct {
  real a[MS * KL];
} Strip;
#define ELEMENT_OF_A(i, p) (strip->a[TRANS_A ? (p)*MS + (i) : (i)*KL + (p)])
#if TRANS_A
// So many at a time that rows of A are read in pieces of a cache line, or four.
#define STRIPS (((PRECISION >= 32 && !MIXED ? 255 : 63) / (int)sizeof(operand) + MS) / MS)
static inline void prepare_strips(Strip* strips, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  for (int p = 0; p < depth; ++p) {
    __global const operand* column = a + p * A_STEP_P;
    for (int s = 0; s < STRIPS && s * MS < rows; ++s, column += MS) {
      PREFETCH_LINE(column + A_AHEAD * A_STEP_P);
      real* to = strips[s].a + p * MS;
      if ((s + 1) * MS <= rows) {
#if PRECISION >= 32 && !MIXED && MS % 2 == 0  // two at a time: clang copies single ones one by one
        UNROLLED(i, MS / 2) vstore2(vload2(i, column), i, to);
#else
        UNROLLED(i, MS) to[i] = LOAD_A(column + i);
#endif
      } else {
        UNROLLED(i, MS) to[i] = LOAD_A(column + min(i, rows - 1 - s * MS));
      }
    }
  }
}
#else
#define STRIPS 1
static inline void prepare_strips(Strip* strip, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  int p = 0;
#if !MIXED
  for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
    UNROLLED(i, MS) VSTORE_REAL(VLOAD(a + min(i, rows - 1) * A_STEP_I + p), &ELEMENT_OF_A(i, p));
  }
#endif
  for (; p < depth; ++p) {
    UNROLLED(i, MS) ELEMENT_OF_A(i, p) = LOAD_A(a + min(i, rows - 1) * A_STEP_I + p);
  }
}
#endif
#else
typedef int Strip;  // nothing to prepare
#define STRIPS 1
#define prepare_strips(strips, a, lda, depth, rows)
#define ELEMENT_OF_A(i, p) LOAD_A(a + a_row[i])
#endif

#endif
