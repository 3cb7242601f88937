// weight_tile: op(B) in packed weights (WEIGHTS.md), few rows on any device, any number on CPUs.
//
// Weights are read once for each MS rows of C and become floats in registers. One work-item computes MS x NS elements
// of a tile of C over the whole depth (KL = 1, CPUs), or one vector of columns together with KL - 1 others that read
// other words of a panel (GPUs):
//
//        a panel of op(B): 16 columns                     KL = 1: a work-item reads word after word
//      +------------------------------+
//      | 16 scales, 16 zero points    | a group           KL > 1: neighbours read neighbours
//      | word 0 of 16 columns         | 32 steps of k     +------+------+------+------+
//      | word 1 ...                   |                   | wi 0 | wi 1 | wi 2 | wi 3 |  word 0 of 16 columns
//      | ...                          |                   | wi 4 | ...  |      |      |  word 1
//      +------------------------------+                   +------+------+------+------+
//      | 16 scales ...                |                    VECTOR_WIDTH columns each
//
//   ML, NL        rows and columns of C per work-group; with a KL of 1 any number of strips of MS rows, else one
//   MS, NS        rows and columns of C per work-item; of fewer rows only 1, 2, 4, ... are computed
//   VECTOR_WIDTH  columns at a time, a divisor of 16
//   KL            work-items that share columns, each with every KL-th word; they add up their sums in local memory
//   KS            steps of k for which MS rows of op(A) are copied as floats, to private or local memory, more for
//                 fewer rows: MS * KS floats
//
// A code becomes a float without a conversion: its bits, where they are in the word, are those of the fraction of
// 2^(23-shift) + code; the difference to 2^(23-shift) + zero is exact.

#define CODE ((1u << WEIGHT_BITS) - 1)  // the bits of one
#define SHIFTS (16 / WEIGHT_BITS)       // places of a code in half a word, each with a fraction of its own
#define SHIFTED(code_place) ((150u - WEIGHT_BITS * (code_place)) << 23)  // the bits of 2^(23-shift)
#define PER_PANEL (PANEL / VECTOR_WIDTH)

#define AS_REALS CONCAT(as_float, VECTOR_SUFFIX)
typedef CONCAT(uint, VECTOR_SUFFIX) wordv;
// Weights begin at multiples of 16 bytes, so that a GPU may read as many at once.
#if VECTOR_WIDTH <= 4
#define LOAD_WORDS(pointer) (*(__global const wordv*)(pointer))
#define LOAD_ZEROS(pointer) \
  CONCAT(convert_float, VECTOR_SUFFIX)(*(__global const CONCAT(uchar, VECTOR_SUFFIX)*)(pointer))
static inline realv load_scales(__global const uchar* from) {
  const CONCAT(ushort, VECTOR_SUFFIX) bits = *(__global const CONCAT(ushort, VECTOR_SUFFIX)*)from;
  return CONCAT(vload_half, VECTOR_SUFFIX)(0, (const half*)&bits);
}
#else
#define load_scales(from) CONCAT(vload_half, VECTOR_WIDTH)(0, (__global const half*)(from))
#define LOAD_WORDS(pointer) CONCAT(vload, VECTOR_WIDTH)(0, (__global const uint*)(pointer))
#define LOAD_ZEROS(pointer) CONCAT(convert_float, VECTOR_WIDTH)(CONCAT(vload, VECTOR_WIDTH)(0, pointer))
#endif

// One element of A, and VECTOR_WIDTH neighbours.
#if A_BITS == 32
#define LOAD_OF_A(pointer) (*(pointer))
#define VLOAD_OF_A(pointer) VLOAD_REAL(pointer)
#elif A_BFLOAT16
#define LOAD_OF_A(pointer) as_float((uint) * (pointer) << 16)
#define VLOAD_OF_A(pointer) AS_REALS(CONCAT(convert_uint, VECTOR_SUFFIX)(VLOAD_REAL(pointer)) << 16)
#else
#define LOAD_OF_A(pointer) vload_half(0, pointer)
#define VLOAD_OF_A(pointer) CONCAT(vload_half, VECTOR_SUFFIX)(0, pointer)
#endif

