// How the consumers of warpgroup_tile bring their sums to C: what wgmma leaves in a lane's registers becomes rows of 8
// neighbours, which go straight to C where they are aligned, else through local memory. warpgroup_tile.cl does both.

#define COLUMN_PIECES (NS / VECTOR_WIDTH)
#define PIECES_AT_ONCE (COLUMN_PIECES > 4 ? 2 : COLUMN_PIECES)  // of what C had

static ALWAYS_INLINE float from_lane_xor(const float value, const int mask) {
  uint result;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(as_uint(value)), "r"(mask));
  return as_float(result);
}

// Exchanges two values with the neighbour whose lane differs in `mask`: afterwards the lane without this bit has both
// firsts, that with it both seconds.
static ALWAYS_INLINE void exchange(float* first, float* second, const bool has_bit, const int mask) {
  const float own_first = *first;  // no address depends on the lane, so that sums stay in registers
  const float own_second = *second;
  const float other = from_lane_xor(has_bit ? own_first : own_second, mask);
  *first = has_bit ? other : own_first;
  *second = has_bit ? own_second : other;
}

// The instruction leaves the columns 2t and 2t+1 of each 8 to lane t of four. Exchanges them, so that lane t has all 8
// of every fourth piece.
static ALWAYS_INLINE void gather_rows(realv rows[MS][COLUMN_PIECES], float* sum, const uint t) {
#pragma unroll
  for (int q = 0; q < COLUMN_PIECES; ++q) {
#pragma unroll
    for (int i = 0; i < MS; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float* piece = sum + (16 * q + 2 * i + h);  // 4 sums of each piece
        exchange(&piece[0], &piece[4], t & 1, 1);
        exchange(&piece[8], &piece[12], t & 1, 1);
        exchange(&piece[0], &piece[8], t & 2, 2);
        exchange(&piece[4], &piece[12], t & 2, 2);
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          ((real*)&rows[i][q])[2 * s + h] = piece[4 * s];
        }
      }
    }
  }
}

// Stores 8 sums, aligned to 16 bytes. Like the next function by instructions of its own, as OpenCL's vload and vstore
// promise no alignment.
static ALWAYS_INLINE void store_sums(__global real* to, const realv sum) {
  __global float4* halves = (__global float4*)to;
  halves[0] = sum.lo;
  halves[1] = sum.hi;
}

// Updates 8 elements of C that are aligned to 16 bytes.
#if WRITES_C
static ALWAYS_INLINE uint narrowed(const float low, const float high) {
  uint bits;
#if BFLOAT16
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
#else
  __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
#endif
  return bits;
}
static ALWAYS_INLINE realv widened(const uint4 bits) {
#if BFLOAT16
  return WIDENED(8, as_ushort8(bits));
#else
  return vload_half8(0, (const half*)&bits);
#endif
}
static ALWAYS_INLINE void update_aligned(__global output* c, const uint4 old, const realv sum, const real alpha,
                                         const real beta) {
  realv x = alpha * sum;
  if (beta != 0) {
    x += beta * widened(old);
  }
  *(__global uint4*)c = (uint4)(narrowed(x.s0, x.s1), narrowed(x.s2, x.s3), narrowed(x.s4, x.s5), narrowed(x.s6, x.s7));
}
#else
static ALWAYS_INLINE void update_aligned(__global output* c, const uint4 old, const realv sum, const real alpha,
                                         const real beta) {
  store_sums(c, alpha * sum);  // partial sums: beta is 0
}
#endif

#define SYNCHRONIZE_CONSUMERS __asm__ volatile("bar.sync 1, %0;" ::"r"(128 * CONSUMERS) : "memory")

// Between consumers and `producers` work-items: the sums of a tile have left local memory.
#define WAIT_FOR_STAGING(producers) __asm__ volatile("bar.sync 3, %0;" ::"r"(128 * CONSUMERS + (producers)) : "memory")

// Whether a tile's sums reach C through local memory: where vectors of C are not aligned or reach beyond it, and with
// an epilogue. Partial sums have none.
static ALWAYS_INLINE bool is_staged(const Tile* tile, const int ldc, const int steps) {
  const bool aligned_c = (uintptr_t)tile->c % 16 == 0 && ldc % 8 == 0;
  return (WRITES_C && steps != 0) || tile->columns % 8 != 0 || !aligned_c;
}
