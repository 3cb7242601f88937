// The second half of split-k: C = alpha * (sum of the slices' parts) + beta * C.
//
// Each of SPLIT_K slices of k has left an m x n matrix without gaps in `parts`, those of one product side by side. They
// are always added up in the same order, so equal inputs give equal bits; atomic additions would not.
//
// Grid: x along the m * n elements of C, row by row, z = product. A work-item computes one element.

#define REDUCE_ITEMS 64

#if SPLIT_K > 1
__kernel __attribute__((reqd_work_group_size(REDUCE_ITEMS, 1, 1))) void clbake_reduce(
    const int m, const int n, const real alpha, __global const real* parts, const ulong part_stride, const real beta,
    __global element* c, const ulong c_offset, const int ldc, const ulong c_stride, __global const ulong* offsets,
    const int first_product) {
  const size_t number_in_c = get_global_id(0);
  const size_t row = number_in_c / n;
  const size_t column = number_in_c % n;
  if (row >= (size_t)m) {
    return;
  }
  const ulong number = get_group_id(2) + first_product;
  parts += get_group_id(2) * SPLIT_K * part_stride + number_in_c;
  real sum = 0;
  for (int slice = 0; slice < SPLIT_K; ++slice) {
    sum += parts[slice * part_stride];
  }
  c += c_offset + (offsets ? offsets[3 * number + 2] : number * c_stride) + row * (ulong)ldc + column;
  if (beta == 0) {
    STORE(alpha * sum, c);
  } else {
    STORE(alpha * sum + beta * LOAD(c), c);
  }
}
#endif
