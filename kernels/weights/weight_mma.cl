// weight_tile with map mma: half or bfloat16 by packed weights, up to 16 rows, on NVIDIA's matrix units (sm_80 on).
//
// Each warp copies its weights into a ring of BUFFERS pieces in local memory, asynchronously, as they lie in global
// memory. From there they go to registers, where their codes become the first operand of the instruction, whose 16 rows
// are columns of C. Rows of A are its second, 8 at a time. The sum of a group, minus the zero points times the sums of
// A's rows, is multiplied by the scales in single. A warp computes all rows by 32 columns of C, or by 64, two panels of
// weights for each 32:
//
//     lane 4g + t of a warp               panel 0: g = 0 to 3      panel 1: g = 4 to 7
//       reads of a chunk, 32 steps        word t of the columns 4(g % 4) to 4(g % 4) + 3, 16 bytes, 8-bit words 4 + t,
//       too and of row g of A                 steps 4t to 4t + 3 and 16 + 4t to 16 + 4t + 3 has of C rows 2t and 2t + 1
//       of these four columns
//
// So steps of k are multiplied in another order than they lie in memory, the same one for both operands. The KL warps
// of the same columns take turns at pieces of KS steps, and add up their sums in local memory.
//
//   ML, NL        rows and columns of C per work-group: 8 or 16 rows
//   KL            warps that share the steps of k
//   MS, NS        ML / 4; columns of C per lane: 4 or 8, a warp has eight times as many
//   VECTOR_WIDTH  columns that a lane reads and writes at once: 4
//   KS            steps of k of a piece: 128
//   BUFFERS       pieces in a warp's ring: 2 to 8

#define STRIPS VECTORS  // of 32 columns, for each warp
#define WARPS (NL / (8 * NS) * KL)
#define ITEMS (32 * WARPS)
#define EIGHTS (ML / 8)
#define CHUNKS (KS / CHUNK)

#if A_BFLOAT16
#define PTX_OF_A "bf16"
#else
#define PTX_OF_A "f16"
#endif
#define MULTIPLY_PAIRS "mma.sync.aligned.m16n8k16.row.col.f32." PTX_OF_A "." PTX_OF_A ".f32"

// sum += the product of 16 columns of weights and 16 steps of k by 8 rows of A.
static ALWAYS_INLINE void multiply(float* sum, const uint a0, const uint a1, const uint a2, const uint a3,
                                   const uint2 b) {
  __asm__(MULTIPLY_PAIRS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b.x), "r"(b.y));
}

// ---- Codes as elements of A's type: (code + BIAS) * UNIT, without arithmetic where that can be ----

#define CODES (WEIGHT_BITS == 4 ? 0x000f000fu : 0x00ff00ffu)
#if !A_BFLOAT16
// The bits of a code are the half that is code * 2^-24, those of the upper half of a byte 16 times as much: no shift.
#define BIAS 0
#define UNIT 0x1p-24f
#define PAIR_OF_UNITS 0x00010001u
#define PAIR(word) ((word)&CODES)
#define UPPER_IN_PLACE (WEIGHT_BITS == 4)
#elif WEIGHT_BITS == 4
// With the bits of 128, a code is 128 + code.
#define BIAS 128
#define UNIT 1
#define PAIR_OF_UNITS 0x3f803f80u
#define PAIR(word) (((word)&CODES) | 0x43004300u)
#define UPPER_IN_PLACE 0
#else
#define BIAS 0
#define UNIT 1
#define PAIR_OF_UNITS 0x3f803f80u
#define UPPER_IN_PLACE 0
static ALWAYS_INLINE uint PAIR(const uint word) {
  // With the bits of 2^23, a code is 2^23 + code.
  const float first = as_float((word & 0xffu) | 0x4b000000u) - 0x1p23f;
  const float second = as_float((word >> 16 & 0xffu) | 0x4b000000u) - 0x1p23f;
  uint result;
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
}
#endif

// ---- A warp's ring of pieces ----

// Pieces whose copies may be on their way while one is multiplied.
#define LATE (BUFFERS - 1)
#if BUFFERS == 2
#define LATE_COPIES "1"
#elif BUFFERS == 3
#define LATE_COPIES "2"
#elif BUFFERS == 4
#define LATE_COPIES "3"
#elif BUFFERS == 5
#define LATE_COPIES "4"
#elif BUFFERS == 6
#define LATE_COPIES "5"
#elif BUFFERS == 7
#define LATE_COPIES "6"
#else
#define LATE_COPIES "7"
#endif
#define MOST_BYTES (KS * PANEL * WEIGHT_BITS / 8 + KS / CHUNK * 3 * PANEL)  // of a panel's piece
#define PIECE_BYTES (2 * STRIPS * MOST_BYTES)
#define SYNCHRONIZE_WARP __asm__ volatile("bar.warp.sync -1;" ::: "memory")

