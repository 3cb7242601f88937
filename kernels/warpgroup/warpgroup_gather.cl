// How the consumers of warpgroup_tile bring their sums to C: what wgmma leaves in a lane's registers becomes rows of 8
// neighbours.

static ALWAYS_INLINE real from_lane_xor(const real value, const int mask) {
  uint result;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(as_uint(value)), "r"(mask));
  return CONCAT(as_, REAL)(result);
}

// Exchanges two values with the neighbour whose lane differs in `mask`: afterwards the lane without this bit has both
// firsts, that with it both seconds.
static ALWAYS_INLINE void exchange(real* first, real* second, const bool has_bit, const int mask) {
  const real own_first = *first;  // no address depends on the lane, so that sums stay in registers
  const real own_second = *second;
  const real other = from_lane_xor(has_bit ? own_first : own_second, mask);
  *first = has_bit ? other : own_first;
  *second = has_bit ? own_second : other;
}

// The instruction leaves the columns 2t and 2t+1 of each 8 to lane t of four. Exchanges them, so that lane t has all 8
// of every fourth piece.
static ALWAYS_INLINE void gather_rows(realv rows[MS][VECTORS], real* sum, const uint t) {
  UNROLLED(q, VECTORS) {
    UNROLLED(i, MS) {
      UNROLLED(h, 2) {
        real* piece = sum + (16 * q + 2 * i + h);  // 4 sums of each piece
        exchange(&piece[0], &piece[4], t & 1, 1);
        exchange(&piece[8], &piece[12], t & 1, 1);
        exchange(&piece[0], &piece[8], t & 2, 2);
        exchange(&piece[4], &piece[12], t & 2, 2);
        UNROLLED(s, 4) ((real*)&rows[i][q])[2 * s + h] = piece[4 * s];
      }
    }
  }
}
