// local_tile: GPUs. Tiles of op(A) and op(B) in local memory, a two-dimensional block of C in each work-item.
//
// A work-group computes an ML x NL tile of C, in blocks of k that are KL deep. For each block its work-items together
// copy an ML x KL tile of op(A) and a KL x NL tile of op(B) into local memory; then each multiplies its rows and
// columns:
//
//                                     op(B)       NL
//                                 +-----------+-------+------+
//                                 |           | b_tile|      |  one block of k: KL
//                                 +-----------+-------+------+
//        one block of k: KL       |           |       |      |
//     +------+------------+       +-----------+-------+------+
//     |      |            |
//     |      |            |       +-----------+-------+------+
//  ML |a_tile|            |       |           | work- |      |
//     |      |            |       |           | group |      | ML      C
//     +------+------------+       +-----------+-------+------+
//     |      |            | op(A) |              NL          |
//     +------+------------+       +--------------------------+
//
// In local memory both tiles have a row for each step of k, PADDING elements longer than the tile. At the edges of m, n
// and k, missing elements are zero; in a ring only those of k. In each step of k a work-item reads MS + NS elements and
// multiplies MS * NS:
//
//                NL     PADDING               one row of a_tile x one row of b_tile
//          +-----------+--+
//       KL |  b_tile   |//|  a_tile alike        sum[MS][NS] += a[MS] * b[NS]
//          +-----------+--+
//
// A tile is transposed on its way into local memory where the operand's neighbours lie along k. All data
// movement and arithmetic of a work-item is in four functions: load_tile (global memory to registers), store_tile
// (registers to local memory; both in tile_loads.cl), load_fragments (local memory to registers) and multiply. In a
// ring copy_tile of async_ring.cl takes the place of the first two.
//
//   ML, NL        rows and columns of C per work-group, which has NL/NS x ML/MS work-items
//   KL            depth of the tiles in local memory
//   MS, NS        rows and columns of C per work-item
//   KS            unrolling of the loop over the depth of a tile; in a ring all of it: KL
//   VECTOR_WIDTH  elements per read from local memory and of an accumulator
//   BUFFERS       pairs of tiles in local memory. 2 (double buffering): work-items fill one pair while others still
//                 multiply the other, with one barrier per block of k. 1: two barriers, half the memory. 3 to 6
//                 (NVIDIA, single precision): a ring that asynchronous copies fill (async_ring.cl), without registers
//                 for what is loaded
//   PREFETCH      1: the next tiles are loaded into registers before the current ones are multiplied, which hides the
//                 latency. 0: they are loaded when they are due, which takes fewer registers
//   LOAD_WIDTH    elements per load from global memory, where tiles are whole and addresses aligned; else 1
//   PADDING       elements, against bank conflicts: a tile that is transposed is stored down its columns, and with rows
//                 of 2^n elements a whole column lies in one bank
//   MAP           which elements of the tile a work-item computes, see below
//   FRAGMENTS     register sets for a[MS] and b[NS]. 2: those of the next step of k are read while those of the current
//                 step are multiplied, across the end of a tile too
//   SHARES        groups of work-items that compute the same of C, each with its KL / SHARES rows of the tiles: more
//                 work-items where C has few tiles. Their sums are added up at the end
//   EXCHANGE      1: neighbours exchange what they need of op(A) (published/exchange.cl). 0: each reads all MS
//
// MAP: a work-item's block is cut into pieces of VECTOR_WIDTH columns and, where MS allows, as many rows. With
// NS = 2 * VECTOR_WIDTH the columns of C belong to
//
//   BLOCKED  the pieces of a work-item      | x = 0 . x = 0 | x = 1 . x = 1 | x = 2 . x = 2 | ...
//            are neighbours
//   CYCLIC   they are dealt out in turn:    | x = 0 | x = 1 | x = 2 |  ...  | x = 0 | x = 1 | x = 2 | ...
//            neighbours read neighbours
//   ZIGZAG   as CYCLIC, with each warp of   x: 0  1  2  3  4  5  6  7
//            NVIDIA's (32 work-items) laid  -------------------------- y: 0
//            out as 8 x 4 in a zig-zag: a   0  2  4  6  8 10 12 14
//            warp reads 8 vectors of b and  1  3  5  7  9 11 13 15        1
//            4 of a, and lanes l and l^1   16 18 20 22 24 26 28 30        2
//            (l^2) share one, which halves 17 19 21 23 25 27 29 31        3
//            the passes through local memory
//   MMA      as CYCLIC, for 16 bits, with warps of 4 x 8 that use NVIDIA's matrix units: one instruction multiplies
//            16 x 8 elements of C by 16 steps of k
//
// Instructions that only some devices have replace load_fragments and multiply (MMA, EXCHANGE), or copy (a ring).
// Everything else is plain OpenCL C 1.2.
//
// MMA: 16 bits go two by two. A cell of a tile, 32 bits, holds those of steps 2p and 2p+1 of k, and a tile has a row
// for each such pair p; the instruction multiplies 8 pairs at once. Where an operand's neighbours lie along k, a load
// from global memory is a row of cells already; else the loads of two steps are interleaved. Rows of 4 (mod 16) cells
// are read without bank conflicts.
//
// Pieces are 2 x 2. In a piece, the work-item in column t and row g of its warp holds these elements of C and reads
// these cells of op(A) and op(B):
//
//                                     pairs 2t, 2t+1      column g (0 to 7) of the warp's 8
//   C: rows 2g, 2g+1,             op(A): rows 2g, 2g+1    op(B): pairs 2t, 2t+1
//      columns 2t, 2t+1                  (of the warp's 16)
//
// The instruction calls these rows g and g+8, and these pairs t and t+4. The order of rows and of pairs is free, so we
// take those that lie side by side.