// Subtrahends of a group's codes in each place, 2^(23-shift) + zero; `from` points at the group, at the first column.
static ALWAYS_INLINE void find_zeros(realv zeros[SHIFTS], __global const uchar* from, const Packed p,
                                     const int column) {
  const realv zero = p.has_zeros ? LOAD_ZEROS(from + 2 * PANEL + column) : (realv)(MIDDLE);
  UNROLLED(s, SHIFTS) zeros[s] = as_float(SHIFTED(s)) + zero;
}

// The weights of a word, one vector of columns for each step: use(step, weights). Step 0 is the first of the chunk.
#define EACH_WEIGHT(w, word, zeros, use)                                                        \
  {                                                                                             \
    const wordv upper = (word) >> 16;                                                           \
    UNROLLED(byte, 4) {                                                                         \
      UNROLLED(part_of, 8 / WEIGHT_BITS) {                                                      \
        const int place = byte % 2 * (8 / WEIGHT_BITS) + part_of;                               \
        const wordv codes = (byte < 2 ? (word) : upper) & (wordv)(CODE << WEIGHT_BITS * place); \
        const realv x = AS_REALS(codes | (wordv)(SHIFTED(place))) - (zeros)[place];             \
        use(16 * part_of + 4 * (w) + byte / 2 + byte % 2 * 2, x)                                \
      }                                                                                         \
    }                                                                                           \
  }

// statement(1), (2), (4) ... (MS): with the least that is no less than `rows`, as a constant.
#define WITH_ROWS(rows, statement)    \
  if (MS > 1 && (rows) == 1) {        \
    statement(1);                     \
  } else if (MS > 2 && (rows) == 2) { \
    statement(2);                     \
  } else if (MS > 4 && (rows) <= 4) { \
    statement(4);                     \
  } else if (MS > 8 && (rows) <= 8) { \
    statement(8);                     \
  } else {                            \
    statement(MS);                    \
  }

#if KL == 1

// How many steps of R rows are copied at a time, and how many bytes of weights are prefetched ahead: a processor's own
// prefetching ends with a page, which is too short for few rows, that are as fast as memory. Their blocks are longer.
#define DEPTH_OF(R) ((R) <= 2 ? MS * KS / (R) : max(KS / 256 * 128, 128))
#define BYTES_AHEAD(R) ((R) <= 2 ? 16384 : 2048)

// Adds the products of `depth` steps with one vector of columns to the sums of R rows. `a` has R rows of `stride`
// floats; `from` points at the first group, `column` is that of the panel. Each row has several sums, to hide the
// latency of the addition.
static ALWAYS_INLINE void multiply(const int R, realv sum[MS], const real* a, const int stride, const int depth,
                                   __global const uchar* from, const Packed p, const int column) {
  const int chains = R < 4 ? 4 : R <= 8 ? 2 : 1;
  for (int done = 0; done < depth; done += p.group) {
    realv zeros[SHIFTS], part[MS][4];
    find_zeros(zeros, from, p, column);
    UNROLLED(i, MS)
      UNROLLED(j, 4) part[i][j] = (realv)(0);
    __global const uint* words = (__global const uint*)(from + p.head) + column;
    for (int chunk = 0; chunk < p.group; chunk += CHUNK) {
#define ADD(step, x)                                                                                     \
  UNROLLED(i, MS) {                                                                                      \
    if (i < R) part[i][(step) / 4 % 2 * 2 % chains + (step) % 2 % chains] += a[i * stride + (step)] * x; \
  }
      UNROLLED(w, WORDS) {
        const wordv word = LOAD_WORDS(words + w * PANEL);
        PREFETCH_LINE(words + w * PANEL + BYTES_AHEAD(R) / 4);
        EACH_WEIGHT(w, word, zeros, ADD)
      }
      words += WORDS * PANEL;
      a += CHUNK;
    }
    const realv scale = load_scales(from + 2 * column);
    UNROLLED(i, MS) {
      if (i < R) {
        UNROLLED(j, 4) {
          if (j > 0 && j < chains) part[i][0] += part[i][j];
        }
        sum[i] += scale * part[i][0];
      }
    }
    from += p.block;
  }
}