// Starts to copy the groups from step `done` on, at most KS steps, of each of the warp's panels. Half a warp copies a
// panel. `panel` is this lane's first step of each strip.
static ALWAYS_INLINE void copy_piece_of_weights(__local uchar* piece, __global const uchar* const panel[STRIPS],
                                                const Packed p, const int done, const int depth, const int lane) {
  const int bytes = (clamp(depth - done, 0, KS) >> p.shift) * p.block;
  UNROLLED(s, STRIPS) {
    __global const uchar* from = panel[s] + (done >> p.shift) * (ulong)p.block + lane % 16 * 16;
    const uint to = local_address(piece + (2 * s + lane / 16) * MOST_BYTES) + lane % 16 * 16;
    UNROLLED(round, (MOST_BYTES + 255) / 256) {
      if (lane % 16 * 16 + 256 * round < bytes) COPY_ASYNC(to + 256 * round, from + 256 * round, 16);
    }
  }
}

// The rows of A of a lane, at its first step; behind the last one that one again.
typedef struct {
  __global const ushort* row[EIGHTS];
  ulong step;     // from an element to the next along k
  bool by_fours;  // four steps are one aligned load
} Rows;

// 4 and 4 steps of each chunk from step `done` on; zeros for those that a depth does not have.
static ALWAYS_INLINE void load_rows(uint2 of_a[CHUNKS][EIGHTS][2], const Rows* rows, const int done, const int depth) {
  if (rows->by_fours && done + KS <= depth) {
    UNROLLED(u, CHUNKS) {
      UNROLLED(i, EIGHTS) {
        UNROLLED(h, 2) of_a[u][i][h] = *(__global const uint2*)(rows->row[i] + done + (CHUNK * u + 16 * h));
      }
    }
    return;
  }
  const ulong step = rows->step;
  UNROLLED(u, CHUNKS) {
    UNROLLED(i, EIGHTS) {
      UNROLLED(h, 2) {
        of_a[u][i][h] = (uint2)(0);
        if (done + CHUNK * u < depth) {
          __global const ushort* from = rows->row[i] + (done + CHUNK * u + 16 * h) * step;
          of_a[u][i][h] = (uint2)(from[0] | (uint)from[step] << 16, from[2 * step] | (uint)from[3 * step] << 16);
        }
      }
    }
  }
}

typedef struct {
  float of_codes[2][STRIPS][2][EIGHTS][4];  // of each pair of columns
  float of_units[2][EIGHTS][4];             // sums of A's rows
} Sums;

static ALWAYS_INLINE void clear(Sums* sums) {
  UNROLLED(i, EIGHTS) {
    UNROLLED(r, 4) {
      UNROLLED(h, 2) {
        sums->of_units[h][i][r] = 0;
        UNROLLED(s, STRIPS)
          UNROLLED(pair, 2) sums->of_codes[h][s][pair][i][r] = 0;
      }
    }
  }
}

// Adds the products of 32 steps of k. `words` are this lane's in the first strip.
static ALWAYS_INLINE void multiply_chunk(Sums* sums, __local const uchar* words, uint2 rows[EIGHTS][2]) {
  UNROLLED(s, STRIPS) {
    uint4 w[WORDS / 4];
    UNROLLED(x, WORDS / 4) w[x] = *(__local const uint4*)(words + 2 * s * MOST_BYTES + 4 * x * (4 * PANEL));
    UNROLLED(pair, 2) {
      UNROLLED(h, 2) {  // 16 steps of k
        const uint4 all = WEIGHT_BITS == 8 ? w[h % (WORDS / 4)] : UPPER_IN_PLACE ? w[0] : w[0] >> 4 * h;
        const uint x = pair ? all.z : all.x, y = pair ? all.w : all.y;
        const bool upper = UPPER_IN_PLACE && h == 1;
        const uint x0 = upper ? x & CODES << 4 : PAIR(x), y0 = upper ? y & CODES << 4 : PAIR(y);
        const uint x1 = upper ? x >> 8 & CODES << 4 : PAIR(x >> 8), y1 = upper ? y >> 8 & CODES << 4 : PAIR(y >> 8);
        UNROLLED(i, EIGHTS) multiply(sums->of_codes[h][s][pair][i], x0, y0, x1, y1, rows[i][h]);
      }
    }
  }
  UNROLLED(i, EIGHTS)
    UNROLLED(h, 2)
      multiply(sums->of_units[h][i], PAIR_OF_UNITS, PAIR_OF_UNITS, PAIR_OF_UNITS, PAIR_OF_UNITS, rows[i][h]);
}