#if PAIRED

// A work-item's part of the operands of a warp's instruction.
typedef struct {
  rowv a[2][ROW_PIECES];  // steps 2t and 2t+1
  cell b[2][VECTORS];
} Fragments;

static ALWAYS_INLINE void load_fragments(Fragments* fragments, __local const cell* a_row, __local const cell* b_row,
                                         const int x, const int y) {
  const int t = x % 4;
  const int g = y % 8;
  UNROLLED(q, 2) {
    __local const cell* a = a_row + (2 * t + q) * A_ROW;
    __local const cell* b = b_row + (2 * t + q) * B_ROW + g;
    UNROLLED(u, ROW_PIECES) fragments->a[q][u] = *(__local const rowv*)(a + ROW(u, y));
    UNROLLED(w, VECTORS) fragments->b[q][w] = b[COLUMN(w, x - t)];
  }
}

static ALWAYS_INLINE void multiply(realv sum[MS][VECTORS], const Fragments* fragments) {
  UNROLLED(u, ROW_PIECES) {
    const rowv a = fragments->a[0][u];
    const rowv next_a = fragments->a[1][u];
    UNROLLED(w, VECTORS) {
      realv upper = sum[2 * u][w];
      realv lower = sum[2 * u + 1][w];
      __asm__ volatile(  // clang has no "asm" in OpenCL C
          MULTIPLY_PAIRS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(upper.x), "+f"(upper.y), "+f"(lower.x), "+f"(lower.y)
          : "r"(a.x), "r"(a.y), "r"(next_a.x), "r"(next_a.y), "r"(fragments->b[0][w]), "r"(fragments->b[1][w]));
      sum[2 * u][w] = upper;
      sum[2 * u + 1][w] = lower;
    }
  }
}

#else

// A work-item's operands of one step of k.
typedef struct {
  rowv a[ROW_PIECES];
  realv b[VECTORS];
} Fragments;

static ALWAYS_INLINE void load_fragments(Fragments* fragments, __local const real* a_row, __local const real* b_row,
                                         const int x, const int y) {
#if EXCHANGE
  exchange((real*)fragments->a, a_row[ROW(x % MS / ROW_WIDTH, y) + x % MS % ROW_WIDTH]);
#else
  UNROLLED(u, ROW_PIECES) fragments->a[u] = *(__local const rowv*)(a_row + ROW(u, y));
#endif
  UNROLLED(w, VECTORS) fragments->b[w] = *(__local const realv*)(b_row + COLUMN(w, x));
}

