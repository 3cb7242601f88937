// direct: small problems, any size, one launch. No local memory, no barriers, no set-up.
//
// A work-item computes MS rows of VECTOR_WIDTH neighbouring columns and walks the whole depth k by itself:
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
//   KL       1: there is no k block
//
// At the lower edge of C the last row of op(A) is read in place of rows that do not exist, at the right edge
// missing columns of op(B) are zero; neither reaches C.

#define LOCAL_X (NL / NS)
#define LOCAL_Y (ML / MS)

// VECTOR_WIDTH neighbours of one row of op(B), zero from `count` on. b points at the first of them.
static inline realv load_b(__global const real* b, const int ldb, const int count) {
#if !TRANS_B
  if (count >= VECTOR_WIDTH) {
    return VLOAD(b);
  }
#endif
  realv row = (realv)(0);
#pragma unroll
  for (int q = 0; q < VECTOR_WIDTH; ++q) {
    if (q < count) {
      ((real*)&row)[q] = b[q * B_STEP_J];
    }
  }
  return row;
}

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  const size_t first_row = get_group_id(1) * ML + get_local_id(1) * MS;
  const size_t first_column = get_group_id(0) * NL + get_local_id(0) * NS;
  if (first_row >= (size_t)m || first_column >= (size_t)n) {
    return;
  }
  const int rows = (int)min((size_t)MS, (size_t)m - first_row);
  const int columns = (int)min((size_t)NS, (size_t)n - first_column);
  const int depth = alpha == 0 ? 0 : k;

  __global const real* a_tile = a + (a_offset + first_row * A_STEP_I);
  __global const real* b_tile = b + (b_offset + first_column * B_STEP_J);
  ulong a_row[MS];
  realv sum[MS];
#pragma unroll
  for (int i = 0; i < MS; ++i) {
    a_row[i] = min(i, rows - 1) * A_STEP_I;
    sum[i] = (realv)(0);
  }

#pragma unroll KS
  for (int p = 0; p < depth; ++p) {
    const realv b_row = load_b(b_tile, ldb, columns);
#pragma unroll
    for (int i = 0; i < MS; ++i) {
      sum[i] += a_tile[a_row[i]] * b_row;
    }
    a_tile += A_STEP_P;
    b_tile += B_STEP_P;
  }

  __global real* c_tile = c + (c_offset + first_row * (ulong)ldc + first_column);
#pragma unroll
  for (int i = 0; i < MS; ++i) {
    if (i < rows) {
      update_vector(c_tile + i * (ulong)ldc, sum[i], columns, alpha, beta);
    }
  }
}
