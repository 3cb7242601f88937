// direct: small problems on any device. No local memory, no barriers, no packing: one launch.
//
// A work-item computes MS rows of VECTOR_WIDTH neighbouring columns over the whole depth k:
//
//                                   op(B)      NS = VECTOR_WIDTH
//                                 +-----------+---+-----------+
//                               k |           | | |           |
//                                 |           | v |           |
//            k                    +-----------+---+-----------+
//     +-------------+             +---------------------------+
//     |             |             |     +-----+-----+-----+   |
//  MS |-->          | op(A)       |  ML | wi  | wi  | ... |   |  C
//     |             |             |     +-----+-----+-----+   |
//     |             |             |     | wi  | ... |     |   |
//     |             |             |     +-----+-----+-----+   |
//     +-------------+             +----------- NL ------------+
//
//   ML, NL   rows and columns of C per work-group; the work-group is NL/NS x ML/MS work-items
//   MS, NS   rows and columns of C per work-item; NS equals VECTOR_WIDTH
//   KS       unrolling of the loop over k
//   KL       1: k is not blocked
//
// At the lower edge of C the last row of op(A) stands in for missing rows, at the right edge missing columns of op(B)
// are zero. Neither reaches C.

#define LOCAL_X (NL / NS)
#define LOCAL_Y (ML / MS)

// VECTOR_WIDTH neighbours of one row of op(B), zero from `count` on. b points at the first of them.
static inline realv load_b(__global const element* b, const int ldb, const int count) {
#if !TRANS_B
  if (count >= VECTOR_WIDTH) {
    return VLOAD(b);
  }
#endif
  realv row = (realv)(0);
#pragma unroll
  for (int q = 0; q < VECTOR_WIDTH; ++q) {
    if (q < count) {
      ((real*)&row)[q] = LOAD(b + q * B_STEP_J);
    }
  }
  return row;
}

#define EACH_VECTOR(unrolling, update)              \
  _Pragma(unrolling) for (int i = 0; i < MS; ++i) { \
    if (i < rows) {                                 \
      const int row = first_row + i, w = 0;         \
      const int column = first_column;              \
      update;                                       \
    }                                               \
  }

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  const Tile tile = find_tile(get_group_id(1), get_group_id(0), ML, NL, GEMM_ARGUMENTS);
  const int first_row = (int)get_local_id(1) * MS;
  const int first_column = (int)get_local_id(0) * NS;
  const int rows = min(MS, tile.rows - first_row);
  const int columns = min(NS, tile.columns - first_column);
  if (rows <= 0 || columns <= 0) {
    return;
  }

  __global const element* a_tile = tile.a + first_row * A_STEP_I;
  __global const element* b_tile = tile.b + first_column * B_STEP_J;
  ulong a_row[MS];
  realv sum[MS][1];
#pragma unroll
  for (int i = 0; i < MS; ++i) {
    a_row[i] = min(i, rows - 1) * A_STEP_I;
    sum[i][0] = (realv)(0);
  }

#pragma unroll KS
  for (int p = 0; p < tile.depth; ++p) {
    const realv b_row = load_b(b_tile, ldb, columns);
#pragma unroll
    for (int i = 0; i < MS; ++i) {
      sum[i][0] += LOAD(a_tile + a_row[i]) * b_row;
    }
    a_tile += A_STEP_P;
    b_tile += B_STEP_P;
  }

  UPDATE_C(1, EACH_VECTOR)
}
