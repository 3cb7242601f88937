// thin_tile: NVIDIA's devices from sm_80 on, elements of 16 bits, few rows or few columns. Reads the long operand once,
// at the speed of memory, and multiplies by matrix units.
//
// Of the two operands, the *thin* one has few lines (rows of op(A), or columns of op(B)), the *long* one many. Nearly
// all time goes into reading the long one, so nothing stands in its way: each warp reads its elements straight into the
// registers that the matrix units take them from, without local memory and barriers. KL warps share a tile of C: each
// takes every KL-th piece of k, and in the end they add up their sums.
//
//                                   long operand, here op(B)
//                                 +------+----------------+
//                                 | NL   |  warp 0        |  32 * KS steps of k
//                                 |      +----------------+
//                               k |      |  warp 1        |
//                                 |      +----------------+
//           k                     |      |  ...           |
//    +------------+               +------+----------------+
//    |  op(A)     | ML            |  C   |                   or the same with rows and columns exchanged
//    +------------+               +------+
//
//   ML, NL        rows and columns of C per work-group: a multiple of 8 on the thin side; on the long one 8 * LINES
//   MS, NS        rows and columns of C per work-item: LINES on the long side, a quarter of the thin side on the other
//   KL            warps that share a tile, a power of two
//   KS            pieces of 32 steps of k whose loads go out together
//   VECTOR_WIDTH  neighbours in a row of C that a work-item has: NS, or 2 where rows are the long side
//
// mma.m16n8k16 multiplies 16 lines of the long operand by 8 of the thin one, 16 steps of k at a time (PTX manual,
// "Matrix Fragments for mma.m16n8k16"). In which order it takes lines and steps of k is the same for a product, as long
// as both operands and C agree. So lane 4g + t takes what lies together in memory, for two multiplications:
//
//   lines g * LINES ... of the long operand and line g of each 8 of the thin one,
//   steps 8t ... 8t + 7 of each 32 of k

#define LONG_COLUMNS (NS * 8 == NL && MS * 4 == ML)
#if LONG_COLUMNS
#define LINES NS
#define EIGHTS (ML / 8)  // groups of 8 thin lines
#define LONG_ALONG_K B_ALONG_K
#define THIN_ALONG_K A_ALONG_K
#define LONG(of) B_##of
#define THIN(of) A_##of
#else
#define LINES MS
#define EIGHTS (NL / 8)
#define LONG_ALONG_K A_ALONG_K
#define THIN_ALONG_K B_ALONG_K
#define LONG(of) A_##of
#define THIN(of) B_##of
#endif
#define A_STEP_LINE A_STEP_I
#define B_STEP_LINE B_STEP_J

#define PIECE 32           // steps of k
#define WORDS (4 * LINES)  // of 2 elements: a lane's part of a piece of the long operand

#define MULTIPLY_PAIRS "mma.sync.aligned.m16n8k16.row.col.f32." PTX_TYPE "." PTX_TYPE ".f32"

