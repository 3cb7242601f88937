// Atomic functions that libclc lacks: those of 64 bits, and C11's. PTX's instructions are relaxed; fences order them, as
// in the driver's own code.

#define INSTRUCTION(space, state, type, letter, name, instruction)                                    \
  FUNCTION type raw_##name(volatile space type* p, type value) {                                      \
    type old;                                                                                         \
    __asm__ volatile("atom" state "." instruction " %0, [%1], %2;"                                    \
                     : "=" letter(old) : "l"(p), letter(value) : "memory");                           \
    return old;                                                                                       \
  }
#define INSTRUCTIONS(space, state, type, letter, bits, sign)                                          \
  INSTRUCTION(space, state, type, letter, add, "add.u" bits)                                          \
  INSTRUCTION(space, state, type, letter, xchg, "exch.b" bits)                                        \
  INSTRUCTION(space, state, type, letter, min, "min." sign bits)                                      \
  INSTRUCTION(space, state, type, letter, max, "max." sign bits)                                      \
  INSTRUCTION(space, state, type, letter, and, "and.b" bits)                                          \
  INSTRUCTION(space, state, type, letter, or, "or.b" bits)                                            \
  INSTRUCTION(space, state, type, letter, xor, "xor.b" bits)                                          \
  FUNCTION type raw_sub(volatile space type* p, type value) { return raw_add(p, -value); }            \
  FUNCTION type raw_cmpxchg(volatile space type* p, type expected, type value) {                      \
    type old;                                                                                         \
    __asm__ volatile("atom" state ".cas.b" bits " %0, [%1], %2, %3;"                                  \
                     : "=" letter(old) : "l"(p), letter(expected), letter(value) : "memory");         \
    return old;                                                                                       \
  }
#define TYPES(space, state)                           \
  INSTRUCTIONS(space, state, int, "r", "32", "s")     \
  INSTRUCTIONS(space, state, uint, "r", "32", "u")    \
  INSTRUCTIONS(space, state, long, "l", "64", "s")    \
  INSTRUCTIONS(space, state, ulong, "l", "64", "u")
TYPES(global, ".global")
TYPES(local, ".shared")
TYPES(, "")  // generic

// ---- atom_*, and atomic_* of 64 bits
#define ATOMIC_64(space, type, name)                                                                \
  FUNCTION type atom_##name(volatile space type* p, type value) { return raw_##name(p, value); }    \
  FUNCTION type atomic_##name(volatile space type* p, type value) { return raw_##name(p, value); }
#define ATOMICS_64(space, type)                                                                     \
  ATOMIC_64(space, type, add) ATOMIC_64(space, type, sub) ATOMIC_64(space, type, xchg)              \
  ATOMIC_64(space, type, min) ATOMIC_64(space, type, max)                                           \
  ATOMIC_64(space, type, and) ATOMIC_64(space, type, or) ATOMIC_64(space, type, xor)                \
  FUNCTION type atom_inc(volatile space type* p) { return raw_add(p, (type)1); }                    \
  FUNCTION type atom_dec(volatile space type* p) { return raw_add(p, (type)-1); }                   \
  FUNCTION type atomic_inc(volatile space type* p) { return raw_add(p, (type)1); }                  \
  FUNCTION type atomic_dec(volatile space type* p) { return raw_add(p, (type)-1); }                 \
  FUNCTION type atom_cmpxchg(volatile space type* p, type expected, type value) {                   \
    return raw_cmpxchg(p, expected, value);                                                         \
  }                                                                                                 \
  FUNCTION type atomic_cmpxchg(volatile space type* p, type expected, type value) {                 \
    return raw_cmpxchg(p, expected, value);                                                         \
  }
ATOMICS_64(global, long)
ATOMICS_64(global, ulong)
ATOMICS_64(local, long)
ATOMICS_64(local, ulong)

