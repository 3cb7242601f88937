// Mixed products: A and B are bytes, integers (s8, u8) or floating point (OCP's e4m3, e5m2); C has a type of its own.
// Integers are summed in 32 bits, which wrap around, the others in float. KERNELS.md, "Mixed products".
//
// "OCP 8-bit Floating Point Specification (OFP8)", 1.0: sign, exponent, fraction; e4m3 has no infinity and one NaN, the
// bits 7f; e5m2 is the upper byte of an IEEE half.

#if MIXED

// A type's name in PTX.
#define PTX_NAME(type) CONCAT(PTX_NAME_, type)
#define PTX_NAME_7 "s8"
#define PTX_NAME_8 "u8"
#define PTX_NAME_10 "e4m3"
#define PTX_NAME_11 "e5m2"

// ---- Bytes as numbers ----

// A width of 1 is empty here, as in OpenCL's names.
#if SUMS_INTEGERS
#define FROM_BYTES(width, bytes, type)                                               \
  ((type) == S8 ? CONCAT(convert_int, width)(CONCAT(as_char, width)(bytes)) /* s8 */ \
                : CONCAT(convert_int, width)(bytes))
#else
#define FROM_BYTES(width, bytes, type) CONCAT(from_bytes, width)(bytes, type)
#endif

// from_bytes: the numbers of these bits. Fractions below the least normal number have no leading 1.
// to_bytes: rounded to nearest even; what is too large, or infinite, becomes the largest number; a NaN stays one.
#define DEFINE_BYTES(width, floats, uints, uchars)                                                                \
  static inline floats CONCAT(from_bytes, width)(const uchars bytes, const int type) {                            \
    const uints bits = CONCAT(convert_uint, width)(bytes);                                                        \
    const uints size = bits & 0x7f;                                                                               \
    const int is_e4m3 = type == E4M3;                                                                             \
    const uints normal = (size << (is_e4m3 ? 20 : 21)) + ((is_e4m3 ? 120u : 112u) << 23);                         \
    const floats tiny = CONCAT(convert_float, width)(size) * (is_e4m3 ? 0x1p-9f : 0x1p-16f);                      \
    floats x = size < (uints)(is_e4m3 ? 8u : 4u) ? tiny : CONCAT(as_float, width)(normal);                        \
    const uints special = (uints)(0x7f800000u) | (is_e4m3 ? (uints)(1u << 22) : (size & 3) << 21);                \
    x = size >= (uints)(is_e4m3 ? 0x7fu : 0x7cu) ? CONCAT(as_float, width)(special) : x;                          \
    return CONCAT(as_float, width)(CONCAT(as_uint, width)(x) | (bits & 0x80) << 24);                              \
  }                                                                                                               \
  static inline uchars CONCAT(to_bytes, width)(const floats x, const int type) {                                  \
    const int is_e4m3 = type == E4M3;                                                                             \
    const uints bits = CONCAT(as_uint, width)(x);                                                                 \
    const uints whole = bits & 0x7fffffffu;                                                                       \
    const floats size = fmin(CONCAT(as_float, width)(whole), is_e4m3 ? 448.0f : 57344.0f);                        \
    const uints tiny = CONCAT(CONCAT(convert_uint, width), _rte)(size * (is_e4m3 ? 512.0f : 65536.0f));           \
    const uints wide = CONCAT(as_uint, width)(size);                                                              \
    const int cut = is_e4m3 ? 20 : 21;                                                                            \
    const uints normal = ((wide + ((1u << (cut - 1)) - 1) + (wide >> cut & 1)) >> cut) - (is_e4m3 ? 960u : 448u); \
    uints code = size < (floats)(is_e4m3 ? 0x1p-6f : 0x1p-14f) ? tiny : normal;                                   \
    code = whole > (uints)(0x7f800000u) ? (uints)(0x7fu) : code;                                                  \
    return CONCAT(convert_uchar, width)(code | bits >> 24 & 0x80);                                                \
  }