static ALWAYS_INLINE void multiply(realv sum[MS][VECTORS], const Fragments* fragments) {
  UNROLLED(i, MS)
    UNROLLED(w, VECTORS) sum[i][w] += ((const real*)fragments->a)[i] * fragments->b[w];
}

#endif

// ---- The steps of the kernel ----

// Column and row of a work-item in its work-group.
#if MAP == ZIGZAG
#define WORK_ITEM_X (warp % (LOCAL_X / 8) * 8 + lane / 2 % 8)
#define WORK_ITEM_Y (warp / (LOCAL_X / 8) * 4 + lane / 16 * 2 + lane % 2)
#elif PAIRED
#define WORK_ITEM_X (warp % (LOCAL_X / 4) * 4 + lane % 4)
#define WORK_ITEM_Y (warp / (LOCAL_X / 4) * 8 + lane / 4)
#else
#define WORK_ITEM_X ((int)get_local_id(0))
#define WORK_ITEM_Y ((int)get_local_id(1) - share * LOCAL_Y)
#endif

// True if all rows (columns) of an operand's tiles exist, and all of their lines are aligned.
#define A_IS_WHOLE (A_PACKED || (tile.rows == ML && aligned(tile.a, A_LINE_STEP)))
#define B_IS_WHOLE (B_PACKED || (tile.columns == NL && aligned(tile.b, B_LINE_STEP)))

// Loads a work-item's part of the next tiles; reads nothing when no steps of k are left.
#define LOAD_TILES                                                                             \
  load_tile(a_staged, a_source, A_TYPE, A_LINE_STEP, A_LINES, A_LINE, A_ALONG_K,               \
            A_PACKED ? left > 0 : (a_is_whole && left >= KL), A_ALONG_K ? tile.rows : left,    \
            A_ALONG_K ? left : tile.rows, item);                                               \
  load_tile(b_staged, b_source, B_TYPE, B_LINE_STEP, B_LINES, B_LINE, B_ALONG_K,               \
            B_PACKED ? left > 0 : (b_is_whole && left >= KL), B_ALONG_K ? tile.columns : left, \
            B_ALONG_K ? left : tile.columns, item)

// Multiplies row p of both tiles. With two sets of fragments it reads that row, and multiplies the row before: in a
// tile's first step the last one of the tile before, or zeros.
#if FRAGMENTS == 2
#define MULTIPLY_ROW                                                   \
  Fragments next;                                                      \
  load_fragments(&next, a_rows + p * A_ROW, b_rows + p * B_ROW, x, y); \
  multiply(sum, &current);                                             \
  current = next
#else
#define MULTIPLY_ROW                                                      \
  load_fragments(&current, a_rows + p * A_ROW, b_rows + p * B_ROW, x, y); \
  multiply(sum, &current)
#endif

#define ROW_OF(i) (ROW((i) / ROW_WIDTH, y) + (i) % ROW_WIDTH)
#define COLUMN_OF(w) COLUMN(w, x)

// 1: a work-group outside of C returns at once. PoCL 3.1 computes wrong sums with both that and the return behind
// ADD_SHARES.
#define RETURNS (RETURNS_BEFORE_BARRIERS && SHARES == 1)

#define RING (BUFFERS > 2)
#if RING
#define LOAD_FRAGMENTS(to, s) \
  load_fragments(to, pair + (share * STEPS + (s)) * A_ROW, pair + A_TILE + (share * STEPS + (s)) * B_ROW, x, y)
#endif
#define A_VECTORS ((BUFFERS * A_TILE - 1) / VECTOR_WIDTH + 1)
#define B_VECTORS (BUFFERS * B_TILE / VECTOR_WIDTH)
#define SUM_VECTORS SHARED_SUMS(SHARES, PLACES)