// R rows of op(A) as floats, `rows` of which there are; depth is a multiple of 32.
static ALWAYS_INLINE void copy_rows(real* to, const int R, const int rows, const int stride, const int depth,
                                    __global const operand* a, const int lda) {
#if TRANS_A
  for (int p = 0; p < depth; ++p) {
    UNROLLED(i, MS) {
      if (i < R) to[i * stride + p] = LOAD_OF_A(a + min(i, rows - 1) * A_STEP_I + p * A_STEP_P);
    }
  }
#else
  UNROLLED(i, MS) {
    if (i < R) {
      __global const operand* row = a + min(i, rows - 1) * A_STEP_I;
      for (int p = 0; p < depth; p += VECTOR_WIDTH) VSTORE_REAL(VLOAD_OF_A(row + p), to + (i * stride + p));
    }
  }
#endif
}

#else

#define ITEMS (LOCAL_X * KL)
#define AHEAD 4  // words that a work-item loads before it multiplies

// Adds the products of this share's words, of all in `depth` steps from `first_p` on, to the sums of R rows. `a` has R
// rows of `stride` floats; `panel` is the panel's first group.
static ALWAYS_INLINE void multiply(const int R, realv sum[MS], __local const real* a, const int stride, const int depth,
                                   const int first_p, const int share, __global const uchar* panel, const Packed p,
                                   const int column) {
  const int words = depth / CHUNK * WORDS;
  for (int first = share; first < words; first += AHEAD * KL) {
    wordv word[AHEAD];
    realv scale[AHEAD];
    __global const uchar* group[AHEAD];
    UNROLLED(u, AHEAD) {
      const int step = min(first + u * KL, words - 1) / WORDS * CHUNK;
      group[u] = panel + ((first_p + step) >> p.shift) * (ulong)p.block;
      const int in_group = ((first_p + step) & (p.group - 1)) / CHUNK * WORDS + (first + u * KL) % WORDS;
      word[u] = (wordv)(0);
      if (first + u * KL < words)
        word[u] = LOAD_WORDS((__global const uint*)(group[u] + p.head) + in_group * PANEL + column);
      scale[u] = load_scales(group[u] + 2 * column);
    }
    UNROLLED(u, AHEAD) {
      const int number = first + u * KL;
      if (number < words) {
        realv zeros[SHIFTS], b_row[32 / WEIGHT_BITS];
        find_zeros(zeros, group[u], p, column);
#define KEEP(step, weights) b_row[(step) / 4 + (step) % 4] = weights;
        EACH_WEIGHT(0, word[u], zeros, KEEP)
        __local const float4* from = (__local const float4*)(a + number / WORDS * CHUNK + number % WORDS * 4);
        UNROLLED(i, MS) {
          if (i < R) {
            const float4 low = from[i * stride / 4];
            realv part = low.x * b_row[0] + low.y * b_row[1] + low.z * b_row[2] + low.w * b_row[3];
#if WEIGHT_BITS == 4
            const float4 high = from[i * stride / 4 + CHUNK / 8];
            part += high.x * b_row[4] + high.y * b_row[5] + high.z * b_row[6] + high.w * b_row[7];
#endif
            sum[i] += scale[u] * part;
          }
        }
      }
    }
  }
}

#endif

#if KL == 1
// Multiplies a tile strip by strip, and updates C.
static SEPARATE void multiply_tile(const Tile* at, const int k, const int lda, const int ldc, const scaled alpha,
                                   const scaled beta, const Epilogue* finish, __global const uchar* first_weight,
                                   const Packed packed) {
  const Tile tile = *at;
#if SPLIT_K == 1
  const Epilogue e = *finish;
#endif
  real a_copy[MS * (KS + 16)];  // rows at multiples of 2048 bytes would share sets of the cache
  realv sums[VECTORS][MS];
  for (int i = 0; i < tile.rows; i += MS) {
    const int rows = min(MS, tile.rows - i);
    for (int v = 0; v < VECTORS; ++v) {
      UNROLLED(r, MS) sums[v][r] = (realv)(0);
    }
#define MULTIPLY_STRIP(R)                                                                                      \
  for (int done = 0; done < tile.depth; done += DEPTH_OF(R)) {                                                 \
    const int depth = min(DEPTH_OF(R), tile.depth - done);                                                     \
    copy_rows(a_copy, R, rows, DEPTH_OF(R) + 16, depth, tile.a + i * A_STEP_I + done * A_STEP_P, lda);         \
    for (int v = 0; v * VECTOR_WIDTH < tile.columns; ++v) {                                                    \
      const ulong column = tile.column + v * VECTOR_WIDTH;                                                     \
      multiply(R, sums[v], a_copy, DEPTH_OF(R) + 16, depth,                                                    \
               panel_at(first_weight, packed, column, k, tile.first_p + done), packed, (int)(column % PANEL)); \
    }                                                                                                          \
  }
    WITH_ROWS(rows, MULTIPLY_STRIP)
    for (int v = 0; v * VECTOR_WIDTH < tile.columns; ++v) {
      for (int r = 0; r < rows; ++r) {
#if SPLIT_K == 1
        if (e.steps != 0) {
          FINISH(i + r, sums[v][r], v * VECTOR_WIDTH);
          continue;
        }
#endif
        UPDATE(i + r, sums[v][r], v * VECTOR_WIDTH);
      }
    }
  }
}
#endif