#if !SUMS_INTEGERS
DEFINE_BYTES(, float, uint, uchar)
#if VECTOR_WIDTH > 1
DEFINE_BYTES(VECTOR_WIDTH, CONCAT(float, VECTOR_WIDTH), CONCAT(uint, VECTOR_WIDTH), CONCAT(uchar, VECTOR_WIDTH))
#endif
#ifdef LOAD_WIDTH
#if LOAD_WIDTH > 1 && LOAD_WIDTH != VECTOR_WIDTH
DEFINE_BYTES(LOAD_WIDTH, CONCAT(float, LOAD_WIDTH), CONCAT(uint, LOAD_WIDTH), CONCAT(uchar, LOAD_WIDTH))
#endif
#endif
#endif

#define LOAD_OPERAND(pointer, type) FROM_BYTES(, *(pointer), type)
#if VECTOR_WIDTH == 1
#define VLOAD_B(pointer) LOAD_B(pointer)
#else
#define VLOAD_B(pointer) FROM_BYTES(VECTOR_WIDTH, CONCAT(vload, VECTOR_WIDTH)(0, pointer), B_TYPE)
#endif

// ---- C of 8 bits ----

#if PRECISION == 8
#if C_TYPE == S8 || C_TYPE == U8
#define LOAD(pointer) convert_float(*(pointer))
#define VLOAD(pointer) CONCAT(convert_float, VECTOR_SUFFIX)(VLOAD_REAL(pointer))
#if C_TYPE == S8
#define TO_BYTES(width, x) CONCAT(CONCAT(convert_char, width), _sat_rte)(x)
#else
#define TO_BYTES(width, x) CONCAT(CONCAT(convert_uchar, width), _sat_rte)(x)
#endif
#else
#define LOAD(pointer) from_bytes(*(pointer), C_TYPE)
#define VLOAD(pointer) CONCAT(from_bytes, VECTOR_SUFFIX)(VLOAD_REAL(pointer), C_TYPE)
#define TO_BYTES(width, x) CONCAT(to_bytes, width)(x, C_TYPE)
#endif
#define STORE(value, pointer) (*(pointer) = TO_BYTES(, value))
#define VSTORE(vector, pointer) VSTORE_REAL(TO_BYTES(VECTOR_SUFFIX, vector), pointer)
#endif

// ---- Scales and zero points ----

// Steps of the epilogue before all others, on a sum of whole products or, as floating point, on what it became:
#define ROW_TERMS 64       // sum += row_terms[row]: what the zero point of B changes
#define COLUMN_TERMS 128   // sum += column_terms[column]: what that of A changes
#define ROW_SCALES 256     // x *= row_scales[row]
#define COLUMN_SCALES 512  // x *= column_scales[column]
// Behind all others:
#define ZERO_OF_C 1024  // x = rint(x) + zero_c
// A product that is added up in C block by block has steps of each block, and of the first alone.
#define STEPS_OF_EACH_BLOCK (ROW_SCALES | COLUMN_SCALES)
#define STEPS_OF_FIRST_BLOCK (OTHER_D | ROW_TERMS | COLUMN_TERMS)

// A kernel's last argument.
typedef struct {
  ulong row_scale_offset, column_scale_offset;  // floats before those of the first product
  ulong row_scale_stride, column_scale_stride;
  int zero_a, zero_b, zero_c;
  int unused;
} Quantization;

#define MIXED_CALL_PARAMETERS                                                                             \
  , __global const float *row_scales, __global const float *column_scales, __global const int *row_terms, \
      __global const int *column_terms, const Quantization quantization
#define MIXED_PARAMETERS                                                                                    \
  const int first_product, const int m, const int n, __global const float *row_scales,                      \
      __global const float *column_scales, __global const int *row_terms, __global const int *column_terms, \
      const Quantization quantization,
#define MIXED_ARGUMENTS \
  numbers.first_product, numbers.m, numbers.n, row_scales, column_scales, row_terms, column_terms, quantization,

// The same as members of a struct, the values for it, and MIXED_ARGUMENTS of `call`, a pointer to one.
#define MIXED_CALL_MEMBERS                          \
  __global const float *row_scales, *column_scales; \
  __global const int *row_terms, *column_terms;     \
  const Quantization* quantization;
