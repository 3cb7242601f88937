// local_tile: GPUs. Tiles of op(A) and op(B) in local memory, a two-dimensional block of C in each work-item.
//
// A work-group computes an ML x NL tile of C. It goes through k in blocks of KL; all work-items together copy an
// ML x KL tile of op(A) and a KL x NL tile of op(B) into local memory, then each multiplies its own rows and columns:
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
// In local memory both tiles have one row per step of k, PADDING elements longer than the tile; elements that do not
// exist (edges of m, n and k) are zero there. A work-item's step of k reads MS + NS elements and multiplies MS * NS:
//
//                NL     PADDING               one row of a_tile x one row of b_tile
//          +-----------+--+
//       KL |  b_tile   |//|  a_tile alike        sum[MS][NS] += a[MS] * b[NS]
//          +-----------+--+
//
//   ML, NL        rows and columns of C per work-group, which has NL/NS x ML/MS work-items
//   KL            depth of the tiles in local memory
//   MS, NS        rows and columns of C per work-item
//   KS            unrolling of the loop over the depth of a tile
//   VECTOR_WIDTH  elements per read from local memory and of an accumulator
//   BUFFERS       pairs of tiles in local memory. 2: work-items fill the next one while others still multiply the
//                 present one, with one barrier per block of k; 1: two barriers, half the memory
//   PREFETCH      1: the next tiles are fetched into registers before the present ones are multiplied, so the time that
//                 takes is hidden; 0: when they are due, without registers that live through the multiplication
//   LOAD_WIDTH    elements per load from global memory, where tiles are whole and addresses aligned; else single loads
//   PADDING       elements, against bank conflicts: a tile that is turned on its way into local memory is stored down
//                 its columns, and in rows of 2^n elements all of a column is in one bank
//   MAP           which elements of the tile of C are whose, below
//   FRAGMENTS     sets of registers for a[MS] and b[NS]. 2: those of the next step of k are read while those of the
//                 present one are multiplied, also over the end of a tile
//
// MAP: the block of the work-item in column x and row y of the work-group is cut into pieces of VECTOR_WIDTH columns
// and as many rows. NS = 2 * VECTOR_WIDTH as an example:
//
//   0  the pieces of a work-item are     | x = 0 . x = 0 | x = 1 . x = 1 | x = 2 . x = 2 | ...
//      neighbours
//   1  they are dealt out in turn, so    | x = 0 | x = 1 | x = 2 |  ...  | x = 0 | x = 1 | x = 2 | ...
//      neighbours read neighbours
//   2  as 1, with work-items numbered    x: 0  1  2  3  4  5  6  7
//      so that 32 of them (a warp of     ------------------------- y: 0
//      NVIDIA) are 8 x 4 in a zig-zag:   0  2  4  6  8 10 12 14
//      a warp reads 8 vectors of b and   1  3  5  7  9 11 13 15       1
//      4 of a, and lanes l, l^1 (l^2)   16 18 20 22 24 26 28 30       2
//      share one, which halves the      17 19 21 23 25 27 29 31       3
//      passes through local memory
//   3  as 1, for the units of NVIDIA's devices that multiply small matrices of doubles: a warp is 8 rows of 4
//      work-items, and all of them together multiply 16 x 8 elements of C by 8 steps of k in one instruction
//
// Instructions that only some devices have replace read and multiply (map 3), or would replace fetch and deposit
// (asynchronous copies); everything else is plain OpenCL C 1.2.
//
// Map 3: pieces are 2 x 2. In a piece, the work-item in column t and row g of its warp holds of C and reads of op(A)
// and op(B)
//
//                                     k: 2t, 2t+1         column g (0 to 7) of the warp's 8
//   C: rows 2g, 2g+1,             op(A): rows 2g, 2g+1    op(B): steps 2t, 2t+1 of k
//      columns 2t, 2t+1                  (of the warp's 16)
//
// The instruction calls these rows g and g+8, and these steps t and t+4; as the order of rows and of steps is free,
// ours are the ones that lie together. Rows of a tile that are 2 (mod 16) doubles long are read without bank conflicts.

#define LOCAL_X (NL / NS)
#define LOCAL_Y (ML / MS)
#define WORK_ITEMS (LOCAL_X * LOCAL_Y)
#define A_ROW (ML + PADDING)  // elements of one row of a tile in local memory
#define B_ROW (NL + PADDING)
#define A_TILE (KL * A_ROW)
#define B_TILE (KL * B_ROW)

