// Included before an application's source when clang compiles it for NVIDIA: the macros that NVIDIA's driver defines,
// without those that clang adds, and what the driver has and clang lacks.
#define __OPENCL_VERSION__ __OPENCL_C_VERSION__
#define __NV_CL_C_VERSION __OPENCL_C_VERSION__
#ifndef __IMAGE_SUPPORT__
#define __IMAGE_SUPPORT__ 1
#endif
#define asm __asm__
#define cl_khr_icd 1
#define cl_nv_pragma_unroll 1
#if __OPENCL_C_VERSION__ >= 200
#define cl_khr_mipmap_image 1
#endif
#ifndef CLK_IMAGE_MEM_FENCE
#define CLK_IMAGE_MEM_FENCE 4
#endif
#ifndef CL_VERSION_2_0
#define CL_VERSION_2_0 200
#endif
#ifndef CL_VERSION_3_0
#define CL_VERSION_3_0 300
#endif

// The driver has arithmetic of halves, generic pointers and C11's atomics without a macro that says so.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_clang_storage_class_specifiers : enable
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#undef cl_khr_depth_images
#undef cl_khr_fp16
#undef cl_khr_subgroups
#undef __opencl_c_atomic_order_acq_rel
#undef __opencl_c_atomic_order_seq_cst
#undef __opencl_c_atomic_scope_all_devices
#undef __opencl_c_atomic_scope_device
#undef __opencl_c_generic_address_space
#undef __opencl_c_program_scope_global_variables
#undef __opencl_c_read_write_images
#undef __opencl_c_subgroups
#undef __opencl_c_work_group_collective_functions
#if __OPENCL_C_VERSION__ < 300
#undef __opencl_c_images
#undef __opencl_c_int64
#endif

// atomic_add and its like of 64 bits, beside OpenCL's atom_add.
#define CLBAKE_FUNCTION __attribute__((overloadable))
#define CLBAKE_ATOMICS(space, type)                                       \
  type CLBAKE_FUNCTION atomic_add(volatile space type*, type);            \
  type CLBAKE_FUNCTION atomic_sub(volatile space type*, type);            \
  type CLBAKE_FUNCTION atomic_xchg(volatile space type*, type);           \
  type CLBAKE_FUNCTION atomic_inc(volatile space type*);                  \
  type CLBAKE_FUNCTION atomic_dec(volatile space type*);                  \
  type CLBAKE_FUNCTION atomic_cmpxchg(volatile space type*, type, type);  \
  type CLBAKE_FUNCTION atomic_min(volatile space type*, type);            \
  type CLBAKE_FUNCTION atomic_max(volatile space type*, type);            \
  type CLBAKE_FUNCTION atomic_and(volatile space type*, type);            \
  type CLBAKE_FUNCTION atomic_or(volatile space type*, type);             \
  type CLBAKE_FUNCTION atomic_xor(volatile space type*, type);
CLBAKE_ATOMICS(global, long)
CLBAKE_ATOMICS(local, long)
CLBAKE_ATOMICS(global, ulong)
CLBAKE_ATOMICS(local, ulong)
#undef CLBAKE_ATOMICS

// printf: NVIDIA's takes the format and the address of the arguments, each with the alignment of its type, small
// integers as int and floats as double.
int vprintf(ulong format, const void* arguments);
ulong CLBAKE_FUNCTION clbake_printed(constant const char*);  // the generic address of a string
#define CLBAKE_PRINTED(given, passed) \
  static inline passed CLBAKE_FUNCTION clbake_printed(given value) { return (passed)value; }
