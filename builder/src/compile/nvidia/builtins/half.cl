// Built-in functions of half, which neither libclc nor NVIDIA's driver has: by way of float.
#define TO(type, n, x) __builtin_convertvector(x, type##n)
#define FOR_VECTORS(do, ...) do(2, __VA_ARGS__) do(3, __VA_ARGS__) do(4, __VA_ARGS__) do(8, __VA_ARGS__) do(16, __VA_ARGS__)

#define UNARY_VECTOR(n, name) \
  FUNCTION half##n name(half##n x) { return TO(half, n, name(TO(float, n, x))); }
#define UNARY(name)                                            \
  FUNCTION half name(half x) { return (half)name((float)x); } \
  FOR_VECTORS(UNARY_VECTOR, name)
#define BINARY_VECTOR(n, name) \
  FUNCTION half##n name(half##n x, half##n y) { return TO(half, n, name(TO(float, n, x), TO(float, n, y))); }
#define BINARY(name)                                                            \
  FUNCTION half name(half x, half y) { return (half)name((float)x, (float)y); } \
  FOR_VECTORS(BINARY_VECTOR, name)
#define TERNARY_VECTOR(n, name)                                                   \
  FUNCTION half##n name(half##n x, half##n y, half##n z) {                        \
    return TO(half, n, name(TO(float, n, x), TO(float, n, y), TO(float, n, z)));  \
  }
#define TERNARY(name)                                                                                       \
  FUNCTION half name(half x, half y, half z) { return (half)name((float)x, (float)y, (float)z); }           \
  FOR_VECTORS(TERNARY_VECTOR, name)

UNARY(acos) UNARY(acosh) UNARY(acospi) UNARY(asin) UNARY(asinh) UNARY(asinpi) UNARY(atan) UNARY(atanh) UNARY(atanpi)
UNARY(cbrt) UNARY(ceil) UNARY(cos) UNARY(cosh) UNARY(cospi) UNARY(degrees) UNARY(erf) UNARY(erfc) UNARY(exp)
UNARY(exp10) UNARY(exp2) UNARY(expm1) UNARY(fabs) UNARY(floor) UNARY(lgamma) UNARY(log) UNARY(log10) UNARY(log1p)
UNARY(log2) UNARY(logb) UNARY(radians) UNARY(rint) UNARY(round) UNARY(rsqrt) UNARY(sign) UNARY(sin) UNARY(sinh)
UNARY(sinpi) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(tanpi) UNARY(tgamma) UNARY(trunc)
BINARY(atan2) BINARY(atan2pi) BINARY(copysign) BINARY(fdim) BINARY(fmax) BINARY(fmin) BINARY(fmod) BINARY(hypot)
BINARY(max) BINARY(maxmag) BINARY(min) BINARY(minmag) BINARY(pow) BINARY(powr) BINARY(remainder) BINARY(step)
TERNARY(clamp) TERNARY(mad) TERNARY(mix) TERNARY(smoothstep)

// By way of double: a product of halves is exact there, and no sum of it and a half lies so close to the middle of two
// halves that the first rounding decides the second. By way of float it does.
#define FMA_VECTOR(n, unused)                                                         \
  FUNCTION half##n fma(half##n x, half##n y, half##n z) {                             \
    return TO(half, n, TO(double, n, x) * TO(double, n, y) + TO(double, n, z));       \
  }
FUNCTION half fma(half x, half y, half z) { return (half)((double)x * (double)y + (double)z); }
FOR_VECTORS(FMA_VECTOR, )

#define WITH_SCALARS(n, unused)                                                                      \
  FUNCTION half##n fmax(half##n x, half y) { return fmax(x, (half##n)y); }                           \
  FUNCTION half##n fmin(half##n x, half y) { return fmin(x, (half##n)y); }                           \
  FUNCTION half##n max(half##n x, half y) { return max(x, (half##n)y); }                             \
  FUNCTION half##n min(half##n x, half y) { return min(x, (half##n)y); }                             \
  FUNCTION half##n clamp(half##n x, half y, half z) { return clamp(x, (half##n)y, (half##n)z); }     \
  FUNCTION half##n mix(half##n x, half##n y, half z) { return mix(x, y, (half##n)z); }               \
  FUNCTION half##n step(half x, half##n y) { return step((half##n)x, y); }                           \
  FUNCTION half##n smoothstep(half x, half y, half##n z) { return smoothstep((half##n)x, (half##n)y, z); }
FOR_VECTORS(WITH_SCALARS, )

