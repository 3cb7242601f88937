// register_tile: CPUs. One work-item per work-group, no local memory, no barriers.
//
// A work-group computes a tile of C of at most ML x NL elements, in blocks of k that are KL deep. It packs the block of
// op(B) into private memory, panel by panel: contiguous whatever ldb is, the block stays in the L2 cache. Then it
// multiplies strips of MS rows of op(A), which stay in the L1 cache, by one panel after the other. The MS x NS tile of
// C of a strip and a panel stays in vector registers for the whole depth of the block:
//
//                                     op(B)       NS
//                                 +-----------+-------+------+
//                                 |  panel    | panel | panel|  one block of k: KL
//                                 |           |       |      |
//            one block of k: KL   +-----------+-------+------+
//     +------+------------+               ^ one row of a panel: NS / VECTOR_WIDTH vectors
//     |      |            |       +-----------+-------+------+
//  MS |      | strip >>   |       |           | C in  |      | MS
//     |      |            |       |           | regs  |      |
//     |      |            |       +-----------+-------+------+
//     |      |            | op(A) |           |       |      |
//  ML |      |            |       +-----------+-------+------+ ML      C
//     +------+------------+                      NL
//                  ^ one element of op(A) is multiplied by the row of the panel
//
//   ML, NL        rows and columns of C per work-group. op(B) is packed once for ML rows, and op(A) read NL/NS times
//                 for NL columns, so large tiles save time; but small problems need a work-group for each core
//   KL            depth of a block of k. The block of op(B), KL * NL elements, should fit the L2 cache, and a strip of
//                 op(A), KL * MS elements, the L1 cache. C is read and written once for each block
//   MS, NS        rows and columns of C in registers. MS * NS / VECTOR_WIDTH accumulators, NS / VECTOR_WIDTH vectors of
//                 the panel's row and one for the element of op(A) should fit the vector registers
//   VECTOR_WIDTH  elements of one vector register
//   KS            unrolling of the loop over k
//   DOTS          1: bytes are multiplied by AVX512-VNNI's instruction, which adds four products to each of 16 sums:
//                 a step of the loop takes four of k
//
// Where C has fewer bits than sums, and k is not split, the sums of all tiles wait in private memory for the next
// block.
//
// At the edges of C, missing columns of op(B) are zero in the panel, and the last row of op(A) stands in for missing
// rows. Neither reaches C.

#if DOTS
#define IN_REAL 4  // steps of k in a real of the panel
#else
#define IN_REAL 1
#endif
// A single row or column of C is multiplied straight from memory, by the variants for few rows and for few columns.
#define MULTIPLIES_LINES (!MIXED && VECTOR_WIDTH > 1 && (MS <= 2 || (NL == NS && NL <= 16)))
#define PANEL (KL / IN_REAL * VECTORS)
#define KEEPS_SUMS (SPLIT_K == 1 && PRECISION < 32)
// Half and 8 bits of floating point are converted once for all panels.
#define CONVERTS_A (MIXED ? !SUMS_INTEGERS : PRECISION == 16 && !BFLOAT16)
#define FILL (!TRANS_B && !DOTS)  // a whole panel is filled while it is multiplied for the first time

// How many steps of k ahead the rows of a matrix are prefetched: a step takes about MS * VECTORS cycles, an access to
// memory one or two hundred. Prefetching beyond the end is harmless.
#define B_AHEAD 8
#define A_AHEAD 24

#if (TRANS_B && VECTOR_WIDTH > 1) || MULTIPLIES_LINES
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

#if DOTS

// The instruction multiplies unsigned by signed bytes. If A's and B's are alike, B's other kind is b + 128 (of int8) or
// b - 128: of these bits, and the sums begin with what this adds to them.
#define ALIKE (A_TYPE == B_TYPE)
#define TO_OTHER_KIND (ALIKE ? 0x80808080u : 0)
#define ADDED (ALIKE ? A_TYPE == S8 ? 128 : -128 : 0)
#if A_TYPE == S8
#define ADD_DOTS(sums, of_a, of_b) __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(of_b), "v"(of_a))
#else
#define ADD_DOTS(sums, of_a, of_b) __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(of_a), "v"(of_b))
#endif
typedef uint unaligned __attribute__((aligned(1)));  // four bytes
typedef int16 unaligned16 __attribute__((aligned(1)));
#define STRIP_STEP (4 * VECTOR_WIDTH)  // of k, in the words of a vector

