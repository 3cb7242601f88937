// The second half of split-k: C = alpha * (sum of the slices' partial sums) + beta * C, and the epilogue.
//
// Each of the SPLIT_K slices of k has written an m x n matrix without gaps to `partials`, those of one product side by
// side. With SPLIT_K 0, each of a tile's tail.y slices has written ML x NL elements, those of one tile side by side.
// They are always added in the same order, so equal inputs give equal bits; with atomic additions they would not.
//
// Grid: x along the m * n elements of C, row by row, z = product. With SPLIT_K 0: x along the ML * NL elements of a
// tile, y = tile of the tail. A work-item computes REDUCE_EACH elements, as finding its place takes time.

#define REDUCE_ITEMS 64
#define REDUCE_EACH (SPLIT_K < 8 ? 4 : 1)

#if SPLIT_K == 0
#define SUMMANDS tail.y
#define REDUCE_TAIL const int2 tail,
#else
#define SUMMANDS SPLIT_K
#define REDUCE_TAIL
#endif

#if SPLIT_K != 1
__kernel __attribute__((reqd_work_group_size(REDUCE_ITEMS, 1, 1))) void clbake_reduce(__global const real* partials,
                                                                                      __global element* c,
                                                                                      REDUCE_TAIL CALL_PARAMETERS) {
  const int n = numbers.n;
#if SPLIT_K == 0
  const Part part = find_counted((uint)tail.x + (uint)get_group_id(1), numbers.m, n);
  const size_t partial_stride = ML * NL;
  const size_t first = get_group_id(1);  // of the tail's tiles
  const size_t product = part.product;
#else
  const size_t partial_stride = (size_t)numbers.m * n;
  const size_t first = get_group_id(2), product = first;
#endif
  const ulong number = product + numbers.first_product;
  c += numbers.c_offset + (offsets ? LISTED(number, 2) : number * numbers.c_stride);
  partials += first * SUMMANDS * partial_stride;
  const size_t index = get_group_id(0) * (REDUCE_ITEMS * REDUCE_EACH) + get_local_id(0);
  if (index >= partial_stride) return;
  real sum[REDUCE_EACH] = {0};
  for (int slice = 0; slice < SUMMANDS; ++slice) {
    UNROLLED(i, REDUCE_EACH) sum[i] += partials[min(index + i * REDUCE_ITEMS, partial_stride - 1)];
    partials += partial_stride;
  }
  UNROLLED(i, REDUCE_EACH) {
    const size_t at = index + i * REDUCE_ITEMS;
#if SPLIT_K == 0
    const size_t row = part.tile_row * ML + at / NL;
    const size_t column = part.tile_column * NL + at % NL;
#else
    const size_t row = at <= UINT_MAX ? (uint)at / (uint)n : at / n;  // GPUs divide 64 bits slowly
    const size_t column = at - row * n;
#endif
    if (at < partial_stride && row < (size_t)numbers.m && column < (size_t)n) {
      __global element* to = c + (row * (ulong)numbers.ldc + column);
      const Epilogue e = find_epilogue(row, column, number, EPILOGUE_ARGUMENTS);
      scaled x = scalars.x * MIXED_ELEMENT(sum[i]);
      if (scalars.y != 0) x += scalars.y * LOAD(e.d ? e.d : to);
      if (e.bias) x += LOAD_BIAS(e.bias);
      STORE(SHIFTED_C(activate(x, &e)), to);
    }
  }
}
#endif