// a[MS] is read in vectors, too, where that comes out even.
#if MS % VECTOR_WIDTH == 0
#define ROW_WIDTH VECTOR_WIDTH
typedef realv rowv;
#else
#define ROW_WIDTH 1
typedef real rowv;
#endif
#define ROW_PIECES (MS / ROW_WIDTH)
#define COLUMN_PIECES (NS / VECTOR_WIDTH)

#if MAP == 3
#define STEP 8  // of k that are multiplied at once
#else
#define STEP 1
#endif

// First row of piece u of the work-items in row y of the work-group, first column of piece w of those in column x.
#if MAP == 0
#define ROW(u, y) ((y) * MS + (u) * ROW_WIDTH)
#define COLUMN(w, x) ((x) * NS + (w) * VECTOR_WIDTH)
#else
#define ROW(u, y) (((u) * LOCAL_Y + (y)) * ROW_WIDTH)
#define COLUMN(w, x) (((w) * LOCAL_X + (x)) * VECTOR_WIDTH)
#endif

// In global memory a tile is made of lines of neighbouring elements, along k or along the rows (columns) of C. In the
// first case it is turned on its way into local memory.
#define A_PADDED (LAYOUT_A != ROW_MAJOR)  // a copy, whole and aligned
#define B_PADDED (LAYOUT_B != ROW_MAJOR)
#define A_TURNED (!A_PADDED && !TRANS_A)
#define B_TURNED (!B_PADDED && TRANS_B)
#define A_LINES (A_TURNED ? ML : KL)
#define B_LINES (B_TURNED ? NL : KL)
#define A_LINE (A_TURNED ? KL : ML)  // elements of a line
#define B_LINE (B_TURNED ? KL : NL)
#define A_LINE_STEP (A_TURNED ? A_STEP_I : A_STEP_P)
#define B_LINE_STEP (B_TURNED ? B_STEP_J : B_STEP_P)
// Loads of one work-item for a tile; the last one of some is idle if their number does not come out even.
#define LOADS(lines, line) (((lines) * (line) / LOAD_WIDTH + WORK_ITEMS - 1) / WORK_ITEMS)
#define EVEN(lines, line) ((lines) * (line) / LOAD_WIDTH % WORK_ITEMS == 0)

// LOAD_WIDTH neighbours at an address aligned to as many elements. vloadN promises no alignment, and NVIDIA's compiler
// makes single loads of it.
#if LOAD_WIDTH == 1
typedef real realw;
#define LOADW(pointer) LOAD(pointer)
#else
typedef CONCAT(REAL, LOAD_WIDTH) realw;
#if PRECISION == 16
#define LOADW(pointer) CONCAT(vload_half, LOAD_WIDTH)(0, pointer)
#else
#define LOADW(pointer) (*(__global const realw*)(pointer))
#endif
#endif

// All lines that start at `pointer` plus a multiple of `step` are aligned.
static ALWAYS_INLINE bool aligned(__global const element* pointer, const ulong step) {
  return (uintptr_t)pointer % (LOAD_WIDTH * sizeof(element)) == 0 && step % LOAD_WIDTH == 0;
}

// Line and place in the line of load number r of a work-item: neighbours load neighbours. The first form, whose place
// and distance of lines are the same in all loads, takes fewer registers.
static ALWAYS_INLINE uint load_line(const int r, const int line, const uint item) {
  const uint loads = line / LOAD_WIDTH;  // of the work-group for a line
  return WORK_ITEMS % loads == 0 ? item / loads + r * (WORK_ITEMS / loads) : (item + r * WORK_ITEMS) / loads;
}
static ALWAYS_INLINE uint load_place(const int r, const int line, const uint item) {
  const uint loads = line / LOAD_WIDTH;
  return (WORK_ITEMS % loads == 0 ? item : item + r * WORK_ITEMS) % loads * LOAD_WIDTH;
}

