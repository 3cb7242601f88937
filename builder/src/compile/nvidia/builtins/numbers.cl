// Functions of numbers and of memory that libclc lacks.
#define COUNT_ZEROS_OF(n, type) \
  FUNCTION type##n ctz(type##n x) {                                          \
    const type##n below = ~x & (x - (type)1); /* the zeros, and nothing above them */     \
    return popcount(below);                                                               \
  }
#define COUNT_ZEROS(type) \
  COUNT_ZEROS_OF(, type) COUNT_ZEROS_OF(2, type) COUNT_ZEROS_OF(3, type) COUNT_ZEROS_OF(4, type) COUNT_ZEROS_OF(8, type) \
  COUNT_ZEROS_OF(16, type)
COUNT_ZEROS(char)
COUNT_ZEROS(uchar)
COUNT_ZEROS(short)
COUNT_ZEROS(ushort)
COUNT_ZEROS(int)
COUNT_ZEROS(uint)
COUNT_ZEROS(long)
COUNT_ZEROS(ulong)

#define MAD_HI_OF(n, type) \
  FUNCTION type##n mad_hi(type##n a, type##n b, type##n c) { return mul_hi(a, b) + c; }
#define MAD_HI(type) \
  MAD_HI_OF(, type) MAD_HI_OF(2, type) MAD_HI_OF(3, type) MAD_HI_OF(4, type) MAD_HI_OF(8, type) MAD_HI_OF(16, type)
MAD_HI(char)
MAD_HI(uchar)
MAD_HI(short)
MAD_HI(ushort)
MAD_HI(int)
MAD_HI(uint)
MAD_HI(long)
MAD_HI(ulong)

#define SMOOTH(n)                                                                       \
  FUNCTION double##n smoothstep(double low, double high, double##n x) {                 \
    return smoothstep((double##n)low, (double##n)high, x);                              \
  }
SMOOTH(2) SMOOTH(3) SMOOTH(4) SMOOTH(8) SMOOTH(16)

// libclc's ldexp has no denormal results.
FUNCTION float ldexp(float x, int n) {
  return (float)(x * as_double((ulong)(1023 + clamp(n, -400, 400)) << 52));
}
#define SCALE(n)                                                                                          \
  FUNCTION float##n ldexp(float##n x, int##n e) { return (float##n)(ldexp(x.lo, e.lo), ldexp(x.hi, e.hi)); } \
  FUNCTION float##n ldexp(float##n x, int e) { return ldexp(x, (int##n)e); }
SCALE(2) SCALE(4) SCALE(8) SCALE(16)
FUNCTION float3 ldexp(float3 x, int3 e) { return (float3)(ldexp(x.xy, e.xy), ldexp(x.z, e.z)); }
FUNCTION float3 ldexp(float3 x, int e) { return ldexp(x, (int3)e); }

// Between two numbers, for NaN the lower one, as the driver's: libclc's gives NaN.
#define CLAMP_VECTOR(n, type)                                                                             \
  FUNCTION type##n clamp(type##n x, type##n low, type##n high) { return fmin(fmax(x, low), high); }       \
  FUNCTION type##n clamp(type##n x, type low, type high) { return clamp(x, (type##n)low, (type##n)high); }
#define CLAMP(type)                                                                              \
  FUNCTION type clamp(type x, type low, type high) { return fmin(fmax(x, low), high); }          \
  CLAMP_VECTOR(2, type) CLAMP_VECTOR(3, type) CLAMP_VECTOR(4, type) CLAMP_VECTOR(8, type) CLAMP_VECTOR(16, type)
CLAMP(float)
CLAMP(double)

// Copies by all work-items of a work-group: of vectors of three, which libclc leaves out.
FUNCTION size_t items_of_group(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }
#define COPY(to, from, type, parameters, target, source)                                                    \
  FUNCTION event_t name(to type* t, const from type* s, size_t count, parameters event_t event) {           \
    for (size_t i = get_local_linear_id(); i < count; i += items_of_group()) t[target] = s[source];         \
    return event;                                                                                           \
  }
#define STRIDE size_t stride,
#define NONE
#define COPIES_OF(type)                                \
  COPY(local, global, type, NONE, i, i)                \
  COPY(global, local, type, NONE, i, i)                \
  FUNCTION void prefetch(const global type* p, size_t count) {}
#define STRIDED_OF(type)                               \
  COPY(local, global, type, STRIDE, i, i * stride)     \
  COPY(global, local, type, STRIDE, i * stride, i)
#define FOR_VECTORS_OF_THREE(do) \
  do(char3) do(uchar3) do(short3) do(ushort3) do(int3) do(uint3) do(long3) do(ulong3) do(float3) do(double3)
#define name async_work_group_copy
FOR_VECTORS_OF_THREE(COPIES_OF)
#undef name
#define name async_work_group_strided_copy
FOR_VECTORS_OF_THREE(STRIDED_OF)
#undef name