// Four bytes of a line, from step p on; with zeros beyond `depth`.
static inline uint load_word(__global const operand* line, const ulong step, const int p, const int depth) {
  uint word = 0;
  for (int t = 0; t < min(4, depth - p); ++t) word |= (uint)line[(p + t) * step] << 8 * t;
  return word;
}

// Packs four steps of k from p on of `count` columns, which may be negative or more than a vector, and zeros behind.
static inline void pack_words(realv* vector, __global const operand* b, const int ldb, const int p, const int depth,
                              const int count) {
  for (int q = 0; q < VECTOR_WIDTH; ++q) {
    ((real*)vector)[q] = (int)((q < count ? load_word(b + q * B_STEP_J, B_STEP_P, p, depth) : 0) ^ TO_OTHER_KIND);
  }
}

// Packs the depth x columns part of op(B) at b into panels, whose reals are four steps of k; in the order of memory.
static inline void pack_block(realv* panels, __global const operand* b, const int ldb, const int depth,
                              const int columns) {
#define IN_PANELS (panels + (v / VECTORS * PANEL + p / 4 * VECTORS + v % VECTORS))
  const int vectors = (columns + NS - 1) / NS * VECTORS;
#if TRANS_B
  for (int v = 0; v < vectors; ++v) {
    const int count = columns - v * VECTOR_WIDTH;
    __global const operand* source = b + v * VECTOR_WIDTH * B_STEP_J;
    int p = 0;
    for (; p + STRIP_STEP <= depth; p += STRIP_STEP) {
      realv square[VECTOR_WIDTH];
      UNROLLED(q, VECTOR_WIDTH) {
        square[q] = (realv)(0);
        if (q < count) square[q] = *(__global const unaligned16*)(source + q * B_STEP_J + p);
      }
      transpose(square);
      UNROLLED(q, VECTOR_WIDTH) IN_PANELS[q * VECTORS] = square[q] ^ (int)TO_OTHER_KIND;
    }
    for (; p < depth; p += 4) pack_words(IN_PANELS, source, ldb, p, depth, count);
  }
#else
  for (int p = 0; p < depth; p += 4) {
    for (int v = 0; v < vectors; ++v) {
      const int count = columns - v * VECTOR_WIDTH;
      __global const operand* source = b + v * VECTOR_WIDTH;
      if (count >= VECTOR_WIDTH && p + 4 <= depth) {
        uint16 four = (uint16)(TO_OTHER_KIND);
        UNROLLED(t, 4) four ^= convert_uint16(vload16(0, source + (p + t) * B_STEP_P)) << (uint)(8 * t);
        *IN_PANELS = as_int16(four);
      } else {
        pack_words(IN_PANELS, source, ldb, p, depth, count);
      }
    }
  }
#endif
}

// A strip of op(A): of a transposed A all words are packed, and zeros up to whole vectors; else those that are not
// whole. `begins`: of each row's sums.
typedef struct {
  realv packed[TRANS_A ? (KL + STRIP_STEP - 1) / STRIP_STEP * MS : (MS + VECTOR_WIDTH - 1) / VECTOR_WIDTH];
  int begins[MS];
} Strip;
#define PACKED(strip, i) ((const int*)(strip)->packed)[i]

static inline void add_bytes(realv* sums, const realv bytes) {
  const realv ones = (realv)(0x01010101);
#if A_TYPE == S8
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(ones), "v"(bytes));
#else
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(bytes), "v"(ones));
#endif
}

