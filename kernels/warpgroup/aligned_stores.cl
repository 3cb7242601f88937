// For mixed products of warpgroup_tile: vectors of 8 elements of C that are aligned to their size are stored at once,
// where OpenCL's vstore, which promises no alignment, stores one element after the other.

#if PRECISION == 32
typedef uint4 packed;
#define PACKED 2
#define PACK_C(to, x) to[0] = as_uint4((x).lo), to[1] = as_uint4((x).hi)
#elif PRECISION == 16
typedef uint4 packed;
#define PACKED 1
#define PACK_C(to, x) to[0] = (uint4)(PAIR(x, s0, s1), PAIR(x, s2, s3), PAIR(x, s4, s5), PAIR(x, s6, s7))
#define PAIR(x, low, high) narrowed((x).low, (x).high)
static ALWAYS_INLINE uint narrowed(const float low, const float high) {
  uint bits;
  __asm__("cvt.rn." PTX_TYPE "x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
#elif C_TYPE == E4M3 || C_TYPE == E5M2
typedef uint2 packed;
#define PACKED 1
#define PACK_C(to, x) to[0] = as_uint2((ushort4)(PAIR(x, s0, s1), PAIR(x, s2, s3), PAIR(x, s4, s5), PAIR(x, s6, s7)))
#define PAIR(x, low, high) narrowed((x).low, (x).high)
// satfinite: as to_bytes does with what is too large.
static ALWAYS_INLINE ushort narrowed(const float low, const float high) {
  uint bits;
  __asm__(
      "{\n"
      ".reg .b16 pair;\n"
      "cvt.rn.satfinite." PTX_NAME(C_TYPE) "x2.f32 pair, %1, %2;\n"
      "cvt.u32.u16 %0, pair;\n"
      "}"
      : "=r"(bits)
      : "f"(high), "f"(low));
  return (ushort)bits;
}
#else
typedef uint2 packed;
#define PACKED 1
#define PACK_C(to, x) to[0] = as_uint2(TO_BYTES(8, x))
#endif

static ALWAYS_INLINE void store_c(const scaledv x, __global element* c) {
  if ((uintptr_t)c % min(8 * sizeof(element), (size_t)16) != 0) {
    VSTORE(x, c);
    return;
  }
  packed bits[PACKED];
  PACK_C(bits, x);
  UNROLLED(i, PACKED) ((__global packed*)c)[i] = bits[i];
}

// Partial sums.
static ALWAYS_INLINE void store_reals(const realv x, __global real* to) {
  if ((uintptr_t)to % 16 != 0) {
    VSTORE_REAL(x, to);
    return;
  }
  ((__global uint4*)to)[0] = as_uint4(x.lo);
  ((__global uint4*)to)[1] = as_uint4(x.hi);
}

#undef VSTORE
#undef VSTORE_REAL
#define VSTORE(vector, pointer) store_c(vector, pointer)
#define VSTORE_REAL(vector, pointer) store_reals(vector, pointer)