// sum += the product of 16 lines and 16 steps of k by 8 lines.
static ALWAYS_INLINE void multiply(float* sum, const uint a0, const uint a1, const uint a2, const uint a3,
                                   const uint b0, const uint b1) {
  __asm__(MULTIPLY_PAIRS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Two elements, `step` apart, as one word, the first in the lower half; zero from `count` on.
static ALWAYS_INLINE uint load_pair(__global const ushort* from, const ulong step, const int count) {
  return (count > 0 ? from[0] : 0) | (count > 1 ? (uint)from[step] << 16 : 0);
}

// Four pairs of one line, 8 steps of k, of which `count` exist.
static ALWAYS_INLINE void load_line(uint* words, __global const ushort* from, ulong step, const int count) {
  HIDE("l", step);
  UNROLLED(i, 4) {
    words[i] = load_pair(from, step, count - 2 * i);
    from += 2 * step;
  }
}

// ---- The long operand ----

// A lane's part of a piece. Along k: four words for each line, pairs of steps. Across k: LINES / 2 words for each step,
// pairs of lines.
#if LONG_ALONG_K || LINES == 8
#define LONG_VECTOR uint4
#elif LINES == 4
#define LONG_VECTOR uint2
#else
#define LONG_VECTOR uint
#endif
#define VECTOR_WORDS ((int)sizeof(LONG_VECTOR) / 4)

// Whole vectors. `line` has the offsets of the lines, of which only the first counts across k.
static ALWAYS_INLINE void load_long(uint* words, __global const ushort* from, const ulong* line, ulong step) {
  HIDE("l", step);
  UNROLLED(v, WORDS / VECTOR_WORDS) {
    __global const ushort* at = from + line[LONG_ALONG_K ? v % LINES : 0];
    *(LONG_VECTOR*)(words + v * VECTOR_WORDS) = *(__global const LONG_VECTOR*)at;
    from += LONG_ALONG_K ? 0 : step;
  }
}

// The same for `count` steps of k, element by element.
static ALWAYS_INLINE void load_long_slowly(uint* words, __global const ushort* from, const ulong* line, ulong step,
                                           const int count) {
#if LONG_ALONG_K
  UNROLLED(c, LINES) load_line(words + 4 * c, from + line[c], step, count);
#else
  HIDE("l", step);
  UNROLLED(p, 8) {
#pragma unroll
    for (int c = 0; c < LINES; c += 2)
      words[p * (LINES / 2) + c / 2] = load_pair(from + line[c], line[c + 1] - line[c], p < count ? 2 : 0);
    from += step;
  }
#endif
}

// Steps 2i and 2i+1 of line c.
static ALWAYS_INLINE uint pair_of(const uint* words, const int c, const int i) {
#if LONG_ALONG_K
  return words[4 * c + i];
#else
  const uint first = words[i * LINES + c / 2], second = words[i * LINES + LINES / 2 + c / 2];
  return c % 2 == 0 ? (first & 0xffff) | second << 16 : first >> 16 | (second & 0xffff0000);
#endif
}

// ---- The thin operand ----

// Each lane has four pairs of steps of k of each of its lines. Lane 4g + t has these lines, numbered so that across k
// they lie together in memory for a lane that loads them:
#define THIN_LINE_OF(r, g) ((g) / 2 * (2 * EIGHTS) + 2 * (r) + (g) % 2)

// Element by element: of 8 steps of k, `count` exist.
static ALWAYS_INLINE void load_lines(uint words[EIGHTS][4], __global const ushort* from, const ulong* line,
                                     const ulong step, const int count) {
  UNROLLED(r, EIGHTS) load_line(words[r], from + line[r], step, count);
}

#if THIN_ALONG_K
static ALWAYS_INLINE void load_thin(uint words[EIGHTS][4], __global const ushort* from, const ulong* line) {
  UNROLLED(r, EIGHTS) *(uint4*)words[r] = *(__global const uint4*)(from + line[r]);
}
#else
// Across k, a lane loads pairs of neighbouring lines instead. For each r and i, a warp loads a matrix of 8 steps by 8
// lines so, which turn_thin transposes: then each lane has its pair of steps of its line.
#if EIGHTS % 4 == 0
#define THIN_VECTOR uint4
#elif EIGHTS % 2 == 0
#define THIN_VECTOR uint2
#else
#define THIN_VECTOR uint
#endif
#define THIN_VECTOR_WORDS ((int)sizeof(THIN_VECTOR) / 4)

static ALWAYS_INLINE void load_thin(uint words[EIGHTS][4], __global const ushort* from, const uint* line, ulong step) {
  HIDE("l", step);
  UNROLLED(i, 4) {
    UNROLLED(v, EIGHTS / THIN_VECTOR_WORDS) {
      const THIN_VECTOR vector = *(__global const THIN_VECTOR*)(from + line[v]);
      UNROLLED(w, THIN_VECTOR_WORDS) words[v * THIN_VECTOR_WORDS + w][i] = ((const uint*)&vector)[w];
    }
    from += 2 * step;
  }
}

// Transposes matrices of 8 x 8 elements, of which each lane has a pair (PTX manual, "movmatrix").
static ALWAYS_INLINE void turn_thin(uint words[EIGHTS][4]) {
  UNROLLED(r, EIGHTS) {
    UNROLLED(i, 4) {
      __asm__ volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(words[r][i]));
    }
  }
}
#endif

static ALWAYS_INLINE void multiply_piece(float sum[LINES / 2][EIGHTS][4], const uint* words, uint thin[EIGHTS][4]) {
  UNROLLED(q, LINES / 2) {
    UNROLLED(s, 2) {
      const uint a0 = pair_of(words, 2 * q, 2 * s), a1 = pair_of(words, 2 * q + 1, 2 * s);
      const uint a2 = pair_of(words, 2 * q, 2 * s + 1), a3 = pair_of(words, 2 * q + 1, 2 * s + 1);
      UNROLLED(r, EIGHTS) multiply(sum[q][r], a0, a1, a2, a3, thin[r][2 * s], thin[r][2 * s + 1]);
    }
  }
}

// KS whole pieces: all loads go out before the first product.
#define MULTIPLY_PIECES(load, turn)                                               \
  {                                                                               \
    uint words[KS][WORDS];                                                        \
    uint thin[KS][EIGHTS][4];                                                     \
    UNROLLED(s, KS) {                                                             \
      load_long(words[s], long_at + s * PIECE * long_step, long_line, long_step); \
      load;                                                                       \
    }                                                                             \
    UNROLLED(s, KS) {                                                             \
      turn;                                                                       \
      multiply_piece(sums_of_lines, words[s], thin[s]);                           \
    }                                                                             \
  }

#define EACH_THIN_VECTOR(unrolling, update)                           \
  _Pragma(unrolling) for (int i = 0; i < MS; ++i) {                   \
    _Pragma(unrolling) for (int w = 0; w < VECTORS; ++w) {            \
      const int row = LONG_COLUMNS ? THIN_LINE(i) : g * LINES + i;    \
      const int column = LONG_COLUMNS ? g * LINES : THIN_LINE(2 * w); \
      if (row < tile.rows && column < tile.columns) {                 \
        update;                                                       \
      }                                                               \
    }                                                                 \
  }
// A lane's thin line number i.
#define THIN_LINE(i) (t * (2 * EIGHTS) + (i))

GEMM_KERNEL(LOCAL_X* KL, LOCAL_Y) {
  READ_NUMBERS;
  const Tile tile = find_tile(get_group_id(1), get_group_id(0), ML, NL, GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) return;
  const int item = (int)(get_local_id(1) * LOCAL_X * KL + get_local_id(0));
  const int share = item / 32, lane = item % 32, g = lane / 4, t = lane % 4;
#if LONG_COLUMNS
  __global const ushort *long_at = (__global const ushort*)tile.b, *thin_at = (__global const ushort*)tile.a;
  const int long_lines = tile.columns, thin_lines = tile.rows;
#else
  __global const ushort *long_at = (__global const ushort*)tile.a, *thin_at = (__global const ushort*)tile.b;
  const int long_lines = tile.rows, thin_lines = tile.columns;
#endif
  const ulong long_step = LONG(STEP_P), thin_step = THIN(STEP_P);

  // The last line stands in for missing ones; it does not reach C.
  ulong long_line[LINES];
  UNROLLED(i, LINES) long_line[i] = min(g * LINES + i, long_lines - 1) * LONG(STEP_LINE);
  ulong thin_line[EIGHTS];
  UNROLLED(r, EIGHTS) thin_line[r] = min(THIN_LINE_OF(r, g), thin_lines - 1) * THIN(STEP_LINE);
  // True if all vectors are whole and aligned: fast, of the long operand, and of a thin one along k; turned, of a thin
  // one across k.
  const ulong long_distance = LONG_ALONG_K ? LONG(STEP_LINE) : LONG(STEP_P);
  bool fast = (uintptr_t)long_at % sizeof(LONG_VECTOR) == 0 && long_distance % (sizeof(LONG_VECTOR) / 2) == 0;
#if THIN_ALONG_K
  fast = fast && (uintptr_t)thin_at % 16 == 0 && THIN(STEP_LINE) % 8 == 0;
#else
  const bool turned = ((uintptr_t)thin_at | 2 * thin_step | 2 * thin_lines) % sizeof(THIN_VECTOR) == 0;
  uint thin_vector[EIGHTS / THIN_VECTOR_WORDS];
  UNROLLED(v, EIGHTS / THIN_VECTOR_WORDS) {
    const int line = THIN_LINE(2 * THIN_VECTOR_WORDS * v);
    thin_vector[v] = line < thin_lines ? line : 0;
  }
  const ulong thin_lane = (g / 2 * 8 + g % 2 - 8 * t) * thin_step;  // from the lane's first step of k to that it loads
#endif
#if !LONG_ALONG_K
  fast = fast && long_lines % LINES == 0;
  if (fast && g * LINES >= long_lines) {
    long_line[0] = 0;  // the first vector stands in for those that lie outside
  }
#endif

  float sums_of_lines[LINES / 2][EIGHTS][4];
  UNROLLED(q, LINES / 2)
    UNROLLED(r, EIGHTS)
      UNROLLED(s, 4) sums_of_lines[q][r][s] = 0;

  // The lane's first step of k.
  const int first = share * (KS * PIECE);
  long_at += (first + 8 * t) * long_step;
  thin_at += (first + 8 * t) * thin_step;
  for (int left = tile.depth - first; left > 0; left -= KL * KS * PIECE) {
    if (fast && left >= KS * PIECE) {
#if THIN_ALONG_K
      MULTIPLY_PIECES(load_thin(thin[s], thin_at + s * PIECE, thin_line), )
#else
      if (turned) {
        MULTIPLY_PIECES(load_thin(thin[s], thin_at + (s * PIECE * thin_step + thin_lane), thin_vector, thin_step),
                        turn_thin(thin[s]))
      } else {
        MULTIPLY_PIECES(load_lines(thin[s], thin_at + s * PIECE * thin_step, thin_line, thin_step, 8), )
      }
#endif
    } else {
#pragma unroll 1
      for (int p = 0; p < min(left, KS * PIECE); p += PIECE) {
        const int count = clamp(left - p - 8 * t, 0, 8);
        uint words[WORDS];
        uint thin[EIGHTS][4];
        load_long_slowly(words, long_at + p * long_step, long_line, long_step, count);
        load_lines(thin, thin_at + p * thin_step, thin_line, thin_step, count);
        multiply_piece(sums_of_lines, words, thin);
      }
    }
    long_at += KL * KS * PIECE * long_step;
    thin_at += KL * KS * PIECE * thin_step;
  }

  // The instruction leaves lines 2q and 2q + 1 of the long side to a lane, each with two neighbours of 8 thin lines.
  realv sum[MS][VECTORS];
  UNROLLED(q, LINES / 2) {
    UNROLLED(r, EIGHTS) {
      UNROLLED(s, 4) {
#if LONG_COLUMNS
        ((real*)&sum[2 * r + s % 2][0])[2 * q + s / 2] = sums_of_lines[q][r][s];
#else
        ((real*)&sum[2 * q + s / 2][r])[s % 2] = sums_of_lines[q][r][s];
#endif
      }
    }
  }
#if KL > 1
  __local realv sums[SHARED_SUMS(KL, 32)];
  ADD_SHARES(sums, KL, share, 32, lane)
  if (share > 0) return;
#endif
  UPDATE_C(EACH_THIN_VECTOR)
}
