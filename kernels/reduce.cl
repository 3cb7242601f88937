// The second half of split-k: C = alpha * (sum of the slices' partial sums) + beta * C, and the epilogue.
//
// Each of the SPLIT_K slices of k has written an m x n matrix without gaps to `partials`, those of one product side by
// side. They are always added in the same order, so equal inputs give equal bits; with atomic additions they would not.
//
// Grid: x along the m * n elements of C, row by row, z = product. A work-item computes one element.

#define REDUCE_ITEMS 64

#if SPLIT_K > 1
__kernel __attribute__((reqd_work_group_size(REDUCE_ITEMS, 1, 1))) void clbake_reduce(__global const real* partials,
                                                                                      __global element* c,
                                                                                      CALL_PARAMETERS) {
  const int n = numbers.n;
  const ulong partial_stride = (ulong)numbers.m * n;
  const size_t index = get_global_id(0);
  const size_t row = index <= UINT_MAX ? (uint)index / (uint)n : index / n;  // GPUs divide 64 bits slowly
  const size_t column = index - row * n;
  if (row >= (size_t)numbers.m) {
    return;
  }
  const ulong number = get_group_id(2) + numbers.first_product;
  partials += get_group_id(2) * SPLIT_K * partial_stride + index;
  real sum = 0;
  for (int slice = 0; slice < SPLIT_K; ++slice) {
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
