// warp_tile: NVIDIA's devices from sm_80 on, doubles. Matrix units that take their operands from registers, and tiles
// in local memory that asynchronous copies fill several blocks of k ahead.
//
// A work-group computes an ML x NL tile of C, each of its warps (32 work-items) a part of 8*MS x 4*NS. For each block
// of k, KL steps deep, all work-items together copy a tile of op(A) and one of op(B) into local memory. There is a ring
// of BUFFERS pairs of tiles:
//
//      copies of block i + BUFFERS - 1         -->  +---------+
//                                                   | a    b  |
//      on their way: block i + 1 ...           -->  | a    b  |     multiplied: block i
//                                                   | a    b  |  --> fragments in registers --> matrix units
//                                                   +---------+
//
// One barrier for each block of k is enough: behind it all have read the pair of the block before, whose place the next
// copies take, and the copies of the next block have arrived.
//
// In local memory a tile consists of lines, as they lie in global memory: along k, or along the rows (columns) of C.
// The chunks of a line, 16 bytes, are swizzled: chunk c of line l has the place c ^ 2 * (l % 4).
//
// A warp multiplies pieces of 16 x 8 elements of C by KS steps of k. What its lane 4g + t reads and computes of a
// piece:
//
//      op(A): rows g, g+8             op(B): column g               C: rows g, g+8
//             steps t, t+4 ...               steps t, t+4 ...          columns 2t, 2t+1
//
// Each is read on its own, 8 bytes: half a warp reads four lines, two neighbouring chunks of each, and the swizzle puts
// these eight chunks into different banks. Reading whole chunks would take fewer instructions, but leave the elements
// in registers in another order than the matrix units take them in, which costs far more to mend.
//
//   ML, NL        rows and columns of C per work-group
//   KL            depth of the tiles in local memory: 16 or 32
//   MS, NS        rows and columns of C per work-item: even
//   VECTOR_WIDTH  elements of an accumulator: 2
//   BUFFERS       pairs of tiles in local memory: 2 to 6
//   KS            steps of k that are multiplied at once: 4 or 8
//   FRAGMENTS     register sets for the operands of these steps. 2: those of the next steps are read while those of the
//                 current ones are multiplied, across the end of a block, too
//   MAP           MMA: one instruction multiplies a piece. MMA8: four do, of 8 x 8 by 4 steps, which earlier devices
//                 than sm_90 have, too
//   SHARES        groups of warps that compute the same of C, each with its KL / SHARES steps of a block
//
// ML, NL and the number of work-items are powers of two, so that a work-item copies the same piece of several lines.

#define MMA 3
#define MMA8 4

#define STEPS (KL / KS / SHARES)  // of a block, for each group of warps
#define WORK_ITEMS (PLACES * SHARES)
#define WARPS_X (NL / (4 * NS))
#define ROW_PIECES (MS / 2)  // of 16 rows; VECTORS pieces of 8 columns

#define PAIR ((ML + NL) * KL)  // elements of a pair of tiles

// Blocks of k whose copies may still be on their way when the next one is due.
#if BUFFERS == 2
#define LATE "0"
#elif BUFFERS == 3
#define LATE "1"
#elif BUFFERS == 4
#define LATE "2"
#elif BUFFERS == 5
#define LATE "3"
#else
#define LATE "4"
#endif

// ---- Copies ----

#define SWIZZLE(line) ((line) % 4 * 2)

// The place of element `at` in a line, counted from the line's beginning.
static ALWAYS_INLINE uint place_in_line(const uint line, const uint at) {
  return (at / 2 ^ SWIZZLE(line)) * 2 + at % 2;
}

// All work-items together copy a tile in pieces of `width` elements: a chunk, or one element where the chunks are not
// aligned. Neighbours copy neighbours; a work-item's pieces are WORK_ITEMS apart. Where its first one begins:
static ALWAYS_INLINE ulong first_piece(const uint item, const uint line, const ulong step, const bool is_aligned) {
  const uint pieces = line / LOAD_WIDTH;
  return is_aligned ? item / pieces * step + item % pieces * LOAD_WIDTH : item / line * step + item % line;
}

