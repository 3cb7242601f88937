// warpgroup_tile where op(B) is packed weights (WEIGHTS.md). wgmma takes its first operand from registers, so that
// weights never are elements in local memory: it multiplies op(B), transposed, by op(A), transposed, and leaves C,
// transposed. Its 64 rows are columns of C, its columns the tile's rows.
//
//   producers   copy panels of weights as they lie in global memory, and tiles of op(A)
//   consumers   unpack in registers, (code - zero) * scale, rounded once, while the units multiply the chunk before
//
// Lane 4g + t of a consumer's warp has columns 2g and 2g + 1 of a panel, which are rows g and g + 8 of the instruction,
// and of each 16 steps 2t, 2t + 1, 2t + 8 and 2t + 9: halves of words t / 2 and 2 + t / 2.

// ---- The producers ----

#define PANEL_ITEMS (NL <= 64 ? 32 : NL <= 128 ? 16 : 8)  // that copy a panel
#define PANEL_ROUNDS ((PIECE_BYTES / 16 + PANEL_ITEMS - 1) / PANEL_ITEMS)

static ALWAYS_INLINE void produce_tile(Ring* ring, const Tile* tile, const Call* call, const uint item) {
  Sources from = {tile->a, tile->b};
  const uint alignment = alignment_of(from.a, call->a_step);
  const int blocks = blocks_of(tile);
  const Numbers* x = call->numbers;
  __global const ulong* offsets = call->offsets;
  const ulong number = (ulong)tile->product + x->first_product;
  __global const uchar* first =
      (__global const uchar*)call->b + (x->b_offset + (offsets ? LISTED(number, 1) : number * call->b_stride));
  const Packed packed = packed_of(call->weights);
  const int piece = (int)(item % PANEL_ITEMS) * 16;
  // This work-item's panel. Panels behind the last one are the last one: their columns do not reach C.
  __global const uchar* panel =
      panel_at(first, packed, min((ulong)tile->column + item / PANEL_ITEMS * PANEL, (ulong)(call->n - 1)), call->k,
               tile->first_p);
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    const int steps = min(tile->depth - block * KL, KL);
    wait_until_empty(ring);
    __local uchar* pair = ring->tiles + ring->buffer * (A_BYTES + B_BYTES);
    // Not by bulk copies of a panel's piece: they took longer on an H200.
    const int bytes = (steps >> packed.shift) * packed.block;
    __global const uchar* weights = panel + ((block * KL >> packed.shift) * (ulong)packed.block + piece);
    const uint to = local_address(pair + A_BYTES) + item / PANEL_ITEMS * PIECE_BYTES + piece;
    UNROLLED(r, PANEL_ROUNDS) {
      const int at = r * PANEL_ITEMS * 16;
      if (item / PANEL_ITEMS < NL / PANEL && piece + at < bytes) COPY_ASYNC(to + at, weights + at, 16);
    }
    if (alignment >= CHUNK_BYTES && tile->rows == ML && steps == KL) {
      copy_chunks(pair, from.a, call->a_step, A_SHAPE, false, ML, item);
    } else {
      copy_existing(pair, from.a, call->a_step, A_SHAPE, alignment,
                    steps == KL && is_whole(A_ALONG_K, tile->rows, alignment), steps, tile->rows, item);
    }
    finish_block(ring, &from, call, alignment < 4);
  }
}

// ---- The consumers ----

#define FMA_PAIR(result, x, y, z) \
  __asm__("fma.rn." PTX_TYPE "x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z))
#define TWICE(bits) ((uint)(bits)*0x10001u)

#if BFLOAT16 && WEIGHT_BITS == 8
typedef struct {
  float scale, zero;
} Column;

static ALWAYS_INLINE Column column_of(const ushort scale, const uint zero) {
  const Column column = {vload_half(0, (const half*)&scale), 0x1p23f + zero};
  return column;
}

// Two steps, whose codes are bytes 0 and 2 of `codes`. With the bits of 2^23, a code is 2^23 + code.
static ALWAYS_INLINE uint weights_of(const uint codes, const Column column, const bool upper) {
  const float first = (as_float((codes & 0xffu) | 0x4b000000u) - column.zero) * column.scale;
  const float second = (as_float((codes >> 16 & 0xffu) | 0x4b000000u) - column.zero) * column.scale;
  uint result;
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
}
#else
// With the bits of BASE a code is BASE + code, with those of an upper half of a byte in half BASE + 16 * code.
#if BFLOAT16
#define BASE 0x4300u  // 128
#define ONE 0x3f80u
#else
#define BASE 0x6400u  // 1024
#define ONE 0x3c00u
#endif
#define CODES TWICE(WEIGHT_BITS == 4 ? 0xf : 0xff)
#define IN_PLACE_OF_UPPER (WEIGHT_BITS == 4 && !BFLOAT16)

typedef struct {
  uint scale, minus_zero, minus_upper_zero;  // twice each
} Column;

static ALWAYS_INLINE Column column_of(const ushort scale, const uint zero) {
  Column column = {TWICE(scale), TWICE((BASE | 0x8000u) + zero), TWICE(0xd400u + 16 * zero)};  // -64 - zero
#if BFLOAT16
  const float x = vload_half(0, (const half*)&scale);
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(column.scale) : "f"(x));
#endif
  return column;
}

