#ifdef __OPENCL_VERSION__
VAL "__OPENCL_VERSION__" =__OPENCL_VERSION__
#endif
#ifdef __OPENCL_C_VERSION__
VAL "__OPENCL_C_VERSION__" =__OPENCL_C_VERSION__
#endif
#ifdef CL_VERSION_1_0
VAL "CL_VERSION_1_0" =CL_VERSION_1_0
#endif
#ifdef CL_VERSION_1_1
VAL "CL_VERSION_1_1" =CL_VERSION_1_1
#endif
#ifdef CL_VERSION_1_2
VAL "CL_VERSION_1_2" =CL_VERSION_1_2
#endif
#ifdef CL_VERSION_2_0
VAL "CL_VERSION_2_0" =CL_VERSION_2_0
#endif
#ifdef CL_VERSION_2_1
VAL "CL_VERSION_2_1" =CL_VERSION_2_1
#endif
#ifdef CL_VERSION_2_2
VAL "CL_VERSION_2_2" =CL_VERSION_2_2
#endif
#ifdef CL_VERSION_3_0
VAL "CL_VERSION_3_0" =CL_VERSION_3_0
#endif
#ifdef __ENDIAN_LITTLE__
VAL "__ENDIAN_LITTLE__" =__ENDIAN_LITTLE__
#endif
#ifdef __IMAGE_SUPPORT__
VAL "__IMAGE_SUPPORT__" =__IMAGE_SUPPORT__
#endif
#ifdef __FAST_RELAXED_MATH__
VAL "__FAST_RELAXED_MATH__" =__FAST_RELAXED_MATH__
#endif
#ifdef __FINITE_MATH_ONLY__
VAL "__FINITE_MATH_ONLY__" =__FINITE_MATH_ONLY__
#endif
#ifdef __NV_CL_C_VERSION
VAL "__NV_CL_C_VERSION" =__NV_CL_C_VERSION
#endif
#ifdef __NVPTX__
VAL "__NVPTX__" =__NVPTX__
#endif
#ifdef __PTX__
VAL "__PTX__" =__PTX__
#endif
#ifdef __clang__
VAL "__clang__" =__clang__
#endif
#ifdef __LP64__
VAL "__LP64__" =__LP64__
#endif
#ifdef __SPIR__
VAL "__SPIR__" =__SPIR__
#endif
#ifdef __CUDA_ARCH__
VAL "__CUDA_ARCH__" =__CUDA_ARCH__
#endif
#ifdef __GNUC__
VAL "__GNUC__" =__GNUC__
#endif
#ifdef FP_FAST_FMA
VAL "FP_FAST_FMA" =FP_FAST_FMA
#endif
#ifdef FP_FAST_FMAF
VAL "FP_FAST_FMAF" =FP_FAST_FMAF
#endif
#ifdef cl_khr_fp16
VAL "cl_khr_fp16" =cl_khr_fp16
#endif
#ifdef cl_khr_fp64
VAL "cl_khr_fp64" =cl_khr_fp64
#endif
#ifdef cl_khr_int64_base_atomics
VAL "cl_khr_int64_base_atomics" =cl_khr_int64_base_atomics
#endif
#ifdef cl_khr_int64_extended_atomics
VAL "cl_khr_int64_extended_atomics" =cl_khr_int64_extended_atomics
#endif
#ifdef cl_khr_global_int32_base_atomics
VAL "cl_khr_global_int32_base_atomics" =cl_khr_global_int32_base_atomics
#endif
#ifdef cl_khr_local_int32_extended_atomics
VAL "cl_khr_local_int32_extended_atomics" =cl_khr_local_int32_extended_atomics
#endif
#ifdef cl_khr_byte_addressable_store
VAL "cl_khr_byte_addressable_store" =cl_khr_byte_addressable_store
#endif
#ifdef cl_khr_3d_image_writes
VAL "cl_khr_3d_image_writes" =cl_khr_3d_image_writes
#endif
#ifdef cl_khr_subgroups
VAL "cl_khr_subgroups" =cl_khr_subgroups
#endif
#ifdef cl_khr_icd
VAL "cl_khr_icd" =cl_khr_icd
#endif
#ifdef cl_nv_pragma_unroll
VAL "cl_nv_pragma_unroll" =cl_nv_pragma_unroll
#endif
#ifdef cl_khr_mipmap_image
VAL "cl_khr_mipmap_image" =cl_khr_mipmap_image
#endif
#ifdef cl_khr_depth_images
VAL "cl_khr_depth_images" =cl_khr_depth_images
#endif
#ifdef __opencl_c_3d_image_writes
VAL "__opencl_c_3d_image_writes" =__opencl_c_3d_image_writes
#endif
#ifdef __opencl_c_fp64
VAL "__opencl_c_fp64" =__opencl_c_fp64
#endif
#ifdef __opencl_c_images
VAL "__opencl_c_images" =__opencl_c_images
#endif
#ifdef __opencl_c_int64
VAL "__opencl_c_int64" =__opencl_c_int64
#endif
#ifdef __opencl_c_subgroups
VAL "__opencl_c_subgroups" =__opencl_c_subgroups
#endif
#ifdef __opencl_c_generic_address_space
VAL "__opencl_c_generic_address_space" =__opencl_c_generic_address_space
#endif
#ifdef __opencl_c_atomic_order_seq_cst
VAL "__opencl_c_atomic_order_seq_cst" =__opencl_c_atomic_order_seq_cst
#endif
#ifdef __opencl_c_atomic_scope_device
VAL "__opencl_c_atomic_scope_device" =__opencl_c_atomic_scope_device
#endif
#ifdef __opencl_c_read_write_images
VAL "__opencl_c_read_write_images" =__opencl_c_read_write_images
#endif
#ifdef __opencl_c_program_scope_global_variables
VAL "__opencl_c_program_scope_global_variables" =__opencl_c_program_scope_global_variables
#endif
#ifdef __opencl_c_work_group_collective_functions
VAL "__opencl_c_work_group_collective_functions" =__opencl_c_work_group_collective_functions
#endif
#ifdef CLK_LOCAL_MEM_FENCE
VAL "CLK_LOCAL_MEM_FENCE" =CLK_LOCAL_MEM_FENCE
#endif
#ifdef CLK_GLOBAL_MEM_FENCE
VAL "CLK_GLOBAL_MEM_FENCE" =CLK_GLOBAL_MEM_FENCE
#endif
#ifdef CLK_IMAGE_MEM_FENCE
VAL "CLK_IMAGE_MEM_FENCE" =CLK_IMAGE_MEM_FENCE
#endif