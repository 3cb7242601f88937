// Functions of sub-groups, which are NVIDIA's warps, and of work-groups.

FUNCTION uint get_max_sub_group_size(void) { return min((uint)items_of_group(), 32u); }
FUNCTION uint get_num_sub_groups(void) { return ((uint)items_of_group() + 31) / 32; }
FUNCTION uint get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
FUNCTION uint get_sub_group_id(void) { return (uint)get_local_linear_id() / 32; }
FUNCTION uint get_sub_group_local_id(void) { return (uint)get_local_linear_id() % 32; }
FUNCTION uint get_sub_group_size(void) { return min((uint)items_of_group() - get_sub_group_id() * 32, 32u); }

FUNCTION void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  __asm__ volatile("bar.warp.sync -1;" ::: "memory");
  fence(scope);
}
FUNCTION void sub_group_barrier(cl_mem_fence_flags flags) { sub_group_barrier(flags, memory_scope_sub_group); }

FUNCTION void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  if (scope > memory_scope_work_group) fence(scope);
  barrier(flags);
}
FUNCTION void work_group_barrier(cl_mem_fence_flags flags) { work_group_barrier(flags, memory_scope_work_group); }

FUNCTION uint sub_group_vote(int predicate) {  // a bit for each work-item
  uint votes;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }"
                   : "=r"(votes) : "r"(predicate));
  return votes;
}
FUNCTION int sub_group_any(int predicate) { return sub_group_vote(predicate) != 0; }
FUNCTION int sub_group_all(int predicate) { return sub_group_vote(!predicate) == 0; }
FUNCTION uint4 sub_group_ballot(int predicate) { return (uint4)(sub_group_vote(predicate), 0, 0, 0); }

// The value of another work-item of the sub-group; undefined when there is none.
FUNCTION uint sub_group_shuffle(uint value, uint from) {
  uint found;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(found) : "r"(value), "r"(from));
  return found;
}
#define SHUFFLE_BY_32(type, to, back) \
  FUNCTION type sub_group_shuffle(type value, uint from) { return back(sub_group_shuffle(to(value), from)); }
#define SHUFFLE_BY_64(type, to, back)                                                                      \
  FUNCTION type sub_group_shuffle(type value, uint from) {                                                 \
    const uint2 halves = as_uint2(to(value));                                                              \
    return back(as_ulong((uint2)(sub_group_shuffle(halves.lo, from), sub_group_shuffle(halves.hi, from)))); \
  }
SHUFFLE_BY_32(int, (uint), (int))
SHUFFLE_BY_32(short, (uint), (short))
SHUFFLE_BY_32(ushort, (uint), (ushort))
SHUFFLE_BY_32(char, (uint), (char))
SHUFFLE_BY_32(uchar, (uint), (uchar))
SHUFFLE_BY_32(float, as_uint, as_float)
SHUFFLE_BY_64(long, as_ulong, as_long)
SHUFFLE_BY_64(ulong, , )
SHUFFLE_BY_64(double, as_ulong, as_double)
FUNCTION half sub_group_shuffle(half value, uint from) {
  return as_half((ushort)sub_group_shuffle((uint)as_ushort(value), from));
}

#define SHUFFLES(type)                                                                    \
  FUNCTION type sub_group_shuffle_xor(type value, uint mask) {                            \
    return sub_group_shuffle(value, get_sub_group_local_id() ^ mask);                     \
  }                                                                                       \
  FUNCTION type sub_group_shuffle_up(type value, uint distance) {                         \
    return sub_group_shuffle(value, get_sub_group_local_id() - distance);                 \
  }                                                                                       \
  FUNCTION type sub_group_shuffle_down(type value, uint distance) {                       \
    return sub_group_shuffle(value, get_sub_group_local_id() + distance);                 \
  }                                                                                       \
  FUNCTION type sub_group_broadcast(type value, uint from) { return sub_group_shuffle(value, from); }

// Local memory for one value of each of 32 sub-groups and one more. OpenCL C has no variable of a function there.
FUNCTION local ulong* work_group_store(void) {
  local ulong* store;
  __asm__("{ .shared .align 8 .b8 store[264]; mov.u64 %0, store; }" : "=l"(store));
  return store;
}