GEMM_KERNEL(LOCAL_X* KL, 1) {
  READ_NUMBERS;
  const Tile tile = find_tile(get_group_id(1), get_group_id(0), ML, NL, GEMM_ARGUMENTS);
  FIND_WEIGHTS;
#if KL == 1
  if (OUTSIDE_C) return;
#if SPLIT_K == 1
  const Epilogue e = TILE_EPILOGUE;
#else
  const Epilogue e = {0};
#endif
  multiply_tile(&tile, k, lda, ldc, alpha, beta, &e, first_weight, packed);
#else
  __local real a_copy[MS * KS] __attribute__((aligned(16)));
  __local realv shared[KL / 2 * LOCAL_X * MS];
  // Neighbours read the columns of a word, then the next word.
  const int item = (int)get_local_id(0);
  const int share = item / PER_PANEL % KL;
  const int place = item / (PER_PANEL * KL) * PER_PANEL + item % PER_PANEL;
  const int first_column = place * VECTOR_WIDTH;
  const bool outside = first_column >= tile.columns;
  __global const uchar* panel = panel_at(first_weight, packed, tile.column + first_column, k, 0);
  const int rows = tile.rows;
  // At once: the least power of two that is no less.
  const int at_once = rows < 2 ? 1 : rows < 3 ? min(MS, 2) : rows < 5 ? min(MS, 4) : rows < 9 ? min(MS, 8) : MS;
  const int block = MS * KS / at_once;
  realv sum[MS];
  UNROLLED(i, MS) sum[i] = (realv)(0);
  // Not inside a loop over strips: PoCL 3.1 then lost the sums of all shares but one.
  const int depth_of_tile = OUTSIDE_C ? 0 : tile.depth;
  for (int done = 0; done < depth_of_tile; done += block) {
    const int depth = min(block, depth_of_tile - done);
    barrier(CLK_LOCAL_MEM_FENCE);  // the steps before have been multiplied
    for (int i = 0; i < at_once; ++i) {
      __global const operand* row = tile.a + min(i, rows - 1) * A_STEP_I + done * A_STEP_P;
      for (int p = item; p < depth; p += ITEMS) a_copy[i * block + p] = LOAD_OF_A(row + p * A_STEP_P);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!outside) {
#define MULTIPLY_BLOCK(R) \
  multiply(R, sum, a_copy, MS* KS / R, depth, tile.first_p + done, share, panel, packed, first_column % PANEL)
      WITH_ROWS(at_once, MULTIPLY_BLOCK)
    }
  }
  // The upper half of the shares hands its sums to the lower half, until one has all.
#pragma unroll
  for (int half_of = KL / 2; half_of > 0; half_of /= 2) {
    __local realv* own = shared + share % half_of * LOCAL_X + place;
    if (share >= half_of && share < 2 * half_of) {
      UNROLLED(i, MS) {
        if (i < at_once) own[i * (KL / 2 * LOCAL_X)] = sum[i];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (share < half_of) {
      UNROLLED(i, MS) {
        if (i < at_once) sum[i] += own[i * (KL / 2 * LOCAL_X)];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (outside || share > 0) return;
#if SPLIT_K == 1
  if (numbers.steps != 0) {  // from a copy, as common.cl says at UPDATE_C
    const Epilogue e = TILE_EPILOGUE;
    realv copy[MS];
    UNROLLED(i, MS) copy[i] = sum[i];
#pragma unroll 1
    for (int i = 0; i < rows; ++i) FINISH(i, copy[i], first_column);
    return;
  }
#endif
  UNROLLED(i, MS) {
    if (i < rows) UPDATE(i, sum[i], first_column);
  }
#endif
}
