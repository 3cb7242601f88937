// weight_tile with map mma: half or bfloat16 by packed weights, up to 16 rows, on NVIDIA's matrix units (sm_80 on).
//
// Each warp copies its weights into a ring of BUFFERS pieces in local memory, asynchronously, as they lie in global
// memory. From there they go to registers and become op(B) in A's type, (code - zero) * scale, rounded once: the first
// operand of the instruction, whose 16 rows are columns of C. Rows of A are its second, 8 at a time. A warp computes all
// rows by 32 columns of C, or by 64, two panels of weights for each 32:
//
//     lane 4g + t of a warp               panel 0: g = 0 to 3      panel 1: g = 4 to 7
//       reads of a chunk, 32 steps        word t of the columns 4(g % 4) to 4(g % 4) + 3, 16 bytes, 8-bit words 4 + t, too
//       and of row g of A                 steps 4t to 4t + 3 and 16 + 4t to 16 + 4t + 3
//       has of C                          rows 2t and 2t + 1 of these four columns
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
#define ONE 0x3f80u
#else
#define PTX_OF_A "f16"
#define ONE 0x3c00u
#endif
#define TWICE(bits) ((bits)*0x10001u)

#define MULTIPLY_PAIRS "mma.sync.aligned.m16n8k16.row.col.f32." PTX_OF_A "." PTX_OF_A ".f32"

// sum += the product of 16 columns of weights and 16 steps of k by 8 rows of A.
static ALWAYS_INLINE void multiply(float* sum, const uint a0, const uint a1, const uint a2, const uint a3,
                                   const uint2 b) {
  __asm__(MULTIPLY_PAIRS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b.x), "r"(b.y));
}

// x * y + z of two elements each.
static ALWAYS_INLINE uint fma_pair(const uint x, const uint y, const uint z) {
  uint result;
  __asm__("fma.rn." PTX_OF_A "x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
  return result;
}

static ALWAYS_INLINE uint permute_bytes(const uint x, const uint y, const uint selector) {
  uint result;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
  return result;
}

// ---- Codes to weights ----

// The scale and the zero point of a column, as a word of weights needs them.
#if A_BFLOAT16 && WEIGHT_BITS == 8
typedef struct {
  float scale, minus_zero;
} Column;

static ALWAYS_INLINE Column column_of(const ushort scale, const uint zero) {
  const Column column = {vload_half(0, (const half*)&scale), -(0x1p23f + zero)};
  return column;
}

static ALWAYS_INLINE uint pair_of(const float first, const float second) {
  uint result;
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
}

// The code in a byte is the fraction of 2^23 + code.
#define WEIGHT(byte) ((as_float(permute_bytes(word, 0x4b000000u, 0x7650 + (byte))) + column.minus_zero) * column.scale)
static ALWAYS_INLINE uint2 weights_of(const uint word, const Column column) {
  return (uint2)(pair_of(WEIGHT(0), WEIGHT(1)), pair_of(WEIGHT(2), WEIGHT(3)));
}
#else
typedef struct {
  uint scale, minus_zero;  // twice each
} Column;

// An element whose last bits are a code is BASE + code: 1024, and 128 in bfloat16.
#if A_BFLOAT16
#define BASE_BITS 0x4300u
#else
#define BASE_BITS 0x6400u
#endif

static ALWAYS_INLINE Column column_of(const ushort scale, const uint zero) {
#if A_BFLOAT16
  const float x = vload_half(0, (const half*)&scale);
  uint rounded;
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(rounded) : "f"(x));
  const Column column = {rounded, TWICE((BASE_BITS | 0x8000u) + zero)};
#else
  const Column column = {TWICE((uint)scale), TWICE((BASE_BITS | 0x8000u) + zero)};
#endif
  return column;
}

static ALWAYS_INLINE uint weight_pair(const uint biased, const Column column) {
  return fma_pair(fma_pair(biased, TWICE(ONE), column.minus_zero), column.scale, 0x80008000u);
}

#if WEIGHT_BITS == 4
// The weights of 4 steps; `word` has their codes in the low half of each byte, in the order 0, 2, 1, 3.
static ALWAYS_INLINE uint2 weights_of(const uint word, const Column column) {
  return (uint2)(weight_pair((word & 0x000f000fu) | TWICE(BASE_BITS), column),
                 weight_pair((word >> 8 & 0x000f000fu) | TWICE(BASE_BITS), column));
}
#else
static ALWAYS_INLINE uint2 weights_of(const uint word, const Column column) {
  return (uint2)(weight_pair(permute_bytes(word, TWICE(BASE_BITS), 0x5150), column),
                 weight_pair(permute_bytes(word, TWICE(BASE_BITS), 0x5352), column));
}
#endif
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