#if TRANS_A
static inline void sum_strip(Strip* strip, const int steps) {
  realv sums[MS];
  UNROLLED(i, MS) sums[i] = (realv)(0);
  for (int r = 0; r < steps / STRIP_STEP * MS; r += MS)
    UNROLLED(i, MS) add_bytes(&sums[i], strip->packed[r + i]);
  for (int i = 0; i < MS; ++i) strip->begins[i] = 0;
  for (int i = 0; i < MS * VECTOR_WIDTH; ++i) strip->begins[i % MS] -= ADDED * ((const int*)sums)[i];
}

// All strips of as many rows as a cache line has.
#define STRIPS ((63 + MS) / MS)
static inline void prepare_strips(Strip* strips, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  const int steps = (depth + STRIP_STEP - 1) / STRIP_STEP * STRIP_STEP;
  for (int p = 0; p < steps; p += 4) {
    for (int s = 0; s < STRIPS && s * MS < rows; ++s) {
      int* words = (int*)strips[s].packed + p / 4 * MS;
      __global const operand* columns = a + s * MS;
#if MS == 8
      if (p + 4 <= depth && (s + 1) * MS <= rows) {
        uint8 four = 0;
        UNROLLED(t, 4) four |= convert_uint8(vload8(0, columns + (p + t) * A_STEP_P)) << (uint)(8 * t);
        vstore8(as_int8(four), 0, words);
        continue;
      }
#endif
      for (int i = 0; i < MS; ++i) {
        words[i] = (int)load_word(columns + min(i, rows - 1 - s * MS), A_STEP_P, p, depth);
      }
    }
  }
  for (int s = 0; s < STRIPS && s * MS < rows; ++s) sum_strip(&strips[s], ALIKE ? steps : 0);
}
#else
#define STRIPS 1
static inline void prepare_strips(Strip* strip, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  for (int i = 0; i < MS; ++i) {
    __global const operand* line = a + min(i, rows - 1) * A_STEP_I;
    ((int*)strip->packed)[i] = (int)load_word(line, 1, depth / 4 * 4, depth);
    int sum = 0;
    if (ALIKE) {
      realv sums = (realv)(0);
      int p = 0;
      for (; p + STRIP_STEP <= depth; p += STRIP_STEP) add_bytes(&sums, *(__global const unaligned16*)(line + p));
      for (; p < depth; ++p) sum += LOAD_A(line + p);
      for (int q = 0; q < VECTOR_WIDTH; ++q) sum += ((const int*)&sums)[q];
    }
    strip->begins[i] = -ADDED * sum;
  }
}
#endif
#define BEGINS(strip, i) (strip)->begins[i]
#if TRANS_A
#define WORD_OF_A(i, p) PACKED(strip, (p) / 4 * MS + (i))
#else
#define WORD_OF_A(i, p) *(__global const unaligned*)(a + a_row[i] + (p))
#endif

// One step of the loop.
#define ADD_WORDS(of_a)                                                         \
  UNROLLED(i, MS) {                                                             \
    const realv word = (realv)((int)(of_a));                                    \
    UNROLLED(v, VECTORS) ADD_DOTS(sum[i][v], word, panel[p / 4 * VECTORS + v]); \
  }

// sum += strip * panel.
static ALWAYS_INLINE void multiply_dots(realv sum[MS][VECTORS], const Strip* strip, __global const operand* a,
                                        const ulong a_row[MS], const realv* panel, const int depth) {
  int p = 0;
#pragma unroll KS
  for (; p < (TRANS_A ? depth : depth - 3); p += 4) ADD_WORDS(WORD_OF_A(i, p))
  if (p < depth) ADD_WORDS(PACKED(strip, i))
}

#else

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
        if (q < count) square[q] = VLOAD_B(source + q * B_STEP_J + p);
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

#define STRIPS 1
#define BEGINS(strip, i) 0
#if CONVERTS_A
typedef struct {
  real a[MS * KL];
} Strip;
#define ELEMENT_OF_A(i, p) (strip->a[TRANS_A ? (p)*MS + (i) : (i)*KL + (p)])
static inline void prepare_strips(Strip* strip, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  int p = 0;
#if !TRANS_A && PRECISION == 16 && !MIXED
  for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
    UNROLLED(i, MS) VSTORE_REAL(VLOAD(a + min(i, rows - 1) * A_STEP_I + p), &ELEMENT_OF_A(i, p));
  }
