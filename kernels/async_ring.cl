// Shared by warp_tile and local_tile with 3 buffers or more: a ring of BUFFERS pairs of tiles in local memory, which
// asynchronous copies (async_copy.cl) fill several blocks of k ahead.
//
//      copies of block i + BUFFERS - 1         -->  +---------+
//                                                   | a    b  |
//      on their way: block i + 1 ...           -->  | a    b  |     multiplied: block i
//                                                   | a    b  |  --> fragments in registers --> sums
//                                                   +---------+
//
// One barrier for each block of k is enough: behind it all have read the pair of the block before, whose place the next
// copies take, and the copies of the next block have arrived.
//
// The family's kernel has `tile`, `tiles` (the ring), `item`, `sum`, the type Fragments, multiply, and
// LOAD_FRAGMENTS(to, s), which reads the operands of step s from `pair`.

#define PAIR (A_TILE + B_TILE)  // elements of a pair of tiles

// PIECE: the place in a tile of op(A), or op(B), of element `at` of line l. LINEAR: it is PIECE(l, 0) + PIECE(0, at).
#ifdef PADDING
// local_tile, the only family with padding: a row for each step of k. What lies along k is transposed on its way.
#define PIECE(is_a, l, at) \
  ((is_a) ? A_ALONG_K ? (at)*A_ROW + (l) : (l)*A_ROW + (at) : B_ALONG_K ? (at)*B_ROW + (l) : (l)*B_ROW + (at))
#define LINEAR true
#define STEPS (KL / SHARES)  // in which a work-item multiplies a block
#define A_IN_CHUNKS !A_ALONG_K
#define B_IN_CHUNKS !B_ALONG_K
#else
// warp_tile: lines as they lie in global memory. Their chunks, 16 bytes, are swizzled: chunk c of line l has the place
// c ^ 2 * (l % 4).
#define PIECE(is_a, l, at) ((l) * ((is_a) ? A_LINE : B_LINE) + place_in_line(l, at))
#define LINEAR false
#define STEPS (KL / KS / SHARES)
#define A_IN_CHUNKS true
#define B_IN_CHUNKS true
#define A_TILE (ML * KL)
#define B_TILE (NL * KL)
#define WORK_ITEMS (PLACES * SHARES)
static ALWAYS_INLINE uint place_in_line(const uint line, const uint at) { return (at / 2 ^ line % 4 * 2) * 2 + at % 2; }
#endif

// Copies are started in parts, before the last step of a block waits for those of the next: all at once they would keep
// the reads of fragments waiting.
#define PARTS (STEPS > 1 ? STEPS - 1 : 1)
#define ALL -1

// Blocks of k whose copies may still be on their way when the next one is due.
#define LATE TEXT(BUFFERS) " - 2"

// ---- Copies ----

// All work-items together copy a tile in pieces: a chunk, or one element where the chunks are not aligned. Neighbours
// copy neighbours; a work-item's pieces are WORK_ITEMS apart. Where its first one begins:
static ALWAYS_INLINE ulong first_piece(const uint item, const uint line, const ulong step, const bool is_aligned) {
  const uint chunks = line / LOAD_WIDTH;
  return is_aligned ? item / chunks * step + item % chunks * LOAD_WIDTH : item / line * step + item % line;
}

// The rows (columns) of C from those of a work-item's first piece on, when the tile has `rows`; none: 0 or less.
static ALWAYS_INLINE int rows_from(const uint item, const uint line, const bool along_k, const int rows,
                                   const bool is_aligned) {
  const uint chunks = line / LOAD_WIDTH;
  return rows - (int)(along_k      ? item / (is_aligned ? chunks : line)
                      : is_aligned ? item % chunks * LOAD_WIDTH
                                   : item % line);
}

