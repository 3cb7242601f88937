// weight_tile with map mma: half or bfloat16 by packed weights, up to 16 rows, on NVIDIA's matrix units (sm_80 on).
//
// The layout of packed weights is that of the instruction's first operand, whose 16 rows are columns of C: a lane loads
// words of four columns straight into registers, where their codes become numbers. Rows of A are the second operand, 8
// at a time. The sum of a group, minus the zero points times the sums of A's rows, is multiplied by the scales in
// single. A warp computes all rows by 32 columns of C, or by 64, two panels of weights for each 32:
//
//     lane 4g + t of a warp               panel 0: g = 0 to 3      panel 1: g = 4 to 7
//       reads of a chunk, 32 steps        word t of the columns 4(g % 4) to 4(g % 4) + 3, 16 bytes, 8-bit words 4 + t,
//       too and of row g of A                 steps 4t to 4t + 3 and 16 + 4t to 16 + 4t + 3 has of C rows 2t and 2t + 1
//       of these four columns
//
// So steps of k are multiplied in another order than they lie in memory, the same one for both operands. The KL warps
// of the same columns take turns at pieces of KS steps, each of which a warp loads while it multiplies the one before,
// and add up their sums in local memory.
//
//   ML, NL        rows and columns of C per work-group: 8 or 16 rows
//   KL            warps that share the steps of k
//   MS, NS        ML / 4; columns of C per lane: 4 or 8, a warp has eight times as many
//   VECTOR_WIDTH  columns that a lane reads and writes at once: 4
//   KS            steps of k of a piece: 128

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

// ---- Pieces: KS steps, or a chunk ----

// A lane's words of a piece, and the scales and zero points of its four columns.
typedef struct {
  uint4 words[STRIPS][CHUNKS][WORDS / 4];
  ushort4 scales[STRIPS][CHUNKS];  // of each group
  uchar4 zeros[STRIPS][CHUNKS];
} Piece;

// Weights are read once: they pass by the first cache.
static ALWAYS_INLINE uint4 load_once(__global const uchar* from) {
  uint4 x;
  __asm__("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
          : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
          : "l"(from));
  return x;
}

// Loads some chunks of each of some groups, from step `done` on. `panel` is the first group of each strip's panel.
static ALWAYS_INLINE void load_piece(Piece* piece, __global const uchar* const panel[STRIPS], const Packed p,
                                     const int done, const int groups, const int chunks, const int lane) {
  UNROLLED(s, STRIPS) {
    UNROLLED(number, groups) {
      const int step = done + number * chunks * CHUNK, quad = lane / 4 % 4;
      __global const uchar* from = panel[s] + (step >> p.shift) * (ulong)p.block;
      piece->scales[s][number] = ((__global const ushort4*)from)[quad];
      if (p.has_zeros) piece->zeros[s][number] = ((__global const uchar4*)(from + 2 * PANEL))[quad];
      const int chunk = (step & (p.group - 1)) / CHUNK;
      from += p.head + (chunk * WORDS + lane % 4) * (4 * PANEL) + quad * 16;
      UNROLLED(u, chunks) {
        UNROLLED(x, WORDS / 4)
          piece->words[s][number * chunks + u][x] = load_once(from + (u * WORDS + 4 * x) * (4 * PANEL));
      }
    }
  }
}

// The rows of A of a lane, at its first step; behind the last one that one again.
typedef struct {
  __global const ushort* row[EIGHTS];
  ulong step;  // from an element to the next along k
} Rows;

// 4 and 4 steps of the chunk that begins at step `done`. by_fours: four steps are one aligned load.
static ALWAYS_INLINE void load_rows(uint2 of_a[EIGHTS][2], const Rows* rows, const int done, const bool by_fours) {
  UNROLLED(i, EIGHTS) {
    UNROLLED(h, 2) {
      if (by_fours) {
        of_a[i][h] = *(__global const uint2*)(rows->row[i] + done + 16 * h);
        continue;
      }
      const ulong step = rows->step;
      __global const ushort* from = rows->row[i] + (done + 16 * h) * step;
      of_a[i][h] = (uint2)(from[0] | (uint)from[step] << 16, from[2 * step] | (uint)from[3 * step] << 16);
    }
  }
}

// ---- Sums ----

typedef float Sums[STRIPS][2][EIGHTS][4];  // of each pair of columns

// The sums of a group's codes, and of A's rows.
typedef struct {
  float of_codes[2][STRIPS][2][EIGHTS][4];
  float of_units[EIGHTS][4];
} Part;

static ALWAYS_INLINE void clear(Part* part) {
  UNROLLED(i, EIGHTS) {
    UNROLLED(r, 4) {
      part->of_units[i][r] = 0;
      UNROLLED(h, 2) {
        UNROLLED(s, STRIPS)
          UNROLLED(pair, 2) part->of_codes[h][s][pair][i][r] = 0;
      }
    }
  }
}