#define WITH_INTEGERS_VECTOR(n, name) \
  FUNCTION half##n name(half##n x, int##n y) { return TO(half, n, name(TO(float, n, x), y)); }
#define WITH_INTEGERS(name)                                            \
  FUNCTION half name(half x, int y) { return (half)name((float)x, y); } \
  FOR_VECTORS(WITH_INTEGERS_VECTOR, name)
WITH_INTEGERS(ldexp) WITH_INTEGERS(pown) WITH_INTEGERS(rootn)

// Relations: 1 for a true scalar, -1 in vectors.
#define TEST_VECTOR(n, name) \
  FUNCTION short##n name(half##n x) { return TO(short, n, name(TO(float, n, x))); }
#define TEST(name)                                      \
  FUNCTION int name(half x) { return name((float)x); } \
  FOR_VECTORS(TEST_VECTOR, name)
#define COMPARE_VECTOR(n, name) \
  FUNCTION short##n name(half##n x, half##n y) { return TO(short, n, name(TO(float, n, x), TO(float, n, y))); }
#define COMPARE(name)                                                     \
  FUNCTION int name(half x, half y) { return name((float)x, (float)y); } \
  FOR_VECTORS(COMPARE_VECTOR, name)
TEST(isfinite) TEST(isinf) TEST(isnan) TEST(signbit)
FUNCTION int isnormal(half x) { return isfinite(x) && fabs((float)x) >= 0x1p-14f; }
COMPARE(isequal) COMPARE(isnotequal) COMPARE(isgreater) COMPARE(isgreaterequal) COMPARE(isless) COMPARE(islessequal)
COMPARE(islessgreater) COMPARE(isordered) COMPARE(isunordered)

#define SELECT(n, unused)                                                                                          \
  FUNCTION half##n select(half##n x, half##n y, short##n c) {                                                      \
    return as_half##n(select(as_short##n(x), as_short##n(y), c));                                                  \
  }                                                                                                                \
  FUNCTION half##n select(half##n x, half##n y, ushort##n c) {                                                     \
    return as_half##n(select(as_short##n(x), as_short##n(y), c));                                                  \
  }                                                                                                                \
  FUNCTION half##n bitselect(half##n x, half##n y, half##n c) {                                                    \
    return as_half##n(bitselect(as_short##n(x), as_short##n(y), as_short##n(c)));                                  \
  }
SELECT(, ) FOR_VECTORS(SELECT, )