// Starts to copy a work-item's part of a tile of op(A), or op(B), of `lines` lines of `line` elements, `step` elements
// apart, in pieces of `width`; `source` is its first piece, `rows` what rows_from says: what lies outside of C is left
// out, as no sum that is kept depends on it. last: the block has only `depth` steps of k, and the others become zero.
// part: that one of PARTS, or ALL.
static ALWAYS_INLINE void copy_tile(__local real* tile, const bool is_a, __global const operand* source, ulong step,
                                    const uint lines, const uint line, const uint width, const bool along_k,
                                    const int rows, const bool last, const int depth, const int part, uint item) {
  if (last) {
    HIDE("l", step);
    HIDE("r", item);
  }
  const uint pieces = line / width;  // of a line
  const uint first_line = item / pieces, first_at = item % pieces * width;
  uint first = local_address(tile + PIECE(is_a, first_line, first_at));
  if (LINEAR) HIDE("r", first);  // without it the compiler keeps a register for each address
#pragma unroll
  for (uint r = 0; r < lines * pieces; r += WORK_ITEMS) {
    if (part != ALL && r / WORK_ITEMS % PARTS != (uint)part) continue;
    const uint next_line = r / pieces, next_at = r % pieces * width;
    const uint l = first_line + next_line, at = first_at + next_at;
    const uint to = LINEAR ? first + (uint)sizeof(real) * PIECE(is_a, next_line, next_at)
                           : local_address(tile + PIECE(is_a, l, at));
    const int steps = clamp(depth - (int)(along_k ? at : l), 0, along_k ? (int)width : 1);
    const int elements = !last ? (int)width : along_k ? steps : steps * (int)width;
    copy_if((int)(along_k ? next_line : next_at) < rows, OPERAND_BYTES * width, to,
            source + (next_line * step + next_at), OPERAND_BYTES * elements);
  }
}

// Starts a part of the copies of the next block, in pieces of these widths ...
#define COPY_PIECES(a_width, b_width, last, depth, part)                                                              \
  copy_tile(tiles + to * PAIR, true, a_source, A_LINE_STEP, A_LINES, A_LINE, a_width, A_ALONG_K, a_rows, last, depth, \
            part, item);                                                                                              \
  copy_tile(tiles + (to * PAIR + A_TILE), false, b_source, B_LINE_STEP, B_LINES, B_LINE, b_width, B_ALONG_K,          \
            b_columns, last, depth, part, item);                                                                      \
  if ((part) == ALL || (part) + 1 == PARTS) {                                                                         \
    START_COPIES;                                                                                                     \
    a_source += A_BLOCK_STEP;                                                                                         \
    b_source += B_BLOCK_STEP;                                                                                         \
    left -= min(left, KL);                                                                                            \
    to = to + 1 == BUFFERS ? 0 : to + 1;                                                                              \
  }

// A statement with the widths of pieces that the operands allow.
#define BY_ALIGNMENT(statement)       \
  if (a_is_aligned && b_is_aligned) { \
    statement(LOAD_WIDTH, LOAD_WIDTH) \
  } else if (a_is_aligned) {          \
    statement(LOAD_WIDTH, 1)          \
  } else if (b_is_aligned) {          \
    statement(1, LOAD_WIDTH)          \
  } else {                            \
    statement(1, 1)                   \
  }

// Starts all copies of a whole block, and of what is left of k, perhaps nothing.
#define COPY_WHOLE_BLOCK(a_width, b_width) COPY_PIECES(a_width, b_width, false, KL, ALL)
#define COPY_REST(a_width, b_width) COPY_PIECES(a_width, b_width, true, left, ALL)
#define COPY_LAST_BLOCK     \
  if (left > 0) {           \
    BY_ALIGNMENT(COPY_REST) \
  } else {                  \
    START_COPIES;           \
  }

// ---- Multiplication ----

#define NEXT_PAIR                            \
  from = from + 1 == BUFFERS ? 0 : from + 1; \
  pair = tiles + from * PAIR
// The copies of the next block to multiply have arrived, and all work-items have read the block before.
#define FINISH_BLOCK     \
  WAIT_FOR_COPIES(LATE); \
  barrier(CLK_LOCAL_MEM_FENCE)

