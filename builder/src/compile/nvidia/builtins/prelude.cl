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
#undef CLBAKE_FUNCTION

// Defined nowhere: ptx_launches.cpp says why.
int clbake_printf(void);
#define printf(...) clbake_printf()
