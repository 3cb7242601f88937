// The exchange of kernel 8 of Nugteren's tutorial, for local_tile: of MS neighbours, which need the same rows of a
// step, each reads one element of op(A) from local memory, and they exchange them within their sub-group.

// How MS neighbours exchange 32 bits of a real:
//
//   FIRST_LANE(item)          the place in the sub-group of the first of them, or -1 where they do not share one
//   CAN_EXCHANGE(first_lane)  whether they share one
//   FROM_LANE(value, lane)    the value of the work-item at that place
#if !EXCHANGE
#define FIRST_LANE(item) 0
#define CAN_EXCHANGE(first_lane) false
#define FROM_LANE(value, lane) (value)
#elif defined(cl_khr_subgroup_shuffle)
// OpenCL leaves open which work-items form a sub-group; NVIDIA's warps are 32 neighbours.
static inline int first_lane_of(const uint item) {
  const uint lane = get_sub_group_local_id();
  const uint first = item - lane;
  const bool neighbours = first == sub_group_broadcast(first, 0) && first % MS == 0 && get_sub_group_size() % MS == 0;
  return sub_group_all(neighbours) ? (int)(lane / MS * MS) : -1;
}
#define FIRST_LANE(item) first_lane_of(item)
#define CAN_EXCHANGE(first_lane) ((first_lane) >= 0)
#define FROM_LANE(value, lane) sub_group_shuffle(value, lane)
#else
static ALWAYS_INLINE real from_lane(const real value, const int lane) {
  uint result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(as_uint(value)), "r"(lane));
  return as_float(result);
}
#define FIRST_LANE(item) ((int)((item) % 32 / MS * MS))
#define CAN_EXCHANGE(first_lane) true
#define FROM_LANE(value, lane) from_lane(value, lane)
#endif