// ---- C11
FUNCTION void fence(memory_scope scope) {
  switch (scope) {
    case memory_scope_work_item: break;
    case memory_scope_sub_group:
    case memory_scope_work_group: __nvvm_membar_cta(); break;
    case memory_scope_all_svm_devices: __nvvm_membar_sys(); break;
    default: __nvvm_membar_gl();
  }
}

// True when what comes before an operation of this order is to be visible before it.
FUNCTION bool releases(memory_order order) {
  return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

// True when what comes after it is to happen after it.
FUNCTION bool acquires(memory_order order) {
  return order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

FUNCTION void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
  if (order != memory_order_relaxed) fence(scope);
}

// Each function has three forms; `type` is that of the value, `bits` the whole number that holds it.
#define MODIFIES(space, atomic, type, bits, name, instruction, to, from)                                             \
  FUNCTION type name##_explicit(volatile space atomic* p, type value, memory_order order, memory_scope scope) {      \
    if (releases(order)) fence(scope);                                                                               \
    const type old = from(instruction((volatile space bits*)p, to(value)));                                          \
    if (acquires(order)) fence(scope);                                                                               \
    return old;                                                                                                      \
  }                                                                                                                  \
  FUNCTION type name##_explicit(volatile space atomic* p, type value, memory_order order) {                          \
    return name##_explicit(p, value, order, memory_scope_device);                                                    \
  }                                                                                                                  \
  FUNCTION type name(volatile space atomic* p, type value) { return name##_explicit(p, value, memory_order_seq_cst); }

#define EXCHANGES(space, other, atomic, type, bits, name, to, from)                                                  \
  FUNCTION bool name##_explicit(volatile space atomic* p, other type* expected, type value, memory_order success,    \
                                memory_order failure, memory_scope scope) {                                          \
    if (releases(success)) fence(scope);                                                                             \
    const bits wanted = to(*expected);                                                                               \
    const bits found = raw_cmpxchg((volatile space bits*)p, wanted, to(value));                                      \
    if (acquires(success) || acquires(failure)) fence(scope);                                                        \
    if (found != wanted) *expected = from(found);                                                                    \
    return found == wanted;                                                                                          \
  }                                                                                                                  \
  FUNCTION bool name##_explicit(volatile space atomic* p, other type* expected, type value, memory_order success,    \
                                memory_order failure) {                                                              \
    return name##_explicit(p, expected, value, success, failure, memory_scope_device);                               \
  }                                                                                                                  \
  FUNCTION bool name(volatile space atomic* p, other type* expected, type value) {                                   \
    return name##_explicit(p, expected, value, memory_order_seq_cst, memory_order_seq_cst);                          \
  }

#define ANY(space, atomic, type, bits, to, from)                                                                     \
  FUNCTION void atomic_init(volatile space atomic* p, type value) { *(volatile space bits*)p = to(value); }          \
  FUNCTION void atomic_store_explicit(volatile space atomic* p, type value, memory_order order, memory_scope scope) { \
    if (releases(order)) fence(scope);                                                                               \
    *(volatile space bits*)p = to(value);                                                                            \
    if (order == memory_order_seq_cst) fence(scope);                                                                 \
  }                                                                                                                  \
  FUNCTION void atomic_store_explicit(volatile space atomic* p, type value, memory_order order) {                    \
    atomic_store_explicit(p, value, order, memory_scope_device);                                                     \
  }                                                                                                                  \
  FUNCTION void atomic_store(volatile space atomic* p, type value) {                                                 \
    atomic_store_explicit(p, value, memory_order_seq_cst);                                                           \
  }                                                                                                                  \
  FUNCTION type atomic_load_explicit(volatile space atomic* p, memory_order order, memory_scope scope) {             \
    if (order == memory_order_seq_cst) fence(scope);                                                                 \
    const bits value = *(volatile space bits*)p;                                                                     \
    if (acquires(order)) fence(scope);                                                                               \
    return from(value);                                                                                              \
  }                                                                                                                  \
  FUNCTION type atomic_load_explicit(volatile space atomic* p, memory_order order) {                                 \
    return atomic_load_explicit(p, order, memory_scope_device);                                                      \
  }                                                                                                                  \
  FUNCTION type atomic_load(volatile space atomic* p) { return atomic_load_explicit(p, memory_order_seq_cst); }      \
  MODIFIES(space, atomic, type, bits, atomic_exchange, raw_xchg, to, from)

