// The exchange of kernel 8 of Nugteren's tutorial, for local_tile on NVIDIA's devices: MS neighbours in a warp need the
// same rows of a step. Each reads one element of op(A) from local memory, and gets the others' here.

#if EXCHANGE
static ALWAYS_INLINE void exchange(real a[MS], const real element) {
  const uint lane = ((uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0)) % 32;
  UNROLLED(i, MS) {
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;"
                     : "=r"(result)
                     : "r"(as_uint(element)), "r"(lane / MS * MS + i));
    a[i] = as_float(result);
  }
}
#endif
