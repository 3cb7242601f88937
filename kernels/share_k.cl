// Shared by direct, local_tile, thin_tile and warp_tile: work-items that take parts of k, and add up their sums in
// local memory.

// Vectors of local memory that ADD_SHARES needs: for half of the groups, their sums.
#define SHARED_SUMS(shares, places) ((shares) / 2 * (places)*MS * VECTORS)

// Adds up realv sum[MS][VECTORS] of `shares` groups of `places` work-items, this one number `place` of group number
// `share`: afterwards group 0 has all. The order of the additions is always the same. sums: __local realv*.
//
// The upper half of the groups hands its sums to the lower half, until one group has all.
#define ADD_SHARES(sums, shares, share, places, place)                              \
  _Pragma("unroll") for (int half_of = (shares) / 2; half_of > 0; half_of /= 2) {   \
    __local realv* own = (sums) + share % half_of * SHARED_SUMS(2, places) + place; \
    if (share >= half_of && share < 2 * half_of) {                                  \
      EACH_SUM(own[(i * VECTORS + w) * (places)] = sum[i][w])                       \
    }                                                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                                   \
    if (share < half_of) {                                                          \
      EACH_SUM(sum[i][w] += own[(i * VECTORS + w) * (places)])                      \
    }                                                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                                   \
  }