GEMM_KERNEL(LOCAL_X, LOCAL_Y* SHARES) {
  READ_NUMBERS;
#if SHARES == 1 && !RING
  __local cellv a_vectors[A_VECTORS];  // arrays of vectors, for their alignment
  __local cellv b_vectors[B_VECTORS];
#else
  __local cellv vectors[A_VECTORS + B_VECTORS > SUM_VECTORS ? A_VECTORS + B_VECTORS : SUM_VECTORS];
  __local cellv* a_vectors = vectors;
#endif
  __local cell* tiles = (__local cell*)a_vectors;
#if !RING
#if SHARES > 1
  __local cellv* b_vectors = vectors + A_VECTORS;
#endif
  __local cell* b_tiles = (__local cell*)b_vectors;
#endif
  const Tile tile = find_tile(TILE_ROW, TILE_COLUMN, ML, NL, GEMM_ARGUMENTS);
  if ((RETURNS || RING) && OUTSIDE_C) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
  const int share = SHARES == 1 ? 0 : item / PLACES;  // of the tiles' rows
#if MAP == ZIGZAG || PAIRED || SHARES > 1
  const uint place = item - share * PLACES;
#endif
#if MAP == ZIGZAG || PAIRED
  const int warp = place / 32;
  const int lane = place % 32;
#endif
  const int x = WORK_ITEM_X;
  const int y = WORK_ITEM_Y;
  realv sum[MS][VECTORS];
  CLEAR_SUM;
#if RING
  MULTIPLY_RING
#else
  // The work-item's first element in the tiles to load next, and in those of local memory; the steps of k that are
  // left.
  __global const operand* a_source =
      tile.a + BEGIN(A_LINE, element_offset(0, 0, A_LINE, APART(A_ALONG_K), A_LINE_STEP, item));
  __global const operand* b_source =
      tile.b + BEGIN(B_LINE, element_offset(0, 0, B_LINE, APART(B_ALONG_K), B_LINE_STEP, item));
  const int a_begin = BEGIN(A_LINE, cell_offset(0, A_LINE, A_ROW, A_ALONG_K, item));
  const int b_begin = BEGIN(B_LINE, cell_offset(0, B_LINE, B_ROW, B_ALONG_K, item));
  int left = !RETURNS && OUTSIDE_C ? 0 : tile.depth;
  const bool a_is_whole = A_IS_WHOLE;
  const bool b_is_whole = B_IS_WHOLE;
  realw a_staged[A_STAGED];
  realw b_staged[B_STAGED];
  Fragments current = {{0}, {0}};
  int buffer = 0;
  if (PREFETCH == 1) {
    LOAD_TILES;
  }
  while (left > 0) {
    __local cell* a_tile = tiles + buffer * A_TILE;
    __local cell* b_tile = b_tiles + buffer * B_TILE;
    if (PREFETCH == 0) {
      LOAD_TILES;
    }
    if (BUFFERS == 1) {
      barrier(CLK_LOCAL_MEM_FENCE);  // until all have read the tiles; with two pairs, others still read the other one
    }
    store_tile(a_tile + a_begin, a_staged, A_ROW, A_LINES, A_LINE, A_ALONG_K, item);
    store_tile(b_tile + b_begin, b_staged, B_ROW, B_LINES, B_LINE, B_ALONG_K, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    a_source += A_BLOCK_STEP;
    b_source += B_BLOCK_STEP;
    left -= min(left, KL);
    if (PREFETCH == 1) {
      LOAD_TILES;
    }
    __local const cell* a_rows = a_tile + share * (DEPTH / SHARES) * A_ROW;
    __local const cell* b_rows = b_tile + share * (DEPTH / SHARES) * B_ROW;
#pragma unroll KS
    for (int p = 0; p < DEPTH / SHARES; p += STEP) {
      MULTIPLY_ROW;
    }
    buffer = BUFFERS - 1 - buffer;
  }
  if (FRAGMENTS == 2) multiply(sum, &current);
#endif
#if SHARES > 1
  barrier(CLK_LOCAL_MEM_FENCE);  // all have read the last tiles
  ADD_SHARES((__local realv*)vectors, SHARES, share, PLACES, place)
  if (share > 0) return;
#endif
  UPDATE_C(EACH_VECTOR)
}