// The rows of A of a lane, of which some may be missing.
typedef struct {
  __global const ushort* row[EIGHTS];
  ulong step;     // from an element to the next along k
  bool by_fours;  // four steps are one aligned load
} Rows;

static ALWAYS_INLINE uint2 load_steps(const Rows* rows, const int i, const int p) {
  __global const ushort* from = rows->row[i] + p * rows->step;
  if (rows->by_fours) return *(__global const uint2*)from;
  const ulong step = rows->step;
  return (uint2)(from[0] | (uint)from[step] << 16, from[2 * step] | (uint)from[3 * step] << 16);
}

// Adds the products of 32 steps of k. `piece` is that of this lane's panel in the first strip.
static ALWAYS_INLINE void multiply_chunk(float sums[STRIPS][2][EIGHTS][4], __local const uchar* piece, const Packed p,
                                         const int chunk, uint2 rows[EIGHTS][2], const int quad, const int t) {
  UNROLLED(s, STRIPS) {
    __local const uchar* group = piece + 2 * s * MOST_BYTES + (chunk * CHUNK >> p.shift) * p.block;
    __local const uint4* from =
        (__local const uint4*)(group + p.head) + ((chunk & ((p.group - 1) / CHUNK)) * WORDS + t) * (PANEL / 4) + quad;
    const ushort4 scales = ((__local const ushort4*)group)[quad];
    uchar4 zeros = (uchar4)(MIDDLE);
    if (p.has_zeros) zeros = ((__local const uchar4*)(group + 2 * PANEL))[quad];
    uint4 words[WORDS / 4];
    UNROLLED(w, WORDS / 4) words[w] = from[w * PANEL];
    UNROLLED(pair, 2) {  // of columns
      const Column first = column_of(((const ushort*)&scales)[2 * pair], ((const uchar*)&zeros)[2 * pair]);
      const Column second = column_of(((const ushort*)&scales)[2 * pair + 1], ((const uchar*)&zeros)[2 * pair + 1]);
      UNROLLED(h, 2) {  // 16 steps of k
#if WEIGHT_BITS == 4
        const uint* word = (const uint*)&words[0] + 2 * pair;
        const uint2 x = weights_of(permute_bytes(word[0], 0, 0x3120) >> 4 * h, first);
        const uint2 y = weights_of(permute_bytes(word[1], 0, 0x3120) >> 4 * h, second);
#else
        const uint* word = (const uint*)&words[h] + 2 * pair;
        const uint2 x = weights_of(word[0], first), y = weights_of(word[1], second);
#endif
        UNROLLED(i, EIGHTS) multiply(sums[s][pair][i], x.x, y.x, x.y, y.y, rows[i][h]);
      }
    }
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
    rows.row[i] = (__global const ushort*)tile.a + min(8 * i + g, tile.rows - 1) * A_STEP_I;
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
  UNROLLED(b, LATE) {
    copy_piece_of_weights(ring + b * PIECE_BYTES, panel, packed, (share + b * KL) * KS, tile.depth, lane);
    START_COPIES;
  }
  int buffer = 0;
#pragma unroll 1
  for (int done = share * KS; done < tile.depth; done += KL * KS) {
    const int next = buffer == 0 ? LATE : buffer - 1;
    copy_piece_of_weights(ring + next * PIECE_BYTES, panel, packed, done + LATE * KL * KS, tile.depth, lane);
    START_COPIES;
    uint2 of_a[CHUNKS][EIGHTS][2];
    UNROLLED(u, CHUNKS) {
      if (done + CHUNK * u < tile.depth) {
        UNROLLED(i, EIGHTS)
          UNROLLED(h, 2) of_a[u][i][h] = load_steps(&rows, i, done + CHUNK * u + 16 * h + 4 * t);
      }
    }
    WAIT_FOR_COPIES(LATE_COPIES);
    SYNCHRONIZE_WARP;
    UNROLLED(u, CHUNKS) {
      if (done + CHUNK * u < tile.depth)
        multiply_chunk(sums, ring + buffer * PIECE_BYTES + g / 4 * MOST_BYTES, packed, u, of_a[u], g % 4, t);
    }
    SYNCHRONIZE_WARP;  // all have read the piece
    buffer = buffer + 1 == BUFFERS ? 0 : buffer + 1;
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
