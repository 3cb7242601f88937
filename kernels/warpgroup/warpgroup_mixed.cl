// How the consumers of warpgroup_tile bring the sums of a mixed product to C: rows of 8 neighbours, straight from
// registers, or, with an epilogue, one after the other from local memory.

#define ROW_OF_VECTOR(v, item) ((item) / 32 * 16 + (item) % 32 / 4 + 8 * ((v) / VECTORS))
#define COLUMN_OF_VECTOR(v, item) (32 * ((v) % VECTORS) + (item) % 4 * 8)

static ALWAYS_INLINE void write_rows(realv rows[MS][VECTORS], const Tile* tile, const Call* call, const uint item) {
  UNROLLED(v, MS * VECTORS) {
    const int row = ROW_OF_VECTOR(v, item), column = COLUMN_OF_VECTOR(v, item);
    const realv sum = rows[v / VECTORS][v % VECTORS];
    if (call->slice) {
      if (row < ML) VSTORE_REAL(sum, call->slice + (row * NL + column));
    } else if (row < tile->rows) {
      update_vector(tile->c + (row * (ulong)call->ldc + column), sum, tile->columns - column, call->alpha, call->beta);
    }
  }
}

// Each work-item has its own vectors in local memory, as the loop over them is not unrolled: the epilogue is long.
static ALWAYS_INLINE void write_staged(__local real* sums, realv rows[MS][VECTORS], const Tile* tile, const Call* call,
                                       const uint item) {
#if WRITES_C
  typedef CONCAT(REAL, 4) half_vector;
  const int items = 128 * CONSUMERS;
  SYNCHRONIZE_CONSUMERS;  // all have multiplied the last tiles
  __local half_vector* own = (__local half_vector*)sums + item;
  UNROLLED(v, MS * VECTORS) {
    own[2 * v * items] = rows[v / VECTORS][v % VECTORS].lo;
    own[(2 * v + 1) * items] = rows[v / VECTORS][v % VECTORS].hi;
  }
  const Numbers* x = call->numbers;
  const Epilogue e = find_epilogue(tile->row, tile->column, (ulong)tile->product + x->first_product, call->offsets,
                                   MIXED_ARGUMENTS_OF_CALL x->steps, call->scalars.z, call->scalars.w, call->bias,
                                   x->bias_offset, x->bias_stride, call->d, x->d_offset, x->d_stride, x->ldd);
#pragma unroll 1
  for (int v = 0; v < MS * VECTORS; ++v) {
    const int row = ROW_OF_VECTOR(v, (int)item), column = COLUMN_OF_VECTOR(v, (int)item);
    const realv sum = (realv)(own[2 * v * items], own[(2 * v + 1) * items]);
    if (row < tile->rows && column < tile->columns)
      finish_vector(&e, tile->c + (row * (ulong)call->ldc + column), row, column, sum, tile->columns - column,
                    call->alpha, call->beta);
  }
#endif
}