#define INTEGER(space, atomic, type)                                       \
  ANY(space, atomic, type, type, , )                                       \
  MODIFIES(space, atomic, type, type, atomic_fetch_add, raw_add, , )       \
  MODIFIES(space, atomic, type, type, atomic_fetch_sub, raw_sub, , )       \
  MODIFIES(space, atomic, type, type, atomic_fetch_min, raw_min, , )       \
  MODIFIES(space, atomic, type, type, atomic_fetch_max, raw_max, , )       \
  MODIFIES(space, atomic, type, type, atomic_fetch_and, raw_and, , )       \
  MODIFIES(space, atomic, type, type, atomic_fetch_or, raw_or, , )         \
  MODIFIES(space, atomic, type, type, atomic_fetch_xor, raw_xor, , )

#define EXCHANGE(space, other, atomic, type, bits, to, from)                                          \
  EXCHANGES(space, other, atomic, type, bits, atomic_compare_exchange_strong, to, from)               \
  EXCHANGES(space, other, atomic, type, bits, atomic_compare_exchange_weak, to, from)
#define EXCHANGE_ALL(space, other)                                                                    \
  EXCHANGE(space, other, atomic_int, int, int, , )                                                    \
  EXCHANGE(space, other, atomic_uint, uint, uint, , )                                                 \
  EXCHANGE(space, other, atomic_long, long, long, , )                                                 \
  EXCHANGE(space, other, atomic_ulong, ulong, ulong, , )                                              \
  EXCHANGE(space, other, atomic_float, float, int, as_int, as_float)                                  \
  EXCHANGE(space, other, atomic_double, double, long, as_long, as_double)

#define SPACE(space)                                                                                      \
  INTEGER(space, atomic_int, int)                                                                         \
  INTEGER(space, atomic_uint, uint)                                                                       \
  INTEGER(space, atomic_long, long)                                                                       \
  INTEGER(space, atomic_ulong, ulong)                                                                     \
  ANY(space, atomic_float, float, int, as_int, as_float)                                                  \
  ANY(space, atomic_double, double, long, as_long, as_double)                                             \
  EXCHANGE_ALL(space, )                                                                                   \
  FUNCTION bool atomic_flag_test_and_set_explicit(volatile space atomic_flag* p, memory_order order,      \
                                                  memory_scope scope) {                                   \
    return atomic_exchange_explicit(p, 1, order, scope) != 0;                                             \
  }                                                                                                       \
  FUNCTION bool atomic_flag_test_and_set_explicit(volatile space atomic_flag* p, memory_order order) {    \
    return atomic_exchange_explicit(p, 1, order) != 0;                                                    \
  }                                                                                                       \
  FUNCTION bool atomic_flag_test_and_set(volatile space atomic_flag* p) { return atomic_exchange(p, 1) != 0; } \
  FUNCTION void atomic_flag_clear_explicit(volatile space atomic_flag* p, memory_order order, memory_scope scope) { \
    atomic_store_explicit(p, 0, order, scope);                                                            \
  }                                                                                                       \
  FUNCTION void atomic_flag_clear_explicit(volatile space atomic_flag* p, memory_order order) {           \
    atomic_store_explicit(p, 0, order);                                                                   \
  }                                                                                                       \
  FUNCTION void atomic_flag_clear(volatile space atomic_flag* p) { atomic_store(p, 0); }
SPACE()
SPACE(global)
SPACE(local)
EXCHANGE_ALL(global, global)
EXCHANGE_ALL(global, local)
EXCHANGE_ALL(local, global)
EXCHANGE_ALL(local, local)