// Starts to copy a work-item's part of a tile of `lines` lines of `line` elements, `step` elements apart, to local
// memory; `source` is its first piece. whole: all elements exist; else only full_lines x full_line do, and the others
// become zero.
static ALWAYS_INLINE void copy_tile(__local double* tile, __global const element* source, ulong step, const uint lines,
                                    const uint line, const uint width, const bool whole, const int full_lines,
                                    const int full_line, uint item) {
  if (!whole) {
    HIDE("l", step);
    HIDE("r", item);
  }
  const uint pieces = line / width;  // of a line
#pragma unroll
  for (uint r = 0; r < lines * pieces; r += WORK_ITEMS) {
    const uint l = item / pieces + r / pieces;
    const uint at = (item % pieces + r % pieces) * width;
    __local double* to = tile + (l * line + place_in_line(l, at));
    __global const element* from = source + (r / pieces * step + r % pieces * width);
    const int count = (int)l < full_lines ? clamp(full_line - (int)at, 0, (int)width) : 0;
    if (width == 1) {
      copy_piece(8, local_address(to), from, whole ? 8 : 8 * count);
    } else {
      COPY_ASYNC(local_address(to), from, whole ? CHUNK_BYTES : 8 * count);
    }
  }
}

// Starts to copy a block of k of an operand, of which `depth` steps exist.
#define COPY_A(width, whole, depth)                                                                                 \
  copy_tile(tiles + to * PAIR, a_source, A_LINE_STEP, A_LINES, A_LINE, width, whole, A_ALONG_K ? tile.rows : depth, \
            A_ALONG_K ? depth : tile.rows, item)
#define COPY_B(width, whole, depth)                                                              \
  copy_tile(tiles + (to * PAIR + ML * KL), b_source, B_LINE_STEP, B_LINES, B_LINE, width, whole, \
            B_ALONG_K ? tile.columns : depth, B_ALONG_K ? depth : tile.columns, item)

// Starts the copies of the next block, of which all elements exist, in pieces of these widths ...
#define COPY_WHOLE_BLOCK(a_width, b_width) \
  COPY_A(a_width, true, KL);               \
  COPY_B(b_width, true, KL);               \
  FINISH_COPYING

// ... or `depth` steps of k, in the pieces that each operand allows ...
#define COPY_BLOCK(whole, depth)      \
  if (a_is_aligned) {                 \
    COPY_A(LOAD_WIDTH, whole, depth); \
  } else {                            \
    COPY_A(1, whole, depth);          \
  }                                   \
  if (b_is_aligned) {                 \
    COPY_B(LOAD_WIDTH, whole, depth); \
  } else {                            \
    COPY_B(1, whole, depth);          \
  }                                   \
  FINISH_COPYING

// ... or what is left of k, perhaps nothing.
#define COPY_LAST_BLOCK      \
  if (left > 0) {            \
    COPY_BLOCK(false, left); \
  } else {                   \
    START_COPIES;            \
  }

#define FINISH_COPYING      \
  START_COPIES;             \
  a_source += A_BLOCK_STEP; \
  b_source += B_BLOCK_STEP; \
  left -= min(left, KL);    \
  to = to + 1 == BUFFERS ? 0 : to + 1

// ---- Fragments ----

// A work-item's part of both operands for KS steps of k, in the order that the instruction takes.
typedef struct {
  double a[ROW_PIECES][KS / 2];
  double b[VECTORS][KS / 4];
} Fragments;

// The place in a tile of step p (0 to KL - 1) of row or column i, whose tile has `length` of them.
static ALWAYS_INLINE uint place(const uint i, const uint p, const uint length, const bool along_k) {
  const uint line = along_k ? i : p;
  const uint at = along_k ? p : i;
  return line * (along_k ? KL : length) + place_in_line(line, at);
}