// The steps double the distance; a last sub-group that is not full has fewer work-items.
#define SCANS(type, name, identity, combined)                                                            \
  FUNCTION type name##_of(type a, type b) { return combined; }                                           \
  FUNCTION type sub_group_scan_inclusive_##name(type value) {                                            \
    const uint self = get_sub_group_local_id();                                                          \
    for (uint distance = 1; distance < 32; distance *= 2) {                                              \
      const type other = sub_group_shuffle(value, self - distance);                                      \
      if (self >= distance) value = name##_of(other, value);                                             \
    }                                                                                                    \
    return value;                                                                                        \
  }                                                                                                      \
  FUNCTION type sub_group_scan_exclusive_##name(type value) {                                            \
    const uint self = get_sub_group_local_id();                                                          \
    const type before = sub_group_shuffle(sub_group_scan_inclusive_##name(value), self - 1);             \
    return self == 0 ? (type)(identity) : before;                                                        \
  }                                                                                                      \
  FUNCTION type sub_group_reduce_##name(type value) {                                                    \
    return sub_group_shuffle(sub_group_scan_inclusive_##name(value), get_sub_group_size() - 1);          \
  }                                                                                                      \
  /* The sums of the sub-groups before this one, and with `all` of all. */                                   \
  FUNCTION type work_group_##name##_before(type sum, bool all) {                                         \
    local type* const sums = (local type*)work_group_store();                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    if (get_sub_group_local_id() == 0) sums[get_sub_group_id()] = sum;                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    const uint end = all ? get_num_sub_groups() : get_sub_group_id();                                    \
    type result = (type)(identity);                                                                      \
    for (uint i = 0; i < end; ++i) result = name##_of(result, sums[i]);                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    return result;                                                                                       \
  }                                                                                                      \
  FUNCTION type work_group_reduce_##name(type value) {                                                   \
    return work_group_##name##_before(sub_group_reduce_##name(value), true);                             \
  }                                                                                                      \
  FUNCTION type work_group_scan_inclusive_##name(type value) {                                           \
    const type before = work_group_##name##_before(sub_group_reduce_##name(value), false);               \
    return name##_of(before, sub_group_scan_inclusive_##name(value));                                    \
  }                                                                                                      \
  FUNCTION type work_group_scan_exclusive_##name(type value) {                                           \
    const type before = work_group_##name##_before(sub_group_reduce_##name(value), false);               \
    return name##_of(before, sub_group_scan_exclusive_##name(value));                                    \
  }

#define GROUPS(type, least, greatest)                                                                    \
  SHUFFLES(type)                                                                                         \
  SCANS(type, add, 0, a + b)                                                                             \
  SCANS(type, min, greatest, min(a, b))                                                                  \
  SCANS(type, max, least, max(a, b))                                                                     \
  FUNCTION type work_group_broadcast(type value, size_t x, size_t y, size_t z) {                         \
    local type* const store = (local type*)work_group_store();                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    if (get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == z) *store = value;            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    value = *store;                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    return value;                                                                                        \
  }                                                                                                      \
  FUNCTION type work_group_broadcast(type value, size_t x, size_t y) {                                   \
    return work_group_broadcast(value, x, y, get_local_id(2));                                           \
  }                                                                                                      \
  FUNCTION type work_group_broadcast(type value, size_t x) {                                             \
    return work_group_broadcast(value, x, get_local_id(1), get_local_id(2));                             \
  }

GROUPS(int, INT_MIN, INT_MAX)
GROUPS(uint, 0, UINT_MAX)
GROUPS(long, LONG_MIN, LONG_MAX)
GROUPS(ulong, 0, ULONG_MAX)
GROUPS(float, -INFINITY, INFINITY)
GROUPS(double, -INFINITY, INFINITY)
GROUPS(half, -INFINITY, INFINITY)
SHUFFLES(char)
SHUFFLES(uchar)
SHUFFLES(short)
SHUFFLES(ushort)

FUNCTION int work_group_any(int predicate) { return work_group_reduce_max((int)(predicate != 0)); }
FUNCTION int work_group_all(int predicate) { return work_group_reduce_min((int)(predicate != 0)); }
