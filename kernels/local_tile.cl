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
// The block of one work-item (x, y), of LOCAL_X x LOCAL_Y in the work-group, is cut into pieces of VECTOR_WIDTH rows
// and columns that are dealt out in turn, so that neighbouring work-items read neighbouring vectors of local memory:
//
//     piece w of the columns: (w * LOCAL_X + x) * VECTOR_WIDTH ... + VECTOR_WIDTH - 1      w = 0 .. NS/VECTOR_WIDTH - 1
//     piece u of the rows:    (u * LOCAL_Y + y) * VECTOR_WIDTH ... + VECTOR_WIDTH - 1      u = 0 .. MS/VECTOR_WIDTH - 1
//
//   ML, NL        rows and columns of C per work-group; the work-group is NL/NS x ML/MS work-items
//   KL            depth of the tiles in local memory; ML*KL and KL*NL are multiples of the work-group's size
//   MS, NS        rows and columns of C per work-item, multiples of VECTOR_WIDTH
//   VECTOR_WIDTH  elements of one vector in local memory, also the padding of its rows against bank conflicts
//   KS            unrolling of the loop over the depth of a tile
//
// The next tiles are read from global memory into registers while the present ones are multiplied. Elements that do
// not exist (edges of m, n and k) are zero in local memory.

#define LOCAL_X (NL / NS)
#define LOCAL_Y (ML / MS)
#define WORK_ITEMS (LOCAL_X * LOCAL_Y)
#define A_SHARE (ML * KL / WORK_ITEMS)  // elements of each tile that one work-item copies
#define B_SHARE (NL * KL / WORK_ITEMS)
#define A_ROW (ML / VECTOR_WIDTH + 1)   // vectors of one row of a tile in local memory, with the padding
#define B_ROW (NL / VECTOR_WIDTH + 1)
#define ROW_PIECES (MS / VECTOR_WIDTH)
#define COLUMN_PIECES (NS / VECTOR_WIDTH)

// Element number e of a tile: neighbouring numbers are neighbours in global memory.
#if TRANS_A
#define A_I(e) ((e) % ML)
#define A_P(e) ((e) / ML)
#else
#define A_I(e) ((e) / KL)
#define A_P(e) ((e) % KL)
#endif
#if TRANS_B
#define B_J(e) ((e) / KL)
#define B_P(e) ((e) % KL)
#else
#define B_J(e) ((e) % NL)
#define B_P(e) ((e) / NL)
#endif

// This work-item's share of the tiles at a and b, of which rows x depth and depth x columns exist.
static inline void fetch(real a_share[A_SHARE], real b_share[B_SHARE], __global const real* a, const int lda,
                         __global const real* b, const int ldb, const int rows, const int columns, const int depth,
                         const int item) {
#pragma unroll
  for (int r = 0; r < A_SHARE; ++r) {
    const int e = item + r * WORK_ITEMS;
    a_share[r] = A_I(e) < rows && A_P(e) < depth ? a[A_I(e) * A_STEP_I + A_P(e) * A_STEP_P] : 0;
  }
#pragma unroll
  for (int r = 0; r < B_SHARE; ++r) {
    const int e = item + r * WORK_ITEMS;
    b_share[r] = B_J(e) < columns && B_P(e) < depth ? b[B_P(e) * B_STEP_P + B_J(e) * B_STEP_J] : 0;
  }
}

// Puts the share into the tiles in local memory, both with one row per step of k.
static inline void deposit(__local realv* a_tile, __local realv* b_tile, const real a_share[A_SHARE],
                           const real b_share[B_SHARE], const int item) {
#pragma unroll
  for (int r = 0; r < A_SHARE; ++r) {
    const int e = item + r * WORK_ITEMS;
    ((__local real*)a_tile)[A_P(e) * A_ROW * VECTOR_WIDTH + A_I(e)] = a_share[r];
  }
#pragma unroll
  for (int r = 0; r < B_SHARE; ++r) {
    const int e = item + r * WORK_ITEMS;
    ((__local real*)b_tile)[B_P(e) * B_ROW * VECTOR_WIDTH + B_J(e)] = b_share[r];
  }
}

// sum += this work-item's rows of a_tile times its columns of b_tile.
static inline void multiply(realv sum[MS][COLUMN_PIECES], __local const realv* a_tile, __local const realv* b_tile,
                            const int x, const int y) {
#pragma unroll KS
  for (int p = 0; p < KL; ++p) {
    realv a_column[ROW_PIECES];
    realv b_row[COLUMN_PIECES];
#pragma unroll
    for (int u = 0; u < ROW_PIECES; ++u) {
      a_column[u] = a_tile[p * A_ROW + u * LOCAL_Y + y];
    }
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      b_row[w] = b_tile[p * B_ROW + w * LOCAL_X + x];
    }
#pragma unroll
    for (int i = 0; i < MS; ++i) {
#pragma unroll
      for (int w = 0; w < COLUMN_PIECES; ++w) {
        sum[i][w] += ((const real*)a_column)[i] * b_row[w];
      }
    }
  }
}

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  __local realv a_tile[KL * A_ROW];
  __local realv b_tile[KL * B_ROW];
  const size_t first_row = get_group_id(1) * ML;
  const size_t first_column = get_group_id(0) * NL;
  if (first_row >= (size_t)m || first_column >= (size_t)n) {
    return;  // all work-items of the work-group do: no barrier is left waiting
  }
  const int rows = (int)min((size_t)ML, (size_t)m - first_row);
  const int columns = (int)min((size_t)NL, (size_t)n - first_column);
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  const int item = y * LOCAL_X + x;
  __global const real* a_source = a + (a_offset + first_row * A_STEP_I);
  __global const real* b_source = b + (b_offset + first_column * B_STEP_J);

  realv sum[MS][COLUMN_PIECES];
#pragma unroll
  for (int i = 0; i < MS; ++i) {
#pragma unroll
    for (int w = 0; w < COLUMN_PIECES; ++w) {
      sum[i][w] = (realv)(0);
    }
  }

  real a_share[A_SHARE];
  real b_share[B_SHARE];
  int left = alpha == 0 ? 0 : k;
  fetch(a_share, b_share, a_source, lda, b_source, ldb, rows, columns, left, item);
  while (left > 0) {
    barrier(CLK_LOCAL_MEM_FENCE);
    deposit(a_tile, b_tile, a_share, b_share, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    left -= min(left, KL);
    if (left > 0) {
      a_source += KL * A_STEP_P;
      b_source += KL * B_STEP_P;
      fetch(a_share, b_share, a_source, lda, b_source, ldb, rows, columns, left, item);
    }
    multiply(sum, a_tile, b_tile, x, y);
  }

  __global real* c_tile = c + (c_offset + first_row * (ulong)ldc + first_column);
#pragma unroll
  for (int i = 0; i < MS; ++i) {
    const int row = (i / VECTOR_WIDTH * LOCAL_Y + y) * VECTOR_WIDTH + i % VECTOR_WIDTH;
    if (row < rows) {
#pragma unroll
      for (int w = 0; w < COLUMN_PIECES; ++w) {
        const int column = (w * LOCAL_X + x) * VECTOR_WIDTH;
        update_vector(c_tile + row * (ulong)ldc + column, sum[i][w], columns - column, alpha, beta);
      }
    }
  }
}