// Multiplies a block; `copy` starts part s of the copies of a later one.
#if FRAGMENTS == 1
#define MULTIPLY_BLOCK(copy)     \
  FINISH_BLOCK;                  \
  UNROLLED(s, STEPS) {           \
    LOAD_FRAGMENTS(&current, s); \
    if (s < PARTS) {             \
      copy;                      \
    }                            \
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
    if (s < PARTS) {                        \
      copy;                                 \
    }                                       \
    multiply(sum, &current);                \
    current = next;                         \
  }
#endif

#define MULTIPLY_BLOCKS(end, copy) \
  _Pragma("unroll 1") for (; block < (end); ++block) { MULTIPLY_BLOCK(copy); }

// ---- All of it ----

#if FRAGMENTS == 2
#define READ_FIRST_FRAGMENTS \
  FINISH_BLOCK;              \
  LOAD_FRAGMENTS(&current, 0)
#else
#define READ_FIRST_FRAGMENTS
#endif

// The rows (columns) of a tile that exist, packed or not; a chunk across k has to exist as a whole.
#define A_EXISTING (LAYOUT_A == ROW_MAJOR ? tile.rows : ML)
#define B_EXISTING (LAYOUT_B == ROW_MAJOR ? tile.columns : NL)
#define IS_ALIGNED(source, step, along_k, rows) \
  (alignment_of(source, step) >= CHUNK_BYTES && ((along_k) || (rows) % LOAD_WIDTH == 0))

#define MULTIPLY_WHOLE_BLOCKS(a_width, b_width) \
  MULTIPLY_BLOCKS(whole_blocks, COPY_PIECES(a_width, b_width, false, KL, s))

// Multiplies all of tile.depth. a_source, b_source, a_rows, b_columns, left, to: the next copies, the steps of k that
// are left, and the pair that takes them. Most blocks take a loop without conditions: the arithmetic would wait for
// them.
#define MULTIPLY_RING                                                                               \
  const bool a_is_aligned = A_IN_CHUNKS && IS_ALIGNED(tile.a, A_LINE_STEP, A_ALONG_K, A_EXISTING);  \
  const bool b_is_aligned = B_IN_CHUNKS && IS_ALIGNED(tile.b, B_LINE_STEP, B_ALONG_K, B_EXISTING);  \
  __global const operand* a_source = tile.a + first_piece(item, A_LINE, A_LINE_STEP, a_is_aligned); \
  __global const operand* b_source = tile.b + first_piece(item, B_LINE, B_LINE_STEP, b_is_aligned); \
  const int a_rows = rows_from(item, A_LINE, A_ALONG_K, A_EXISTING, a_is_aligned);                  \
  const int b_columns = rows_from(item, B_LINE, B_ALONG_K, B_EXISTING, b_is_aligned);               \
  int left = tile.depth;                                                                            \
  int to = 0;                                                                                       \
  _Pragma("unroll 1") for (int i = 0; i < BUFFERS - 1; ++i) {                                       \
    if (left >= KL) {                                                                               \
      BY_ALIGNMENT(COPY_WHOLE_BLOCK)                                                                \
    } else {                                                                                        \
      COPY_LAST_BLOCK;                                                                              \
    }                                                                                               \
  }                                                                                                 \
  const int blocks = tile.depth / KL + (tile.depth % KL != 0);                                      \
  const int whole_blocks = left / KL;                                                               \
  int block = 0;                                                                                    \
  int from = 0;                                                                                     \
  __local const real* pair = tiles;                                                                 \
  Fragments current;                                                                                \
  READ_FIRST_FRAGMENTS;                                                                             \
  BY_ALIGNMENT(MULTIPLY_WHOLE_BLOCKS)                                                               \
  MULTIPLY_BLOCKS(blocks, if (s == 0){COPY_LAST_BLOCK})
