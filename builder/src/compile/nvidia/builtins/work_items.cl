// Functions of work-items. libclc's know neither an offset nor that NVIDIA's driver launches a large range in parts; the
// driver tells both in its "environment registers":
//   0 to 2  the first work-group of this part
//   3 to 5  the offset of this part in work-items: that of the launch, and those of its first work-group
//   6 to 8  the number of work-groups of the launch
//   9       the number of dimensions
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define FUNCTION __attribute__((overloadable, always_inline))

#define PER_DIMENSION(name, otherwise, x, y, z) \
  FUNCTION size_t name(uint dimension) {        \
    switch (dimension) {                        \
      case 0: return (size_t)(x);               \
      case 1: return (size_t)(y);               \
      case 2: return (size_t)(z);               \
      default: return otherwise;                \
    }                                           \
  }
#define ENVIRONMENT(n)                                \
  ({                                                  \
    int value;                                        \
    __asm__("mov.b32 %0, %%envreg" #n ";" : "=r"(value)); \
    value;                                            \
  })

FUNCTION uint get_work_dim(void) { return ENVIRONMENT(9); }

PER_DIMENSION(get_local_id, 0, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z())
PER_DIMENSION(get_local_size, 1, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
              __nvvm_read_ptx_sreg_ntid_z())
PER_DIMENSION(get_enqueued_local_size, 1, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
              __nvvm_read_ptx_sreg_ntid_z())
PER_DIMENSION(get_num_groups, 1, ENVIRONMENT(6), ENVIRONMENT(7), ENVIRONMENT(8))
PER_DIMENSION(get_group_id, 0, __nvvm_read_ptx_sreg_ctaid_x() + ENVIRONMENT(0),
              __nvvm_read_ptx_sreg_ctaid_y() + ENVIRONMENT(1), __nvvm_read_ptx_sreg_ctaid_z() + ENVIRONMENT(2))

// The driver's own width: products and sums are of 64 bits here, and of 32 where they are about the whole launch.
#define IN_PART(d) (long)__nvvm_read_ptx_sreg_ntid_##d() * __nvvm_read_ptx_sreg_ctaid_##d() + __nvvm_read_ptx_sreg_tid_##d()
PER_DIMENSION(get_global_id, 0, IN_PART(x) + ENVIRONMENT(3), IN_PART(y) + ENVIRONMENT(4), IN_PART(z) + ENVIRONMENT(5))
PER_DIMENSION(get_global_size, 1, ENVIRONMENT(6) * __nvvm_read_ptx_sreg_ntid_x(),
              ENVIRONMENT(7) * __nvvm_read_ptx_sreg_ntid_y(), ENVIRONMENT(8) * __nvvm_read_ptx_sreg_ntid_z())
PER_DIMENSION(get_global_offset, 0, ENVIRONMENT(3) - ENVIRONMENT(0) * __nvvm_read_ptx_sreg_ntid_x(),
              ENVIRONMENT(4) - ENVIRONMENT(1) * __nvvm_read_ptx_sreg_ntid_y(),
              ENVIRONMENT(5) - ENVIRONMENT(2) * __nvvm_read_ptx_sreg_ntid_z())

FUNCTION size_t get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

FUNCTION size_t get_global_linear_id(void) {
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  return (z * get_global_size(1) + y) * get_global_size(0) + x;
}