#endif
  for (; p < depth; ++p) {
    UNROLLED(i, MS) ELEMENT_OF_A(i, p) = LOAD_A(a + min(i, rows - 1) * A_STEP_I + p * A_STEP_P);
  }
}
#else
typedef int Strip;  // nothing to prepare
#define prepare_strips(strips, a, lda, depth, rows)
#define ELEMENT_OF_A(i, p) LOAD_A(a + a_row[i])
#endif

#endif

// c = alpha * sum + beta * c for the rows x columns tile at c, which begins at this row and column of the epilogue's
// part of C. A whole tile goes straight from registers to C, an incomplete one, or with an epilogue, through memory:
// both are rare, and their code stays small.
static ALWAYS_INLINE void update_tile(__global output* c, const int ldc, realv sum[MS][VECTORS], const int rows,
                                      const int columns, const updated alpha, const updated beta, const Epilogue* e,
                                      const int row, const int column) {
  if (rows == MS && columns == NS && e->steps == 0) {
    UNROLLED(i, MS)
      UNROLLED(v, VECTORS) update_vector(c + i * (ulong)ldc + v * VECTOR_WIDTH, sum[i][v], VECTOR_WIDTH, alpha, beta);
    return;
  }
  realv copy[MS][VECTORS];
  UNROLLED(i, MS)
    UNROLLED(v, VECTORS) copy[i][v] = sum[i][v];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v * VECTOR_WIDTH < columns; ++v) {
      __global output* to = c + i * (ulong)ldc + v * VECTOR_WIDTH;
      const int count = columns - v * VECTOR_WIDTH;
#if SPLIT_K == 1
      if (e->steps != 0) {
        finish_vector(e, to, row + i, column + v * VECTOR_WIDTH, copy[i][v], count, alpha, beta);
        continue;
      }
#endif
      update_vector(to, copy[i][v], count, alpha, beta);
    }
  }
}

// c = alpha * strip * panel + beta * c for the rows x columns tile at c; the strip of op(A) begins at a.
//   fill = 1  also packs the panel, row by row, from b: hidden behind the multiplications, this costs less than a
//             separate pass
//   fill = 0  the panel is packed
// With KEEPS_SUMS it adds to the sums `before` (null: none), and `after`, if not null, takes them in the place of C.
// Inlined, so that `fill` is a constant in the loop.
static ALWAYS_INLINE void multiply_tile(__global output* c, const int ldc, __global const operand* a, const int lda,
                                        const Strip* strip, realv* panel, const int fill, __global const operand* b,
                                        const int ldb, const int depth, const int rows, const int columns,
                                        const updated alpha, const updated beta, const Epilogue* e, const int row,
                                        const int column, const realv* before, realv* after) {
  ulong a_row[MS];
  realv sum[MS][VECTORS];
  UNROLLED(i, MS) {
    a_row[i] = min(i, rows - 1) * A_STEP_I;
    UNROLLED(v, VECTORS) {
      sum[i][v] = (realv)(BEGINS(strip, i));
      if (KEEPS_SUMS && before) sum[i][v] += before[i * VECTORS + v];
    }
  }

#if DOTS
  multiply_dots(sum, strip, a, a_row, panel, depth);
#else
#pragma unroll KS
  for (int p = 0; p < depth; ++p) {
    realv b_row[VECTORS];
#if TRANS_A
    PREFETCH_LINE(a + A_AHEAD * A_STEP_P);
#endif
    UNROLLED(v, VECTORS) {
      if (fill) {
        PREFETCH_LINE(b + B_AHEAD * B_STEP_P + v * VECTOR_WIDTH);
        panel[p * VECTORS + v] = VLOAD_B(b + v * VECTOR_WIDTH);
      }
      b_row[v] = panel[p * VECTORS + v];
    }
    UNROLLED(i, MS) {
      const real a_element = ELEMENT_OF_A(i, p);
      UNROLLED(v, VECTORS) sum[i][v] += a_element * b_row[v];
    }
#if TRANS_A || !CONVERTS_A
    a += A_STEP_P;
#endif
    b += B_STEP_P;
  }
#endif
#if KEEPS_SUMS
  if (after) {
    EACH_SUM(after[i * VECTORS + w] = sum[i][w])
    return;
  }
#endif
  update_tile(c, ldc, sum, rows, columns, alpha, beta, e, row, column);
}