static ALWAYS_INLINE void load_fragments(Fragments* fragments, __local const double* pair, const int s,
                                         const int first_row, const int first_column, const int g, const int t) {
  UNROLLED(u, ROW_PIECES)
    UNROLLED(h, KS / 2)
      fragments->a[u][h] = pair[place(first_row + 16 * u + h % 2 * 8 + g, KS * s + h / 2 * 4 + t, ML, A_ALONG_K)];
  UNROLLED(w, VECTORS)
    UNROLLED(h, KS / 4)
      fragments->b[w][h] = pair[ML * KL + place(first_column + 8 * w + g, KS * s + h * 4 + t, NL, B_ALONG_K)];
}

#define C_PIECE "{%0, %1, %2, %3}"
#define C_SUMS "+d"(c.x), "+d"(c.y), "+d"(d.x), "+d"(d.y)
#if KS == 4
#define OPERANDS "{%4, %5}, {%6}"
#define ALL_OPERANDS "d"(a[0]), "d"(a[1]), "d"(b[0])
#else
#define OPERANDS "{%4, %5, %6, %7}, {%8, %9}"
#define ALL_OPERANDS "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1])
#endif

static ALWAYS_INLINE void multiply_piece(double2* upper, double2* lower, const double* a, const double* b) {
  double2 c = *upper;
  double2 d = *lower;
#if MAP == MMA
  __asm__ volatile("mma.sync.aligned.m16n8k" TEXT(KS) ".row.col.f64.f64.f64.f64 " C_PIECE ", " OPERANDS ", " C_PIECE ";"
                   : C_SUMS
                   : ALL_OPERANDS);
#else
#define MULTIPLY_8X8(c, a, b)                                                                        \
  __asm__ volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                   : "+d"(c.x), "+d"(c.y)                                                            \
                   : "d"(a), "d"(b))
  UNROLLED(h, KS / 4) {
    MULTIPLY_8X8(c, a[2 * h], b[h]);
    MULTIPLY_8X8(d, a[2 * h + 1], b[h]);
  }
#endif
  *upper = c;
  *lower = d;
}

static ALWAYS_INLINE void multiply(realv sum[MS][VECTORS], const Fragments* fragments) {
  UNROLLED(u, ROW_PIECES)
    UNROLLED(w, VECTORS) multiply_piece(&sum[2 * u][w], &sum[2 * u + 1][w], fragments->a[u], fragments->b[w]);
}

#define ROW_OF(i) (first_row + 8 * (i) + g)
#define COLUMN_OF(w) (first_column + 8 * (w) + 2 * t)

#define LOAD_FRAGMENTS(to, s) load_fragments(to, pair, share* STEPS + (s), first_row, first_column, g, t)
#define NEXT_PAIR                            \
  from = from + 1 == BUFFERS ? 0 : from + 1; \
  pair = tiles + from * PAIR
// The copies of the next block to multiply have arrived, and all work-items have read the block before.
#define FINISH_BLOCK     \
  WAIT_FOR_COPIES(LATE); \
  barrier(CLK_LOCAL_MEM_FENCE)

// Multiplies a block; `copy` starts the copies of a later one.
#if FRAGMENTS == 1
#define MULTIPLY_BLOCK(copy)     \
  FINISH_BLOCK;                  \
  copy;                          \
  UNROLLED(s, STEPS) {           \
    LOAD_FRAGMENTS(&current, s); \
    multiply(sum, &current);     \
  }                              \
  NEXT_PAIR
#else
#define MULTIPLY_BLOCK(copy)                \
  UNROLLED(s, STEPS) {                      \
    Fragments next;                         \
    if (s + 1 == STEPS) {                   \
      NEXT_PAIR;                            \
      FINISH_BLOCK;                         \
    }                                       \
    LOAD_FRAGMENTS(&next, (s + 1) % STEPS); \
    if (s == 0) {                           \
      copy;                                 \
    }                                       \
    multiply(sum, &current);                \
    current = next;                         \
  }