// Adds the products of 32 steps of k.
static ALWAYS_INLINE void multiply_chunk(Part* part, const Piece* piece, const int chunk, uint2 rows[EIGHTS][2]) {
  UNROLLED(s, STRIPS) {
    const uint4* w = piece->words[s][chunk];
    UNROLLED(pair, 2) {
      UNROLLED(h, 2) {  // 16 steps of k
        const uint4 all = WEIGHT_BITS == 8 ? w[h % (WORDS / 4)] : UPPER_IN_PLACE ? w[0] : w[0] >> 4 * h;
        const uint x = pair ? all.z : all.x, y = pair ? all.w : all.y;
        const bool upper = UPPER_IN_PLACE && h == 1;
        const uint x0 = upper ? x & CODES << 4 : PAIR(x), y0 = upper ? y & CODES << 4 : PAIR(y);
        const uint x1 = upper ? x >> 8 & CODES << 4 : PAIR(x >> 8), y1 = upper ? y >> 8 & CODES << 4 : PAIR(y >> 8);
        UNROLLED(i, EIGHTS) multiply(part->of_codes[h][s][pair][i], x0, y0, x1, y1, rows[i][h]);
      }
    }
  }
  UNROLLED(i, EIGHTS) {
    UNROLLED(h, 2) multiply(part->of_units[i], PAIR_OF_UNITS, PAIR_OF_UNITS, PAIR_OF_UNITS, PAIR_OF_UNITS, rows[i][h]);
  }
}

// Adds the sums of a group times its scales.
static ALWAYS_INLINE void add_group(Sums sums, const Part* part, const Piece* piece, const int number,
                                    const bool has_zeros) {
  UNROLLED(s, STRIPS) {
    const ushort4 bits = piece->scales[s][number];
    const float4 scale = vload_half4(0, (const half*)&bits) * (float4)(1 / UNIT);
    const float4 zeros = convert_float4(piece->zeros[s][number]);
    const float4 zero = has_zeros ? zeros + (float4)(BIAS) : (float4)(BIAS + MIDDLE);
    UNROLLED(pair, 2) {
      UNROLLED(i, EIGHTS) {
        UNROLLED(r, 4) {
          const float z = pair ? (r < 2 ? zero.z : zero.w) : (r < 2 ? zero.x : zero.y);
          const float by = pair ? (r < 2 ? scale.z : scale.w) : (r < 2 ? scale.x : scale.y);
          sums[s][pair][i][r] +=
              by * (part->of_codes[0][s][pair][i][r] +
                    (UPPER_IN_PLACE ? 0.0625f : 1) * part->of_codes[1][s][pair][i][r] - z * part->of_units[i][r]);
        }
      }
    }
  }
}

static ALWAYS_INLINE void multiply_piece(Sums sums, const Piece* piece, const Rows* rows, const Packed p,
                                         const int done, const int groups, const int chunks, const bool by_fours) {
  UNROLLED(number, groups) {
    Part part;
    clear(&part);
    UNROLLED(u, chunks) {
      const int chunk = number * chunks + u;
      uint2 of_a[EIGHTS][2];
      load_rows(of_a, rows, done + chunk * CHUNK, by_fours);
      multiply_chunk(&part, piece, chunk, of_a);
    }
    add_group(sums, &part, piece, number, p.has_zeros);
  }
}

// Adds the products of this warp's pieces of KS steps. `group` is a constant, so that the loop has no branches.
static ALWAYS_INLINE void multiply_pieces(Sums sums, __global const uchar* const panel[STRIPS], const Rows* rows,
                                          Packed p, const int group, const int depth, const int share, const int lane) {
  p.group = group;
  p.shift = group == 32 ? 5 : group == 64 ? 6 : 7;
  p.block = p.head + group * (PANEL * WEIGHT_BITS / 8);
  if (share * KS >= depth) return;
  Piece piece;
  load_piece(&piece, panel, p, share * KS, KS / group, group / CHUNK, lane);
#pragma unroll 1
  for (int done = share * KS; done < depth; done += KL * KS) {
    multiply_piece(sums, &piece, rows, p, done, KS / group, group / CHUNK, true);
    const int next = min(done + KL * KS, depth - KS);
    load_piece(&piece, panel, p, next, KS / group, group / CHUNK, lane);
  }
}

#define PER_WARP (STRIPS * EIGHTS * 2 * 32)  // vectors of four columns

GEMM_KERNEL(ITEMS, 1) {
  __local realv shared[WARPS * PER_WARP];
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
  // Panels behind the last one are the last one.
  __global const uchar* panel[STRIPS];
  UNROLLED(s, STRIPS) {
    const ulong column = tile.column + warp_column + 32 * s + lane / 16 * PANEL;
    panel[s] = panel_at(first_weight, packed, min(column, (ulong)(n - 1)), k, tile.first_p);
  }

  Sums sums;
  UNROLLED(s, STRIPS)
    UNROLLED(pair, 2)
      UNROLLED(i, EIGHTS)
        UNROLLED(r, 4) sums[s][pair][i][r] = 0;
  const bool by_fours = !TRANS_A && lda % 4 == 0 && (uintptr_t)tile.a % 8 == 0;
  const int in_pieces = by_fours ? tile.depth / KS * KS : 0;
  if (packed.group == 32) {
    multiply_pieces(sums, panel, &rows, packed, 32, in_pieces, share, lane);
  } else if (packed.group == 64) {
    multiply_pieces(sums, panel, &rows, packed, 64, in_pieces, share, lane);
  } else {
    multiply_pieces(sums, panel, &rows, packed, 128, in_pieces, share, lane);
  }
  // The rest, or all where rows of A cannot be read by fours: chunk by chunk.
#pragma unroll 1
  for (int done = in_pieces + share * CHUNK; done < tile.depth; done += KL * CHUNK) {
    Piece piece;
    load_piece(&piece, panel, packed, done, 1, 1, lane);
    multiply_piece(sums, &piece, &rows, packed, done, 1, 1, false);
  }

  // Vectors of four columns, those of a lane 32 apart.
  __local realv* own = shared + warp * PER_WARP + lane;
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
