// The second half of split-k: C = alpha * (sum of the slices' partial sums) + beta * C, and the epilogue.
//
// Each of the SPLIT_K slices of k has written an m x n matrix without gaps to `partials`, those of one product side by
// side. With SPLIT_K 0, each of a tile's tail.y slices has written ML x NL elements, those of one tile side by side.
// They are always added in the same order, so equal inputs give equal bits; with atomic additions they would not.
//
// Grid: x along the m * n elements of C, row by row, z = product. With SPLIT_K 0: x along the ML * NL elements of a
// tile, y = tile of the tail. A work-item computes one element.

#define REDUCE_ITEMS 64

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
  const size_t index = get_global_id(0);
#if SPLIT_K == 0
  const Part part = find_counted((uint)tail.x + (uint)get_group_id(1), numbers.m, n);
  const ulong partial_stride = ML * NL;
  const size_t first = get_group_id(1);  // of the tail's tiles
  const size_t product = part.product;
  const size_t row = part.tile_row * ML + index / NL;
  const size_t column = part.tile_column * NL + index % NL;
  if (index >= partial_stride || column >= (size_t)n) {
    return;
  }
#else
  const ulong partial_stride = (ulong)numbers.m * n;
  const size_t first = get_group_id(2), product = first;
  const size_t row = index <= UINT_MAX ? (uint)index / (uint)n : index / n;  // GPUs divide 64 bits slowly
  const size_t column = index - row * n;
#endif
  if (row >= (size_t)numbers.m) {
    return;
  }
  const ulong number = product + numbers.first_product;
  partials += first * SUMMANDS * partial_stride + index;
  real sum = 0;
  for (int slice = 0; slice < SUMMANDS; ++slice) {
    sum += partials[slice * partial_stride];
  }
  c += numbers.c_offset + (offsets ? LISTED(number, 2) : number * numbers.c_stride) + row * (ulong)numbers.ldc + column;
  const Epilogue e = find_epilogue(row, column, number, EPILOGUE_ARGUMENTS);
  real x = scalars.x * sum;
  if (scalars.y != 0) {
    x += scalars.y * LOAD(e.d ? e.d : c);
  }
  if (e.bias) {
    x += LOAD(e.bias);
  }
  STORE(activate(x, &e), c);
}
#endif