// Adds the sums of a group, `part`, times its scales. `head` is that of the group in the first strip; a group that does
// not exist has any bytes there.
static ALWAYS_INLINE void add_group(float sums[STRIPS][2][EIGHTS][4], const Sums* part, __local const uchar* head,
                                    const bool has_zeros, const bool exists, const int quad) {
  UNROLLED(s, STRIPS) {
    __local const uchar* of_strip = head + 2 * s * MOST_BYTES;
    const ushort4 bits = ((__local const ushort4*)of_strip)[quad];
    const float4 of_bits = vload_half4(0, (const half*)&bits) * (float4)(1 / UNIT);
    const float4 scale = exists ? of_bits : (float4)(0);
    const float4 zeros = convert_float4(((__local const uchar4*)(of_strip + 2 * PANEL))[quad]);
    const float4 zero = has_zeros ? zeros + (float4)(BIAS) : (float4)(BIAS + MIDDLE);
    UNROLLED(pair, 2) {
      UNROLLED(i, EIGHTS) {
        UNROLLED(r, 4) {
          const float z = pair ? (r < 2 ? zero.z : zero.w) : (r < 2 ? zero.x : zero.y);
          const float by = pair ? (r < 2 ? scale.z : scale.w) : (r < 2 ? scale.x : scale.y);
          sums[s][pair][i][r] += by * (part->of_codes[0][s][pair][i][r] +
                                       (UPPER_IN_PLACE ? 0.0625f : 1) * part->of_codes[1][s][pair][i][r] -
                                       z * (part->of_units[0][i][r] + part->of_units[1][i][r]));
        }
      }
    }
  }
}

// Adds the products of all pieces of this warp. `panel` is where this lane copies from in each strip; `group` is a
// constant, so that the loop has no branches.
static ALWAYS_INLINE void multiply_all(float sums[STRIPS][2][EIGHTS][4], __local uchar* ring,
                                       __global const uchar* const panel[STRIPS], const Rows* rows, Packed p,
                                       const int group, const int depth, const int share, const int lane) {
  p.group = group;
  p.shift = group == 32 ? 5 : group == 64 ? 6 : 7;
  p.block = p.head + group * (PANEL * WEIGHT_BITS / 8);
  const int quad = lane / 4 % 4;
  __local const uchar* first_words = ring + lane / 16 * MOST_BYTES + (lane % 4 * (4 * PANEL) + quad * 16);
  UNROLLED(b, LATE) {
    copy_piece_of_weights(ring + b * PIECE_BYTES, panel, p, (share + b * KL) * KS, depth, lane);
    START_COPIES;
  }
  uint2 of_a[CHUNKS][EIGHTS][2], of_next[CHUNKS][EIGHTS][2];
  load_rows(of_a, rows, share * KS, depth);
  int buffer = 0;
#pragma unroll 1
  for (int done = share * KS; done < depth; done += KL * KS) {
    const int next = buffer == 0 ? LATE : buffer - 1;
    copy_piece_of_weights(ring + next * PIECE_BYTES, panel, p, done + LATE * KL * KS, depth, lane);
    START_COPIES;
    load_rows(of_next, rows, done + KL * KS, depth);
    WAIT_FOR_COPIES(LATE_COPIES);
    SYNCHRONIZE_WARP;
    __local const uchar* words = first_words + buffer * PIECE_BYTES;
    __local const uchar* heads = ring + buffer * PIECE_BYTES + lane / 16 * MOST_BYTES;
    UNROLLED(first, KS / group) {
      Sums part;
      clear(&part);
      UNROLLED(u, group / CHUNK) {
        const int chunk = first * (group / CHUNK) + u;
        multiply_chunk(&part, words + (chunk * (WORDS * 4 * PANEL) + (first + 1) * p.head), of_a[chunk]);
      }
      add_group(sums, &part, heads + first * p.block, p.has_zeros, done + first * group < depth, quad);
    }
    SYNCHRONIZE_WARP;  // all have read the piece
    UNROLLED(u, CHUNKS) {
      UNROLLED(i, EIGHTS) {
        UNROLLED(h, 2) of_a[u][i][h] = of_next[u][i][h];
      }
    }
    buffer = buffer + 1 == BUFFERS ? 0 : buffer + 1;
  }
}