#define GEOMETRY(n)                                                                                    \
  FUNCTION half dot(half##n x, half##n y) { return (half)dot(TO(float, n, x), TO(float, n, y)); }      \
  FUNCTION half length(half##n x) { return (half)length(TO(float, n, x)); }                            \
  FUNCTION half distance(half##n x, half##n y) { return (half)distance(TO(float, n, x), TO(float, n, y)); } \
  FUNCTION half##n normalize(half##n x) { return TO(half, n, normalize(TO(float, n, x))); }
GEOMETRY(2) GEOMETRY(3) GEOMETRY(4)
FUNCTION half dot(half x, half y) { return x * y; }
FUNCTION half3 cross(half3 x, half3 y) { return TO(half, 3, cross(TO(float, 3, x), TO(float, 3, y))); }
FUNCTION half4 cross(half4 x, half4 y) { return TO(half, 4, cross(TO(float, 4, x), TO(float, 4, y))); }

// Conversions. A whole number that a half can hold is exact in float.
#define FROM_HALF_VECTOR(n, type, how) \
  FUNCTION type##n convert_##type##n##how(half##n x) { return convert_##type##n##how(TO(float, n, x)); }
#define FROM_HALF(type, how)                                                          \
  FUNCTION type convert_##type##how(half x) { return convert_##type##how((float)x); } \
  FOR_VECTORS(FROM_HALF_VECTOR, type, how)
#define ROUNDED_TO_HALF(type, how, mode)                                                                            \
  FUNCTION half convert_half##how(type x) {                                                                         \
    ushort bits;                                                                                                    \
    __asm__("cvt." mode ".f16.f32 %0, %1;" : "=h"(bits) : "f"(convert_float##how(x)));                              \
    return as_half(bits);                                                                                           \
  }                                                                                                                 \
  FUNCTION half2 convert_half2##how(type##2 x) { return (half2)(convert_half##how(x.x), convert_half##how(x.y)); }  \
  FUNCTION half3 convert_half3##how(type##3 x) { return (half3)(convert_half2##how(x.xy), convert_half##how(x.z)); } \
  FUNCTION half4 convert_half4##how(type##4 x) { return (half4)(convert_half2##how(x.lo), convert_half2##how(x.hi)); } \
  FUNCTION half8 convert_half8##how(type##8 x) { return (half8)(convert_half4##how(x.lo), convert_half4##how(x.hi)); } \
  FUNCTION half16 convert_half16##how(type##16 x) {                                                                 \
    return (half16)(convert_half8##how(x.lo), convert_half8##how(x.hi));                                            \
  }
#define NEAREST_TO_HALF_VECTOR(n, type, how) \
  FUNCTION half##n convert_half##n##how(type##n x) { return TO(half, n, x); }
#define NEAREST_TO_HALF(type, how)                            \
  FUNCTION half convert_half##how(type x) { return (half)x; } \
  FOR_VECTORS(NEAREST_TO_HALF_VECTOR, type, how)
#define TO_HALF(type)                                                       \
  NEAREST_TO_HALF(type, ) NEAREST_TO_HALF(type, _rte)                       \
  ROUNDED_TO_HALF(type, _rtz, "rz") ROUNDED_TO_HALF(type, _rtp, "rp") ROUNDED_TO_HALF(type, _rtn, "rm")
#define ROUNDINGS(type, how) \
  FROM_HALF(type, how) FROM_HALF(type, how##_rte) FROM_HALF(type, how##_rtz) FROM_HALF(type, how##_rtp) FROM_HALF(type, how##_rtn)
#define INTEGERS(do) do(char) do(uchar) do(short) do(ushort) do(int) do(uint) do(long) do(ulong)
#define WHOLE(type) ROUNDINGS(type, ) ROUNDINGS(type, _sat) TO_HALF(type)
#define REAL(type) ROUNDINGS(type, ) TO_HALF(type)
INTEGERS(WHOLE)
REAL(float)
REAL(double)
NEAREST_TO_HALF(half, )

// vstore_half_*: libclc rounds tiny numbers wrongly.
#define STORES_HALF(type, space, how)                                                                               \
  FUNCTION void vstore_half##how(type x, size_t i, space half* p) { p[i] = convert_half##how(x); }                  \
  STORES_HALVES(2, type, space, how) STORES_HALVES(4, type, space, how) STORES_HALVES(8, type, space, how)          \
  STORES_HALVES(16, type, space, how)                                                                               \
  FUNCTION void vstore_half3##how(type##3 x, size_t i, space half* p) {                                             \
    for (int k = 0; k < 3; ++k) p[3 * i + k] = convert_half##how(x[k]);                                             \
  }                                                                                                                 \
  FUNCTION void vstorea_half3##how(type##3 x, size_t i, space half* p) {                                            \
    for (int k = 0; k < 3; ++k) p[4 * i + k] = convert_half##how(x[k]);                                             \
  }
#define STORES_HALVES(n, type, space, how)                                                                          \
  FUNCTION void vstore_half##n##how(type##n x, size_t i, space half* p) {                                           \
    for (int k = 0; k < n; ++k) p[n * i + k] = convert_half##how(x[k]);                                             \
  }                                                                                                                 \
  FUNCTION void vstorea_half##n##how(type##n x, size_t i, space half* p) {                                          \
    ((space half##n*)p)[i] = convert_half##n##how(x);                                                               \
  }
#define STORES_ROUNDED(type, space) \
  STORES_HALF(type, space, _rtz) STORES_HALF(type, space, _rtp) STORES_HALF(type, space, _rtn)
STORES_ROUNDED(float, global) STORES_ROUNDED(float, local) STORES_ROUNDED(float, )
STORES_ROUNDED(double, global) STORES_ROUNDED(double, local) STORES_ROUNDED(double, )

// Vectors of halves in memory; libclc has those of global and local memory.
#define LOADS_HALF(n, space)                                                                       \
  FUNCTION half##n vload##n(size_t i, const space half* p) {                                       \
    half##n x;                                                                                     \
    for (int k = 0; k < n; ++k) x[k] = p[n * i + k];                                               \
    return x;                                                                                      \
  }
#define VECTORS_OF_HALF(n, unused)                                                                 \
  LOADS_HALF(n, ) LOADS_HALF(n, constant)                                                          \
  FUNCTION void vstore##n(half##n x, size_t i, half* p) {                                          \
    for (int k = 0; k < n; ++k) p[n * i + k] = x[k];                                               \
  }
FOR_VECTORS(VECTORS_OF_HALF, )