// A work-item's share of a tile of lines x line elements, `step` apart. `whole` is the same in the work-group: all
// elements exist and lines are aligned; else only full_lines x full_line elements exist, the others are zero.
static ALWAYS_INLINE void fetch(realw* share, __global const element* tile, const ulong step, const int lines, const int line,
                  const bool whole, const int full_lines, const int full_line, const uint item) {
#pragma unroll
  for (int r = 0; r < LOADS(lines, line); ++r) {
    const uint l = load_line(r, line, item);
    const uint first = load_place(r, line, item);
    __global const element* source = tile + (l * step + first);
    if (whole) {
      if (EVEN(lines, line) || l < (uint)lines) {
        share[r] = LOADW(source);
      }
    } else {
      const int count = (int)l < full_lines ? full_line - (int)first : 0;
#pragma unroll
      for (int q = 0; q < LOAD_WIDTH; ++q) {
        ((real*)&share[r])[q] = q < count ? LOAD(source + q) : 0;
      }
    }
  }
}

// Puts the share into the tile in local memory.
static ALWAYS_INLINE void deposit(__local real* tile, const realw* share, const int row, const int lines, const int line,
                    const bool turned, const uint item) {
#pragma unroll
  for (int r = 0; r < LOADS(lines, line); ++r) {
    const uint l = load_line(r, line, item);
    const uint first = load_place(r, line, item);
    if (EVEN(lines, line) || l < (uint)lines) {
      if (LOAD_WIDTH <= VECTOR_WIDTH && !turned) {
        *(__local realw*)(tile + (l * row + first)) = share[r];
      } else {
#pragma unroll
        for (int q = 0; q < LOAD_WIDTH; ++q) {
          tile[turned ? (first + q) * row + l : l * row + first + q] = ((const real*)&share[r])[q];
        }
      }
    }
  }
}

#if MAP == 3

// What one work-item has of the operands of a warp's instruction.
typedef struct {
  rowv a[2][ROW_PIECES];  // of steps 2t and 2t+1
  real b[2][COLUMN_PIECES];
} Fragments;

static ALWAYS_INLINE void read(Fragments* fragments, __local const real* a_row, __local const real* b_row, const int x,
                 const int y) {
  const int t = x % 4;
  const int g = y % 8;
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    __local const real* a = a_row + (2 * t + q) * A_ROW;
    __local const real* b = b_row + (2 * t + q) * B_ROW + g;
#pragma unroll
    for (int u = 0; u < ROW_PIECES; ++u) {
      fragments->a[q][u] = *(__local const rowv*)(a + ROW(u, y));
    }
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      fragments->b[q][w] = b[COLUMN(w, x - t)];
    }
  }
}

static ALWAYS_INLINE void multiply(realv sum[MS][COLUMN_PIECES], const Fragments* fragments) {
#pragma unroll
  for (int u = 0; u < ROW_PIECES; ++u) {
    const rowv a = fragments->a[0][u];
    const rowv next_a = fragments->a[1][u];
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      realv upper = sum[2 * u][w];
      realv lower = sum[2 * u + 1][w];
      __asm__ volatile(  // "asm" is no word of OpenCL C to clang
          "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+d"(upper.x), "+d"(upper.y), "+d"(lower.x), "+d"(lower.y)
          : "d"(a.x), "d"(a.y), "d"(next_a.x), "d"(next_a.y), "d"(fragments->b[0][w]), "d"(fragments->b[1][w]));
      sum[2 * u][w] = upper;
      sum[2 * u + 1][w] = lower;
    }
  }
}

#else

// What one work-item multiplies in one step of k.
typedef struct {
  rowv a[ROW_PIECES];
  realv b[COLUMN_PIECES];
} Fragments;

static ALWAYS_INLINE void read(Fragments* fragments, __local const real* a_row, __local const real* b_row, const int x, const int y) {
#pragma unroll
  for (int u = 0; u < ROW_PIECES; ++u) {
    fragments->a[u] = *(__local const rowv*)(a_row + ROW(u, y));
  }
#pragma unroll
  for (int w = 0; w < COLUMN_PIECES; ++w) {
    fragments->b[w] = *(__local const realv*)(b_row + COLUMN(w, x));
  }
}

static ALWAYS_INLINE void multiply(realv sum[MS][COLUMN_PIECES], const Fragments* fragments) {
#pragma unroll
  for (int i = 0; i < MS; ++i) {
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      sum[i][w] += ((const real*)fragments->a)[i] * fragments->b[w];
    }
  }
}