// Two weights, of codes in the lower or the upper half of bytes 0 and 2.
static ALWAYS_INLINE uint weights_of(const uint word, const Column column, const bool upper) {
  const bool in_place = upper && IN_PLACE_OF_UPPER;
  const uint from = upper && !in_place ? word >> 4 : word;
  uint biased, exact, result;
  // One instruction, where the compiler makes two of the operators.
  __asm__("lop3.b32 %0, %1, %2, %3, 0xea;"
          : "=r"(biased)
          : "r"(from), "r"(in_place ? CODES << 4 : CODES), "r"(TWICE(BASE)));
  if (in_place) {
    FMA_PAIR(exact, biased, TWICE(0x2c00u), column.minus_upper_zero);  // times 1/16
  } else {
    FMA_PAIR(exact, biased, TWICE(ONE), column.minus_zero);
  }
  FMA_PAIR(result, exact, column.scale, 0x80008000u);
  return result;
}
#endif

// The first operand of each 16 steps of a chunk.
typedef struct {
  uint of[2][4];
} Operands;

// Bytes 0 and 2, or 1 and 3, of two words, in turns.
static ALWAYS_INLINE uint halves(const uint low, const uint high, const uint odd) {
  uint result;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(odd ? 0x7351 : 0x6240));
  return result;
}

// Unpacks the lane's columns. `head`: their group's.
static ALWAYS_INLINE Operands unpack(__local const uchar* head, __local const uchar* chunk, const bool has_zeros,
                                     const uint g, const uint t) {
  const uint scales = *(__local const uint*)(head + 4 * g);
  const uint own_zeros = *(__local const ushort*)(head + (2 * PANEL + 2 * g));
  const uint zeros = has_zeros ? own_zeros : MIDDLE * 0x101;  // no branch: ptxas would let nothing run beside wgmma
  const Column even = column_of((ushort)scales, zeros & 0xff), odd = column_of((ushort)(scales >> 16), zeros >> 8);
  uint2 words[WORDS / 4];
  UNROLLED(x, WORDS / 4) {
    __local const uint2* from = (__local const uint2*)(chunk + ((4 * x + t / 2) * (4 * PANEL) + 8 * g));
    const uint2 low = from[0], high = from[2 * PANEL / 2];
    words[x] = (uint2)(halves(low.x, high.x, t % 2), halves(low.y, high.y, t % 2));
  }
  Operands result;
  UNROLLED(h, 2) {
    const uint2 word = words[h % (WORDS / 4)];
    const bool upper = WEIGHT_BITS == 4 && h == 1;
    result.of[h][0] = weights_of(word.x, even, upper);
    result.of[h][1] = weights_of(word.y, odd, upper);
    result.of[h][2] = weights_of(word.x >> 8, even, upper);
    result.of[h][3] = weights_of(word.y >> 8, odd, upper);
  }
  return result;
}

static ALWAYS_INLINE void multiply_weights(real* sum, const uint weights[4], const ulong tile) {
  __asm__ volatile(
      "wgmma.mma_async.sync.aligned.m64n" TEXT(ML) MULTIPLY
      " " SUM_LIST ", {%[w0], %[w1], %[w2], %[w3]}, %[tile], 1, 1, 1, " A_MAJOR ";"
      : ALL_SUMS
      : [w0] "r"(weights[0]), [w1] "r"(weights[1]), [w2] "r"(weights[2]), [w3] "r"(weights[3]), [tile] "l"(tile));
}

