// direct: small problems on any device, and few rows or columns on GPUs. No packing, and one launch without split-k.
//
// A work-item computes MS rows of VECTOR_WIDTH neighbouring columns over the whole depth k, or, together with KL - 1
// others, over every KL-th step of it:
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
//   ML, NL   rows and columns of C per work-group; the work-group is NL/NS x ML/MS x KL work-items
//   MS, NS   rows and columns of C per work-item; NS equals VECTOR_WIDTH
//   KL       work-items that share these elements of C, a power of two; they add up their sums in local memory
//   KS       unrolling of the loop over k
//
// With one row of C nearly all time goes into reading op(B), so what counts is how many loads are on their way: KL
// makes work-items, KS loads of each. At the lower edge of C the last row of op(A) stands in for missing rows, at the
// right edge missing columns of op(B) are zero. Neither reaches C.

// Work-items with neighbouring numbers read neighbours in memory: of a column of op(B) if B is transposed, else of a
// row; and if there is one vector of columns, of a row of op(A) or, if A is transposed, of a column.
#if LOCAL_X > 1
#define NEIGHBOURS_SHARE TRANS_B
#else
#define NEIGHBOURS_SHARE !TRANS_A
#endif

// VECTOR_WIDTH neighbours of one row of op(B), zero from `count` on. b points at the first of them.
static ALWAYS_INLINE realv load_b(__global const operand* b, const int ldb, const int count) {
#if !TRANS_B
  if (count >= VECTOR_WIDTH) return VLOAD_B(b);
#endif
  realv row = (realv)(0);
  UNROLLED(q, VECTOR_WIDTH) {
    if (q < count) ((real*)&row)[q] = LOAD_B(b + q * B_STEP_J);
  }
  return row;
}

// Adds the products of this work-item's steps of k to its sums. A constant count keeps conditions out of the loop, so
// that the loads of several steps go out together.
#define MULTIPLY(count)                               \
  _Pragma("unroll KS") for (; left > 0; left -= KL) { \
    const realv b_row = load_b(b_tile, ldb, count);   \
    UNROLLED(i, MS) {                                 \
      sum[i][0] += LOAD_A(a_tile + a_row[i]) * b_row; \
    }                                                 \
    a_tile += KL * A_STEP_P;                          \
    b_tile += KL * B_STEP_P;                          \
  }

#define EACH_ROW(unrolling, update)                 \
  _Pragma(unrolling) for (int i = 0; i < MS; ++i) { \
    if (i < rows) {                                 \
      const int row = first_row + i, w = 0;         \
      const int column = first_column;              \
      update;                                       \
    }                                               \
  }

GEMM_KERNEL(LOCAL_X* KL, LOCAL_Y) {
  READ_NUMBERS;
  const Tile tile = find_tile(TILE_ROW, TILE_COLUMN, ML, NL, GEMM_ARGUMENTS);
#if KL == 1
  const int x = (int)get_local_id(0), y = (int)get_local_id(1), first_step = 0;
#else
  const int item = (int)(get_local_id(1) * LOCAL_X * KL + get_local_id(0));
  const int share = NEIGHBOURS_SHARE ? item % KL : item / PLACES;  // of the steps of k
  const int place = NEIGHBOURS_SHARE ? item / KL : item % PLACES;  // in the tile
  const int x = place % LOCAL_X, y = place / LOCAL_X, first_step = share;
#endif
  const int first_row = y * MS;
  const int first_column = x * NS;
  const int rows = min(MS, tile.rows - first_row);
  const int columns = min(NS, tile.columns - first_column);
  const bool outside = rows <= 0 || columns <= 0;
#if KL == 1
  if (outside) return;
#endif

  __global const operand* a_tile = tile.a + first_row * A_STEP_I + first_step * A_STEP_P;
  __global const operand* b_tile = tile.b + first_column * B_STEP_J + first_step * B_STEP_P;
  ulong a_row[MS];
  realv sum[MS][1];
  UNROLLED(i, MS) {
    a_row[i] = min(i, rows - 1) * A_STEP_I;
    sum[i][0] = (realv)(0);
  }

  int left = outside ? 0 : tile.depth - first_step;
  if (columns >= NS) {
    MULTIPLY(NS)
  } else {
    MULTIPLY(columns)
  }

#if KL > 1
  __local realv sums[SHARED_SUMS(KL, PLACES)];
  ADD_SHARES(sums, KL, share, PLACES, place)
  if (outside || share > 0) return;
#endif

  UPDATE_C(EACH_ROW)
}
