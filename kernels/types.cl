// Shared by all families, first: macros, and the types of elements. mixed.cl loads and stores those of 8 bits.

// For functions that are called with constants, or with arrays that must stay in registers.
#if defined(__clang__) || defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

// For a long body of a kernel on CPUs: PoCL compiles a kernel three times, a function once; Intel's compiler keeps no
// sums in registers if a function is long.
#if defined(POCL_DEVICE_ADDRESS_BITS) || defined(__INTEL_LLVM_COMPILER)
#define SEPARATE __attribute__((noinline))
#else
#define SEPARATE ALWAYS_INLINE
#endif

// A loop that could not be unrolled is as right, and a warning would reach the application's stderr.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

// A loop over 0 to count - 1 that is unrolled: indices become constants, without which a GPU keeps no array in
// registers.
#define UNROLLED(i, count) _Pragma("unroll") for (int i = 0; i < (count); ++i)

// Hides a value from the compiler, which else computes every address of a tile in advance, for all blocks of k, and
// keeps them in registers that the sums need. type: "r", 32 bits, or "l", 64. NVIDIA's devices.
#define HIDE(type, value) __asm__ volatile("" : "+" type(value))

// OpenCL's prefetch() does nothing in PoCL, and with Intel's CPU driver it is a call, around which all registers are
// saved.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__INTEL_LLVM_COMPILER))
#define PREFETCH_LINE(pointer) __builtin_prefetch(pointer, 0, 2)
#else
#define PREFETCH_LINE(pointer) prefetch((__global const uchar*)(pointer), 1)  // not every driver has it for half
#endif

// 1: a work-group outside of C returns before the kernel's barriers. 0: it goes on, with no steps of k and nothing to
// write. That is for PoCL, as version 7.1 compiles the return wrong: such work-groups write outside of C.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define RETURNS_BEFORE_BARRIERS 0
#else
#define RETURNS_BEFORE_BARRIERS 1
#endif

// ---- Types ----

#ifndef BFLOAT16
#define BFLOAT16 0
#endif

// A_TYPE, B_TYPE, C_TYPE: element types of a mixed product, by the numbers of Element in gemm_kind.hpp.
#define S8 7
#define U8 8
#define S32 9
#define E4M3 10
#define E5M2 11
#ifdef A_TYPE
#define MIXED 1
#define SUMS_INTEGERS (A_TYPE == S8 || A_TYPE == U8)
#else
#define MIXED 0
#define SUMS_INTEGERS 0
#define A_TYPE 0
#define B_TYPE 0
#define C_TYPE 0
#endif

// Bits of a weight if B is packed weights (WEIGHTS.md), 4 or 8. weight_tile reads them; in other families they are
// unpacked to A's type before (pack.cl), and nothing else differs from a plain product.
#ifndef WEIGHT_BITS
#define WEIGHT_BITS 0
#endif
// The kernel reads packed weights where they are.
#define READS_WEIGHTS (WEIGHT_BITS > 0 && LAYOUT_B == ROW_MAJOR)

// REAL: what is multiplied and summed. SCALED: what sums become on their way to C, and the type of alpha and beta.
#if PRECISION == 64
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define SCALED double
typedef double element;  // of C in global memory; of A and B, too, unless the product is mixed
#elif C_TYPE == S32
#define SCALED int
typedef int element;
#elif PRECISION == 32
#define SCALED float
typedef float element;
#elif PRECISION == 8
#define SCALED float
#if C_TYPE == S8
typedef char element;
#else
typedef uchar element;
#endif
#elif BFLOAT16
#define SCALED float
typedef ushort element;  // the bits
#define PTX_TYPE "bf16"
#else
#define SCALED float
typedef half element;  // used through pointers only, which needs no cl_khr_fp16
#define PTX_TYPE "f16"
#endif
#if SUMS_INTEGERS
#define REAL int
#else
#define REAL SCALED
#endif
#if MIXED
typedef uchar operand;  // an element of A and B in global memory: the bits
#define OPERAND_BYTES 1
#else
#define OPERAND_BYTES (PRECISION / 8)
#if !defined(A_BITS)
typedef element operand;
#elif A_BITS == 32  // of A in weight_tile, whose C may have another type
typedef float operand;
#elif A_BFLOAT16
typedef ushort operand;
#else
typedef half operand;
#endif
#endif

// Allows fused multiply-add: faster, and rounded once instead of twice.
#pragma OPENCL FP_CONTRACT ON

#define CONCAT_EXPANDED(x, y) x##y
#define CONCAT(x, y) CONCAT_EXPANDED(x, y)