// Starts the multiplication of `count` chunks of the ring's pair, a constant, one or two.
static ALWAYS_INLINE void multiply_chunks(real* sum, const Ring* ring, const ulong first, const int chunk,
                                          const int count, const Packed p, const uint panel, const uint lane) {
  const uint pair = (uint)ring->buffer * (A_BYTES + B_BYTES);
  const ulong tile = first + (pair >> 4);
  Operands weights[2];
  UNROLLED(c, count) {
    const int step = (chunk + c) * CHUNK;
    __local const uchar* head = ring->tiles + (pair + A_BYTES + panel * PIECE_BYTES + (step >> p.shift) * p.block);
    weights[c] = unpack(head, head + (p.head + (step & (p.group - 1)) * (WORD_BYTES / CHUNK)), p.has_zeros != 0,
                        lane / 4, lane % 4);
  }
  // Here, and not behind the fence: ptxas would let no other instructions run beside wgmma.
  UNROLLED(c, count)
    UNROLLED(h, 2)
      UNROLLED(i, 4) __asm__ volatile("" : "+r"(weights[c].of[h][i]));
  START_MULTIPLYING;
  UNROLLED(c, count)
    UNROLLED(h, 2)
      multiply_weights(sum, weights[c].of[h], tile + (DEEPER(2 * (chunk + c) + h, A_LINES, A_ALONG_K) >> 4));
  COMMIT_MULTIPLICATIONS;
}

static ALWAYS_INLINE void wait_for_pair(const Ring* ring) {
  wait_until_full(ring);
  SHOW_LOCAL_MEMORY;
}

// Adds up the products of every SHARES-th block of k from number `share` on. Two chunks are unpacked while the two
// before are multiplied.
static ALWAYS_INLINE void multiply_tile(real sum[SUMS], Ring* ring, const Tile* tile, const Call* call, const int share,
                                        const uint panel, const uint lane) {
  const Packed packed = packed_of(call->weights);
  const ulong first = descriptor(local_address(ring->tiles), A_LINES * 128);
  const int whole = tile->depth / KL;
  int previous = 0;
  for (int i = 0; i < share; ++i) advance(ring);
#pragma unroll 1
  for (int block = share; block < whole; block += SHARES) {
    wait_for_pair(ring);
    UNROLLED(c, CHUNKS_OF_K / 2) {
      FINISH_MULTIPLYING("1");
      if (c == 1 && block >= SHARES && lane == 0) arrive(ring->empty + 8 * previous);
      multiply_chunks(sum, ring, first, 2 * c, 2, packed, panel, lane);
    }
    previous = ring->buffer;
    UNROLLED(i, SHARES) advance(ring);
  }
  FINISH_MULTIPLYING("0");
  const int rest = whole % SHARES == share ? (tile->depth - whole * KL) / CHUNK : 0;
  if (rest > 0) wait_for_pair(ring);
#pragma unroll 1
  for (int c = 0; c < rest; ++c) {
    multiply_chunks(sum, ring, first, c, 1, packed, panel, lane);
    FINISH_MULTIPLYING("0");
  }
}

// Adds a lane's sums to rows of C in local memory, or stores them there.
static ALWAYS_INLINE void stage_sums(__local float* staged, const real sum[SUMS], const bool add, const uint t) {
  UNROLLED(j, ML / 8) {
    UNROLLED(i, 2) {
      __local float2* to = (__local float2*)(staged + (8 * j + 2 * t + i) * STAGED_ROW);
      const float2 both = (float2)(sum[4 * j + i], sum[4 * j + 2 + i]);
      *to = add ? *to + both : both;
    }
  }
}

// Rows that a warp writes, whole times ROWS_AT_ONCE.
#define ROWS_OF_WARP ((ML + 4 * CONSUMERS * ROWS_AT_ONCE - 1) / (4 * CONSUMERS * ROWS_AT_ONCE) * ROWS_AT_ONCE)

static ALWAYS_INLINE void consume(Ring* ring, const Turns* turns, const bool tensor, const bool reads_c,
                                  const Call* call, const uint warpgroup, const uint item) {
  const Tile tile = tile_of_turn(turns, 0, call);
  if (is_outside(&tile)) return;
  const int share = (int)warpgroup / (NL / 64), lane = (int)item % 32;
  const uint panel = item / 32 % (NL / PANEL);
  real sum[SUMS] = {0};
  multiply_tile(sum, ring, &tile, call, share, panel, lane);
  __local float* staged = (__local float*)ring->tiles;
  UNROLLED(i, SHARES) {
    SYNCHRONIZE_CONSUMERS;  // all have multiplied the last tiles, the shares before have added theirs
    if (i == share) stage_sums(staged + (panel * PANEL + lane / 4 * 2), sum, i > 0, lane % 4);
  }
  SYNCHRONIZE_CONSUMERS;
  const int first_row = (int)item / 32 * ROWS_OF_WARP;
  staged += first_row * STAGED_ROW;
  if (call->slice) {
    const int count = min(ROWS_OF_WARP, ML - first_row);
    for (int r = 0; r < count; ++r) {
      UNROLLED(w, NL / 32) call->slice[(first_row + r) * NL + 32 * w + lane] = staged[r * STAGED_ROW + 32 * w + lane];
    }
    return;
  }
  write_staged_rows(staged, &tile, call, first_row, min(ROWS_OF_WARP, tile.rows - first_row), lane);
}