#if MULTIPLIES_LINES
#define ROW_FITS (!TRANS_B || A_STEP_P == 1)  // vectors of both operands, or of the others' neighbours
#define COLUMN_FITS (TRANS_A || B_STEP_P == 1)
#define LINE_AHEAD 256  // elements that are prefetched of each line
#define AT_ONCE 8       // vectors

// The products of a line with VECTOR_WIDTH others, `step` apart; all along k in memory. The sums of each are in a
// vector of its own until the end.
static ALWAYS_INLINE realv multiply_lines(__global const operand* line, __global const operand* others,
                                          const ulong step, const int depth) {
  realv square[VECTOR_WIDTH];
  UNROLLED(q, VECTOR_WIDTH) square[q] = (realv)(0);
  int p = 0;
  for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
    const realv of_line = VLOAD_B(line + p);
    UNROLLED(q, VECTOR_WIDTH) {
      PREFETCH_LINE(others + q * step + p + LINE_AHEAD);
      square[q] += of_line * VLOAD_B(others + q * step + p);
    }
  }
  transpose(square);
  realv sum = (realv)(0);
  UNROLLED(q, VECTOR_WIDTH) sum += square[q];
  for (; p < depth; ++p) {
    UNROLLED(q, VECTOR_WIDTH) ((real*)&sum)[q] += LOAD_A(line + p) * LOAD_B(others + q * step + p);
  }
  return sum;
}

// A row or column of C: a line, `line_step` from one element to the next, with all others, `step` apart, a vector of
// them or more. If their number is no multiple of a vector, the last two overlap; what they share is written once.
static ALWAYS_INLINE void multiply_line(const Tile tile, const int is_row, const int along_k, const ulong line_step,
                                        const ulong step, const ulong p_step, const int ldc, const updated alpha,
                                        const updated beta, const Epilogue* e) {
  __global const operand* line = is_row ? tile.a : tile.b;
  __global const operand* others = is_row ? tile.b : tile.a;
  const int count = is_row ? tile.columns : tile.rows;
  for (int i = 0; i < count; i += AT_ONCE * VECTOR_WIDTH) {
    realv sums[AT_ONCE];
    int first[AT_ONCE];
    UNROLLED(v, AT_ONCE) {
      first[v] = min(i + v * VECTOR_WIDTH, count - VECTOR_WIDTH);
      sums[v] = (realv)(0);
    }
    if (along_k) {
      for (int v = 0; v < AT_ONCE && i + v * VECTOR_WIDTH < count; ++v)
        sums[v] = multiply_lines(line, others + first[v] * step, step, tile.depth);
    } else {
      __global const operand* from = others;
      for (int p = 0; p < tile.depth; ++p, from += p_step) {
        const real x = LOAD_A(line + p * line_step);
        UNROLLED(v, AT_ONCE) {
          PREFETCH_LINE(from + A_AHEAD * p_step + first[v]);
          sums[v] += x * VLOAD_B(from + first[v]);
        }
      }
    }
    for (int at = i; at < min(count, i + AT_ONCE * VECTOR_WIDTH);) {
      const int v = (at - i) / VECTOR_WIDTH;
      const int width = is_row && at == first[v] ? VECTOR_WIDTH : 1;
      realv sum[MS][VECTORS];
      sum[0][0] = width > 1 ? sums[v] : (realv)(((const real*)&sums[v])[at - first[v]]);
      update_tile(tile.c + at * (is_row ? (ulong)1 : (ulong)ldc), ldc, sum, 1, width, alpha, beta, e, is_row ? 0 : at,
                  is_row ? at : 0);
      at += width;
    }
  }
}
#endif