#define CLBAKE_PRINTED_ALL(type, passed)                                                              \
  CLBAKE_PRINTED(type, passed)                                                                        \
  CLBAKE_PRINTED(type##2, type##2) CLBAKE_PRINTED(type##3, type##3) CLBAKE_PRINTED(type##4, type##4)  \
  CLBAKE_PRINTED(type##8, type##8) CLBAKE_PRINTED(type##16, type##16)
CLBAKE_PRINTED_ALL(char, int)
CLBAKE_PRINTED_ALL(uchar, int)
CLBAKE_PRINTED_ALL(short, int)
CLBAKE_PRINTED_ALL(ushort, int)
CLBAKE_PRINTED_ALL(int, int)
CLBAKE_PRINTED_ALL(uint, uint)
CLBAKE_PRINTED_ALL(long, long)
CLBAKE_PRINTED_ALL(ulong, ulong)
CLBAKE_PRINTED_ALL(float, double)
#ifdef cl_khr_fp64
CLBAKE_PRINTED_ALL(double, double)
#endif
CLBAKE_PRINTED(constant const void*, ulong)
CLBAKE_PRINTED(const volatile void*, ulong)
#if __OPENCL_C_VERSION__ < 200
CLBAKE_PRINTED(global const volatile void*, ulong)
CLBAKE_PRINTED(local const volatile void*, ulong)
#endif
#undef CLBAKE_PRINTED_ALL
#undef CLBAKE_PRINTED
#undef CLBAKE_FUNCTION

#define CLBAKE_MEMBER(n, value) __typeof__(clbake_printed(value)) m##n;
#define CLBAKE_VALUE(n, value) clbake_printed(value),
#define CLBAKE_EACH_0(do, ...)
#define CLBAKE_EACH_1(do, a) do(1, a)
#define CLBAKE_EACH_2(do, a, ...) do(2, a) CLBAKE_EACH_1(do, __VA_ARGS__)
#define CLBAKE_EACH_3(do, a, ...) do(3, a) CLBAKE_EACH_2(do, __VA_ARGS__)
#define CLBAKE_EACH_4(do, a, ...) do(4, a) CLBAKE_EACH_3(do, __VA_ARGS__)
#define CLBAKE_EACH_5(do, a, ...) do(5, a) CLBAKE_EACH_4(do, __VA_ARGS__)
#define CLBAKE_EACH_6(do, a, ...) do(6, a) CLBAKE_EACH_5(do, __VA_ARGS__)
#define CLBAKE_EACH_7(do, a, ...) do(7, a) CLBAKE_EACH_6(do, __VA_ARGS__)
#define CLBAKE_EACH_8(do, a, ...) do(8, a) CLBAKE_EACH_7(do, __VA_ARGS__)
#define CLBAKE_EACH_9(do, a, ...) do(9, a) CLBAKE_EACH_8(do, __VA_ARGS__)
#define CLBAKE_EACH_10(do, a, ...) do(10, a) CLBAKE_EACH_9(do, __VA_ARGS__)
#define CLBAKE_EACH_11(do, a, ...) do(11, a) CLBAKE_EACH_10(do, __VA_ARGS__)
#define CLBAKE_EACH_12(do, a, ...) do(12, a) CLBAKE_EACH_11(do, __VA_ARGS__)
#define CLBAKE_EACH_13(do, a, ...) do(13, a) CLBAKE_EACH_12(do, __VA_ARGS__)
#define CLBAKE_EACH_14(do, a, ...) do(14, a) CLBAKE_EACH_13(do, __VA_ARGS__)
#define CLBAKE_EACH_15(do, a, ...) do(15, a) CLBAKE_EACH_14(do, __VA_ARGS__)
#define CLBAKE_EACH_16(do, a, ...) do(16, a) CLBAKE_EACH_15(do, __VA_ARGS__)
#define CLBAKE_EACH_17(do, a, ...) do(17, a) CLBAKE_EACH_16(do, __VA_ARGS__)
#define CLBAKE_EACH_18(do, a, ...) do(18, a) CLBAKE_EACH_17(do, __VA_ARGS__)
#define CLBAKE_EACH_19(do, a, ...) do(19, a) CLBAKE_EACH_18(do, __VA_ARGS__)
#define CLBAKE_EACH_20(do, a, ...) do(20, a) CLBAKE_EACH_19(do, __VA_ARGS__)
#define CLBAKE_EACH_21(do, a, ...) do(21, a) CLBAKE_EACH_20(do, __VA_ARGS__)
#define CLBAKE_EACH_22(do, a, ...) do(22, a) CLBAKE_EACH_21(do, __VA_ARGS__)
#define CLBAKE_EACH_23(do, a, ...) do(23, a) CLBAKE_EACH_22(do, __VA_ARGS__)
#define CLBAKE_EACH_24(do, a, ...) do(24, a) CLBAKE_EACH_23(do, __VA_ARGS__)
#define CLBAKE_EACH_25(do, a, ...) do(25, a) CLBAKE_EACH_24(do, __VA_ARGS__)
#define CLBAKE_EACH_26(do, a, ...) do(26, a) CLBAKE_EACH_25(do, __VA_ARGS__)
#define CLBAKE_EACH_27(do, a, ...) do(27, a) CLBAKE_EACH_26(do, __VA_ARGS__)
#define CLBAKE_EACH_28(do, a, ...) do(28, a) CLBAKE_EACH_27(do, __VA_ARGS__)
#define CLBAKE_EACH_29(do, a, ...) do(29, a) CLBAKE_EACH_28(do, __VA_ARGS__)
#define CLBAKE_EACH_30(do, a, ...) do(30, a) CLBAKE_EACH_29(do, __VA_ARGS__)
#define CLBAKE_EACH_31(do, a, ...) do(31, a) CLBAKE_EACH_30(do, __VA_ARGS__)
#define CLBAKE_EACH_32(do, a, ...) do(32, a) CLBAKE_EACH_31(do, __VA_ARGS__)
#define CLBAKE_COUNT_(format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,    \
  a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, n, ...) n
#define CLBAKE_COUNT(...) CLBAKE_COUNT_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19,      \
  18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CLBAKE_PRINTF(n, format, ...)                                   \
  ({                                                                    \
    const struct {                                                      \
      CLBAKE_EACH_##n(CLBAKE_MEMBER, __VA_ARGS__)                       \
    } clbake_arguments = {CLBAKE_EACH_##n(CLBAKE_VALUE, __VA_ARGS__)};  \
    vprintf(clbake_printed(format), &clbake_arguments);                 \
  })
#define CLBAKE_PRINTF_N(n, ...) CLBAKE_PRINTF(n, __VA_ARGS__)
#define printf(...) CLBAKE_PRINTF_N(CLBAKE_COUNT(__VA_ARGS__), __VA_ARGS__)