#endif

#define MULTIPLY_BLOCKS(end, copy) \
  _Pragma("unroll 1") for (; block < (end); ++block) { MULTIPLY_BLOCK(copy); }

#define TILES_SIZE (BUFFERS * PAIR)  // elements
#define SUMS_SIZE (SHARES / 2 * ML * NL)

GEMM_KERNEL(LOCAL_X, LOCAL_Y* SHARES) {
  READ_NUMBERS;
  __local double tiles[TILES_SIZE > SUMS_SIZE ? TILES_SIZE : SUMS_SIZE] __attribute__((aligned(CHUNK_BYTES)));
  FIND_PLACE;
  const Tile tile = find_tile(tile_row, tile_column, ML, NL, GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
  const int share = SHARES == 1 ? 0 : item / PLACES;
  const uint place_in_tile = item - share * PLACES;
  const int warp = place_in_tile / 32;
  const int g = item % 32 / 4;
  const int t = item % 4;
  const int first_row = warp / WARPS_X * (8 * MS);
  const int first_column = warp % WARPS_X * (4 * NS);
  realv sum[MS][VECTORS];
  CLEAR_SUM;

  // The next copies: from where, the steps of k that are left, and to which pair of tiles.
  const bool a_is_aligned = alignment_of(tile.a, A_LINE_STEP) >= CHUNK_BYTES;
  const bool b_is_aligned = alignment_of(tile.b, B_LINE_STEP) >= CHUNK_BYTES;
  __global const element* a_source = tile.a + first_piece(item, A_LINE, A_LINE_STEP, a_is_aligned);
  __global const element* b_source = tile.b + first_piece(item, B_LINE, B_LINE_STEP, b_is_aligned);
  int left = tile.depth;
  int to = 0;
  const bool whole = tile.rows == ML && tile.columns == NL;
#pragma unroll 1
  for (int i = 0; i < BUFFERS - 1; ++i) {
    if (whole && left >= KL) {
      COPY_BLOCK(true, KL);
    } else {
      COPY_LAST_BLOCK;
    }
  }
  const int blocks = tile.depth / KL + (tile.depth % KL != 0);
  int block = 0;
  int from = 0;
  __local const double* pair = tiles;
  Fragments current;
#if FRAGMENTS == 2
  FINISH_BLOCK;
  LOAD_FRAGMENTS(&current, 0);
#endif
  // Most blocks take a loop without conditions: the matrix units would wait for them.
  const int whole_blocks = left / KL;
  if (whole && a_is_aligned && b_is_aligned) {
    MULTIPLY_BLOCKS(whole_blocks, COPY_WHOLE_BLOCK(LOAD_WIDTH, LOAD_WIDTH))
  } else if (whole && a_is_aligned) {
    MULTIPLY_BLOCKS(whole_blocks, COPY_WHOLE_BLOCK(LOAD_WIDTH, 1))
  } else if (whole && b_is_aligned) {
    MULTIPLY_BLOCKS(whole_blocks, COPY_WHOLE_BLOCK(1, LOAD_WIDTH))
  } else if (whole) {
    MULTIPLY_BLOCKS(whole_blocks, COPY_WHOLE_BLOCK(1, 1))
  }
  MULTIPLY_BLOCKS(whole_blocks, COPY_BLOCK(false, KL))
  MULTIPLY_BLOCKS(blocks, COPY_LAST_BLOCK)
#if SHARES > 1
  barrier(CLK_LOCAL_MEM_FENCE);  // all have read the last tiles
  ADD_SHARES((__local realv*)tiles, SHARES, share, PLACES, place_in_tile)
  if (share > 0) return;
#endif
  UPDATE_C(EACH_VECTOR)
}