// The tile size that cuts `extent` into equal tiles of at most `largest`, in multiples of `unit`. With one smaller tile
// at the end, its core would run out of work early.
static inline size_t equal_tile(const size_t extent, const size_t largest, const size_t unit) {
  const size_t tiles = max((extent + largest - 1) / largest, (size_t)1);
  const size_t size = (extent + tiles - 1) / tiles;
  return (size + unit - 1) / unit * unit;
}

GEMM_KERNEL(1, 1) {
  READ_NUMBERS;
  const Tile tile = find_tile(TILE_ROW, TILE_COLUMN, equal_tile(m, ML, MS), equal_tile(n, NL, NS), GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) return;
  __global const operand* a_tile = tile.a;
  __global const operand* b_tile = tile.b;

  realv panels[NL / NS * PANEL];
  Strip strips[STRIPS];
  realv kept[KEEPS_SUMS ? ML * VECTORS * (NL / NS) : 1];
#if SPLIT_K == 1
  const Epilogue whole = TILE_EPILOGUE;
#else
  const Epilogue whole = {0};
#endif
#if MULTIPLIES_LINES
  const int is_row = ROW_FITS && m == 1 && tile.columns >= VECTOR_WIDTH;
  if (is_row || (COLUMN_FITS && n == 1 && tile.rows >= VECTOR_WIDTH)) {
    const int along_k = is_row ? TRANS_B : !TRANS_A;
    multiply_line(tile, is_row, along_k, is_row ? A_STEP_P : B_STEP_P, is_row ? B_STEP_J : A_STEP_I,
                  is_row ? B_STEP_P : A_STEP_P, ldc, alpha, beta, &whole);
    return;
  }
#endif
  int done = 0;
  // At least once, so that C becomes beta * C when k = 0.
  do {
    const int depth = min(KL, tile.depth - done);
    const bool first = done == 0;
    const bool last = done + depth >= tile.depth;
    const updated block_beta = first || KEEPS_SUMS ? beta : 1;
    // d is added with the first block; then C is what there is, and after the last block it goes through the rest.
    Epilogue e = whole;
#if !KEEPS_SUMS
    e.steps = (first ? whole.steps & STEPS_OF_FIRST_BLOCK : 0) | (last ? whole.steps & ~STEPS_OF_FIRST_BLOCK : 0) |
              (whole.steps & STEPS_OF_EACH_BLOCK);
    e.d = first ? whole.d : 0;
#endif
#if DOTS
    pack_block(panels, b_tile, ldb, depth, tile.columns);
#endif
    for (int i = 0; i < tile.rows; i += MS) {
      const int rows = min(MS, tile.rows - i);
      __global const operand* a_strip = a_tile + i * A_STEP_I;
      Strip* strip = &strips[i / MS % STRIPS];
      if (strip == strips) prepare_strips(strips, a_strip, lda, depth, tile.rows - i);
      for (int j = 0; j < tile.columns; j += NS) {
        const int columns = min(NS, tile.columns - j);
        __global const operand* b_panel = b_tile + j * B_STEP_J;
        __global output* c_part = tile.c + i * (ulong)ldc + j;
        realv* panel = panels + j / NS * PANEL;
        const int fill = i == 0 ? FILL : 0;
        realv* kept_tile = kept + (KEEPS_SUMS ? (i * (NL / NS) + j / NS * MS) * VECTORS : 0);
        const realv* before = first ? 0 : kept_tile;
        realv* after = last ? 0 : kept_tile;
        if (fill && columns == NS) {
          multiply_tile(c_part, ldc, a_strip, lda, strip, panel, 1, b_panel, ldb, depth, rows, columns, alpha,
                        block_beta, &e, i, j, before, after);
          continue;
        }
#if !DOTS
        if (i == 0) pack_panel(panel, b_panel, ldb, depth, columns);
#endif
        multiply_tile(c_part, ldc, a_strip, lda, strip, panel, 0, b_panel, ldb, depth, rows, columns, alpha, block_beta,
                      &e, i, j, before, after);
      }
    }
    a_tile += depth * A_STEP_P;
    b_tile += depth * B_STEP_P;
    done += depth;
  } while (done < tile.depth);
}