typedef REAL real;  // in registers and local memory
typedef SCALED scaled;
#if VECTOR_WIDTH == 1
typedef real realv;
typedef scaled scaledv;
#define VLOAD_REAL(pointer) (*(pointer))
#define VSTORE_REAL(vector, pointer) (*(pointer) = (vector))
#else
typedef CONCAT(REAL, VECTOR_WIDTH) realv;
typedef CONCAT(SCALED, VECTOR_WIDTH) scaledv;
// These need no more alignment than an element has.
#define VLOAD_REAL(pointer) CONCAT(vload, VECTOR_WIDTH)(0, pointer)
#define VSTORE_REAL(vector, pointer) CONCAT(vstore, VECTOR_WIDTH)(vector, 0, pointer)
#endif

#if VECTOR_WIDTH == 1
#define VECTOR_SUFFIX  // as in OpenCL's names
#else
#define VECTOR_SUFFIX VECTOR_WIDTH
#endif

// A sum as scaled.
#if SUMS_INTEGERS && C_TYPE != S32
#define TO_SCALED(sum) convert_float(sum)
#define TO_SCALEDV(sum) CONCAT(convert_float, VECTOR_SUFFIX)(sum)
#else
#define TO_SCALED(sum) (sum)
#define TO_SCALEDV(sum) (sum)
#endif

// Loads and stores of one element of C, or of VECTOR_WIDTH neighbours, in global memory, as scaled or scaledv.
#if PRECISION == 8
// mixed.cl
#elif BFLOAT16
// A bfloat16's bits as a float, and a float's as a bfloat16 in their upper half, rounded to nearest even. Width: 1 is
// empty, as in OpenCL's names.
#define WIDENED(width, bits) CONCAT(as_float, width)(CONCAT(convert_uint, width)(bits) << 16)
#define ROUNDED(bits) (bits) + 0x7fff + ((bits) >> 16 & 1)
#define NARROWED(width, bits) /* a NaN stays one */ \
  CONCAT(convert_ushort, width)                     \
  (select(ROUNDED(bits), (bits) | 0x400000, ((bits)&0x7fffffff) > 0x7f800000) >> 16)
static inline void store_bfloat16(const float value, __global ushort* pointer) {
  const uint bits = as_uint(value);
  *pointer = NARROWED(, bits);
}
#define LOAD(pointer) WIDENED(, *(pointer))
#define STORE(value, pointer) store_bfloat16(value, pointer)
#if VECTOR_WIDTH == 1
#define VLOAD(pointer) LOAD(pointer)
#define VSTORE(vector, pointer) STORE(vector, pointer)
#else
static inline void store_bfloat16s(const scaledv vector, __global ushort* pointer) {
  const CONCAT(uint, VECTOR_WIDTH) bits = CONCAT(as_uint, VECTOR_WIDTH)(vector);
  CONCAT(vstore, VECTOR_WIDTH)(NARROWED(VECTOR_WIDTH, bits), 0, pointer);
}
#define VLOAD(pointer) WIDENED(VECTOR_WIDTH, CONCAT(vload, VECTOR_WIDTH)(0, pointer))
#define VSTORE(vector, pointer) store_bfloat16s(vector, pointer)
#endif
#elif PRECISION != 16
#define LOAD(pointer) (*(pointer))
#define STORE(value, pointer) (*(pointer) = (value))
#define VLOAD(pointer) VLOAD_REAL(pointer)
#define VSTORE(vector, pointer) VSTORE_REAL(vector, pointer)
#else
#define LOAD(pointer) vload_half(0, pointer)
#define STORE(value, pointer) vstore_half_rte(value, 0, pointer)
#if VECTOR_WIDTH == 1
#define VLOAD(pointer) LOAD(pointer)
#define VSTORE(vector, pointer) STORE(vector, pointer)
#else
#define VLOAD(pointer) CONCAT(vload_half, VECTOR_WIDTH)(0, pointer)
#define VSTORE(vector, pointer) CONCAT(CONCAT(vstore_half, VECTOR_WIDTH), _rte)(vector, 0, pointer)
#endif
#endif

// For products that are not mixed.
#if !MIXED
typedef element bias_element;
#define LOAD_BIAS(pointer) LOAD(pointer)
#define LOAD_BIASES(pointer, count) load_some(pointer, count)
#define LOAD_OPERAND(pointer, type) LOAD(pointer)
#define VLOAD_B(pointer) VLOAD(pointer)
#define STEPS_OF_EACH_BLOCK 0
#define STEPS_OF_FIRST_BLOCK OTHER_D
#define MIXED_CALL_PARAMETERS
#define MIXED_CALL_MEMBERS
#define MIXED_CALL_VALUES
#define MIXED_PARAMETERS
#define MIXED_ARGUMENTS
#define MIXED_EPILOGUE
#define MIXED_ZERO
#define FIND_MIXED_EPILOGUE
#define MIXED_SUM(sum) sum
#define MIXED_ELEMENT(sum) (sum)
#define SHIFT_C(x, e)
#define SHIFTED_C(x) x
#endif
#define LOAD_A(pointer) LOAD_OPERAND(pointer, A_TYPE)
#define LOAD_B(pointer) LOAD_OPERAND(pointer, B_TYPE)
