// What direct and thin_tile share: work-items that take parts of k, and add up their sums in local memory.

// Adds up realv sum[MS][vectors] of `shares` groups of `places` work-items, this one number `place` of group number
// `share`: afterwards group 0 has all. The order of the additions is always the same. Stands at the outermost level of
// a kernel, as it declares local memory: for half of the groups, their sums.
//
// The upper half of the groups hands its sums to the lower half, until one group has all.
#define ADD_SHARES(shares, share, places, place, vectors)                                            \
  __local real sums[(shares) / 2 * (places) * (MS * (vectors)*VECTOR_WIDTH)];                        \
  _Pragma("unroll") for (int half_of = (shares) / 2; half_of > 0; half_of /= 2) {                    \
    __local real* own = sums + (share % half_of * (places) + place) * (MS * (vectors)*VECTOR_WIDTH); \
    if (share >= half_of && share < 2 * half_of) {                                                   \
      EACH_SUM(vectors, VSTORE_REAL(sum[i][w], own + (i * (vectors) + w) * VECTOR_WIDTH))            \
    }                                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
    if (share < half_of) {                                                                           \
      EACH_SUM(vectors, sum[i][w] += VLOAD_REAL(own + (i * (vectors) + w) * VECTOR_WIDTH))           \
    }                                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
  }