#endif

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  __local realv a_vectors[(BUFFERS * A_TILE - 1) / VECTOR_WIDTH + 1];  // vectors, for their alignment
  __local realv b_vectors[BUFFERS * B_TILE / VECTOR_WIDTH];
  __local real* a_tiles = (__local real*)a_vectors;
  __local real* b_tiles = (__local real*)b_vectors;
  const Tile tile = find_tile(ML, NL, GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) {
    return;  // all work-items of the work-group do: no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
#if MAP >= 2
  const int warp = item / 32;
  const int lane = item % 32;
#endif
#if MAP == 2
  const int x = warp % (LOCAL_X / 8) * 8 + lane / 2 % 8;
  const int y = warp / (LOCAL_X / 8) * 4 + lane / 16 * 2 + lane % 2;
#elif MAP == 3
  const int x = warp % (LOCAL_X / 4) * 4 + lane % 4;
  const int y = warp / (LOCAL_X / 4) * 8 + lane / 4;
#else
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
#endif

  realv sum[MS][COLUMN_PIECES];
#pragma unroll
  for (int i = 0; i < MS; ++i) {
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      sum[i][w] = (realv)(0);
    }
  }

  // The tiles that are fetched next, and the steps of k from there on. fetch reads nothing when none are left.
  __global const element* a_source = tile.a;
  __global const element* b_source = tile.b;
  int left = tile.depth;
  const bool whole = tile.rows == ML && tile.columns == NL && (A_PADDED || aligned(a_source, A_LINE_STEP)) &&
                     (B_PADDED || aligned(b_source, B_LINE_STEP));
  realw a_share[LOADS(A_LINES, A_LINE)];
  realw b_share[LOADS(B_LINES, B_LINE)];
#define FETCH()                                                                                             \
  fetch(a_share, a_source, A_LINE_STEP, A_LINES, A_LINE, A_PADDED ? left > 0 : whole && left >= KL,         \
        A_TURNED ? tile.rows : left, A_TURNED ? left : tile.rows, item);                                    \
  fetch(b_share, b_source, B_LINE_STEP, B_LINES, B_LINE, B_PADDED ? left > 0 : whole && left >= KL,         \
        B_TURNED ? tile.columns : left, B_TURNED ? left : tile.columns, item)

  Fragments present = {{0}, {0}};
  Fragments next;
  int buffer = 0;
  if (PREFETCH == 1) {
    FETCH();
  }
  while (left > 0) {
    __local real* a_tile = a_tiles + buffer * A_TILE;
    __local real* b_tile = b_tiles + buffer * B_TILE;
    if (PREFETCH == 0) {
      FETCH();
    }
    if (BUFFERS == 1) {
      barrier(CLK_LOCAL_MEM_FENCE);  // until all have read the tiles; of two pairs, the other one is still being read
    }
    deposit(a_tile, a_share, A_ROW, A_LINES, A_LINE, A_TURNED, item);
    deposit(b_tile, b_share, B_ROW, B_LINES, B_LINE, B_TURNED, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    a_source += A_BLOCK_STEP;
    b_source += B_BLOCK_STEP;
    left -= min(left, KL);
    if (PREFETCH == 1) {
      FETCH();
    }
#pragma unroll KS
    for (int p = 0; p < KL; p += STEP) {
      if (FRAGMENTS == 2) {
        // Multiplies the step before this one: in the first step the last one of the tiles before, or nothing.
        read(&next, a_tile + p * A_ROW, b_tile + p * B_ROW, x, y);
        multiply(sum, &present);
        present = next;
      } else {
        read(&present, a_tile + p * A_ROW, b_tile + p * B_ROW, x, y);
        multiply(sum, &present);
      }
    }
    buffer = BUFFERS - 1 - buffer;
  }
  if (FRAGMENTS == 2) {
    multiply(sum, &present);
  }

#pragma unroll
  for (int i = 0; i < MS; ++i) {
    const int row = ROW(i / ROW_WIDTH, y) + i % ROW_WIDTH;
    if (row < tile.rows) {
#pragma unroll
      for (int w = 0; w < COLUMN_PIECES; ++w) {
        const int column = COLUMN(w, x);
        update_vector(tile.c + (row * (ulong)ldc + column), sum[i][w], tile.columns - column, alpha, beta);
      }
    }
  }
}