#define MIXED_CALL_VALUES , row_scales, column_scales, row_terms, column_terms, &quantization
#define MIXED_ARGUMENTS_OF_CALL                                                                           \
  call->numbers->first_product, call->m, call->n, call->row_scales, call->column_scales, call->row_terms, \
      call->column_terms, *call->quantization,

typedef struct {  // of the first row or column of the part; those that the steps do not name are unset
  __global const float *row_scales, *column_scales;
  __global const int *row_terms, *column_terms;
  int zero_c;
} MixedEpilogue;
#define MIXED_EPILOGUE MixedEpilogue mixed;
#define MIXED_ZERO \
  , { 0, 0, 0, 0, 0 }
// The terms are those of this launch's products, m and n for each.
#define FIND_MIXED_EPILOGUE                                                                                         \
  e.mixed.row_scales = row_scales + (quantization.row_scale_offset + number * quantization.row_scale_stride + row); \
  e.mixed.column_scales =                                                                                           \
      column_scales + (quantization.column_scale_offset + number * quantization.column_scale_stride + column);      \
  e.mixed.row_terms = row_terms + ((number - first_product) * m + row);                                             \
  e.mixed.column_terms = column_terms + ((number - first_product) * n + column);                                    \
  e.mixed.zero_c = quantization.zero_c;

// The first `count` of VECTOR_WIDTH neighbours.
#define DEFINE_LOAD_SOME(name, type, types)                              \
  static inline types name(__global const type* from, const int count) { \
    if (count >= VECTOR_WIDTH) return VLOAD_REAL(from);                  \
    types some = (types)(0);                                             \
    for (int q = 0; q < count; ++q) ((type*)&some)[q] = from[q];         \
    return some;                                                         \
  }
DEFINE_LOAD_SOME(load_some_scaled, scaled, scaledv)
#if SUMS_INTEGERS && C_TYPE != S32
DEFINE_LOAD_SOME(load_some_real, real, realv)
#else
#define load_some_real load_some_scaled
#endif
typedef scaled bias_element;
#define LOAD_BIAS(pointer) (*(pointer))
#define LOAD_BIASES(pointer, count) load_some_scaled(pointer, count)

static inline scaledv mixed_sum(const MixedEpilogue* e, const int steps, realv sum, const int row, const int column,
                                const int count) {
#if SUMS_INTEGERS
  if (steps & ROW_TERMS) sum += e->row_terms[row];
  if (steps & COLUMN_TERMS) sum += load_some_real(e->column_terms + column, count);
#endif
  scaledv x = TO_SCALEDV(sum);
#if C_TYPE != S32
  if (steps & ROW_SCALES) x *= e->row_scales[row];
  if (steps & COLUMN_SCALES) x *= load_some_scaled(e->column_scales + column, count);
#endif
  return x;
}
#define MIXED_SUM(sum) mixed_sum(&e->mixed, e->steps, sum, row, column, count)
// The same for one element, at the epilogue's own place.
static inline scaled mixed_element(const MixedEpilogue* e, const int steps, real sum) {
#if SUMS_INTEGERS
  if (steps & ROW_TERMS) sum += *e->row_terms;
  if (steps & COLUMN_TERMS) sum += *e->column_terms;
#endif
  scaled x = TO_SCALED(sum);
#if C_TYPE != S32
  if (steps & ROW_SCALES) x *= *e->row_scales;
  if (steps & COLUMN_SCALES) x *= *e->column_scales;
#endif
  return x;
}
#define MIXED_ELEMENT(sum) mixed_element(&e.mixed, e.steps, sum)
#if C_TYPE == S8 || C_TYPE == U8
#define SHIFT_C(x, e) \
  if ((e)->steps & ZERO_OF_C) x = rint(x) + (e)->mixed.zero_c
static inline float shifted_c(const MixedEpilogue* e, const int steps, const float x) {
  return steps & ZERO_OF_C ? rint(x) + e->zero_c : x;
}
#define SHIFTED_C(x) shifted_c(&e.mixed, e.steps, x)
#else
#define SHIFT_C(x, e)
#define SHIFTED_C(x) x
#endif

#endif