#define PER_WARP (STRIPS * EIGHTS * 2 * 32)  // vectors of four columns
#define RING_BYTES (WARPS * BUFFERS * PIECE_BYTES)
#define SUMS_BYTES (WARPS * PER_WARP * 16)

GEMM_KERNEL(ITEMS, 1) {
  __local uchar memory[RING_BYTES > SUMS_BYTES ? RING_BYTES : SUMS_BYTES] __attribute__((aligned(16)));
  READ_NUMBERS;
  const Tile tile = find_tile(get_group_id(1), get_group_id(0), ML, NL, GEMM_ARGUMENTS);
  FIND_WEIGHTS;
  if (OUTSIDE_C) return;
  const int item = (int)get_local_id(0), lane = item % 32, warp = item / 32;
  const int g = lane / 4, t = lane % 4;
  const int share = warp % KL, warp_column = warp / KL * (8 * NS);
  Rows rows;
  rows.step = A_STEP_P;
  UNROLLED(i, EIGHTS)
    rows.row[i] = (__global const ushort*)tile.a + (min(8 * i + g, tile.rows - 1) * A_STEP_I + 4 * t * A_STEP_P);
  rows.by_fours = !TRANS_A && lda % 4 == 0 && (uintptr_t)tile.a % 8 == 0;
  // Panels behind the last one are the last one.
  __global const uchar* panel[STRIPS];
  UNROLLED(s, STRIPS) {
    const ulong column = tile.column + warp_column + 32 * s + lane / 16 * PANEL;
    panel[s] = panel_at(first_weight, packed, min(column, (ulong)(n - 1)), k, tile.first_p);
  }

  float sums[STRIPS][2][EIGHTS][4];
  UNROLLED(s, STRIPS)
    UNROLLED(pair, 2)
      UNROLLED(i, EIGHTS)
        UNROLLED(r, 4) sums[s][pair][i][r] = 0;
  __local uchar* ring = memory + warp * (BUFFERS * PIECE_BYTES);
  if (packed.group == 32) {
    multiply_all(sums, ring, panel, &rows, packed, 32, tile.depth, share, lane);
  } else if (packed.group == 64) {
    multiply_all(sums, ring, panel, &rows, packed, 64, tile.depth, share, lane);
  } else {
    multiply_all(sums, ring, panel, &rows, packed, 128, tile.depth, share, lane);
  }

  // Vectors of four columns, those of a lane 32 apart.
  __local realv* shared = (__local realv*)memory;
  __local realv* own = shared + warp * PER_WARP + lane;
  barrier(CLK_LOCAL_MEM_FENCE);  // all have read their last pieces
  UNROLLED(s, STRIPS) {
    UNROLLED(i, EIGHTS) {
      UNROLLED(r, 2)
        own[((s * EIGHTS + i) * 2 + r) * 32] =
            (realv)(sums[s][0][i][r], sums[s][0][i][2 + r], sums[s][1][i][r], sums[s][1][i][2 + r]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if SPLIT_K == 1
  const Epilogue e = TILE_EPILOGUE;
#endif
#pragma unroll 1
  for (int x = item; x < NL / (8 * NS) * PER_WARP; x += ITEMS) {
    const int in_warp = x % PER_WARP, of_lane = in_warp / 32, from = in_warp % 32;
    __local const realv* parts = shared + x / PER_WARP * KL * PER_WARP + in_warp;
    realv sum = parts[0];
    UNROLLED(other, KL - 1) sum += parts[(other + 1) * PER_WARP];
    const int row = of_lane / 2 % EIGHTS * 8 + from % 4 * 2 + of_lane % 2;
    const int column = x / PER_WARP * (8 * NS) + of_lane / (2 * EIGHTS) * 32 + from / 16 * PANEL + from / 4 % 4 * 4;
    if (row >= tile.rows || column >= tile.columns) continue;
#if SPLIT_K == 1
    if (numbers.steps != 0) {
      FINISH(row, sum, column);
      continue;
    }
#endif
    UPDATE(row, sum, column);
  }
}
