// native_*: the instructions that NVIDIA's driver takes for them. With -cl-fast-relaxed-math it takes them for the
// functions without "native_", too. CLBAKE_FLUSH: denormal numbers are zero, which the driver heeds in some only;
// CLBAKE_EXACT: square roots are rounded correctly.
#ifdef CLBAKE_FLUSH
#define APPROXIMATE(instruction) __nvvm_##instruction##_approx_ftz_f
#define DIVIDE __nvvm_div_approx_ftz_f
#else
#define APPROXIMATE(instruction) __nvvm_##instruction##_approx_f
#define DIVIDE __nvvm_div_approx_f
#endif

#define VECTORS_1(name)                                                                                     \
  FUNCTION float2 name(float2 x) { return (float2)(name(x.s0), name(x.s1)); }                               \
  FUNCTION float3 name(float3 x) { return (float3)(name(x.s0), name(x.s1), name(x.s2)); }                   \
  FUNCTION float4 name(float4 x) { return (float4)(name(x.lo), name(x.hi)); }                               \
  FUNCTION float8 name(float8 x) { return (float8)(name(x.lo), name(x.hi)); }                               \
  FUNCTION float16 name(float16 x) { return (float16)(name(x.lo), name(x.hi)); }
#define VECTORS_2(name)                                                                                     \
  FUNCTION float2 name(float2 x, float2 y) { return (float2)(name(x.s0, y.s0), name(x.s1, y.s1)); }         \
  FUNCTION float3 name(float3 x, float3 y) { return (float3)(name(x.lo, y.lo), name(x.s2, y.s2)); }         \
  FUNCTION float4 name(float4 x, float4 y) { return (float4)(name(x.lo, y.lo), name(x.hi, y.hi)); }         \
  FUNCTION float8 name(float8 x, float8 y) { return (float8)(name(x.lo, y.lo), name(x.hi, y.hi)); }         \
  FUNCTION float16 name(float16 x, float16 y) { return (float16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define FAST_1(name, value)                      \
  FUNCTION float name(float x) { return value; } \
  VECTORS_1(name)
#define FAST_2(name, value)                               \
  FUNCTION float name(float x, float y) { return value; } \
  VECTORS_2(name)

FAST_1(native_sin, APPROXIMATE(sin)(x))
FAST_1(native_cos, APPROXIMATE(cos)(x))
FAST_1(native_tan, DIVIDE(native_sin(x), native_cos(x)))
FAST_1(native_exp, APPROXIMATE(ex2)(x * 0x1.715476p+0f))           // log2(e)
FAST_1(native_exp2, __nvvm_ex2_approx_f(x))
FAST_1(native_exp10, APPROXIMATE(ex2)(x * 0x1.a934fp+1f))          // log2(10)
FAST_1(native_log, APPROXIMATE(lg2)(x) * 0x1.62e43p-1f)            // log(2)
FAST_1(native_log2, __nvvm_lg2_approx_f(x))
FAST_1(native_log10, APPROXIMATE(lg2)(x) * 0x1.344136p-2f)         // log10(2)
FAST_1(native_sqrt, __nvvm_sqrt_approx_f(x))
FAST_1(native_rsqrt, __nvvm_rsqrt_approx_f(x))
FAST_1(native_recip, DIVIDE(1.0f, x))
FAST_2(native_divide, __nvvm_div_approx_f(x, y))
FAST_2(native_powr, native_exp2(native_log2(x) * y))

#ifdef CLBAKE_EXACT
FAST_1(sqrt, __nvvm_sqrt_rn_f(x))
#else
FAST_1(sqrt, native_sqrt(x))
#endif
FAST_1(rsqrt, APPROXIMATE(rsqrt)(x))
FAST_1(exp2, APPROXIMATE(ex2)(x))
FAST_1(half_rsqrt, rsqrt(x))
FAST_1(half_sqrt, sqrt(x))
FAST_1(half_recip, native_recip(x))
FAST_1(half_exp2, exp2(x))
#ifdef __FAST_RELAXED_MATH__
FAST_1(sin, native_sin(x))
FAST_1(cos, native_cos(x))
FAST_1(tan, native_tan(x))
FAST_1(exp, native_exp(x))
FAST_1(exp10, native_exp10(x))
FAST_1(log, native_log(x))
FAST_1(log2, APPROXIMATE(lg2)(x))
FAST_1(log10, native_log10(x))
FAST_2(powr, native_powr(x, y))
#endif
