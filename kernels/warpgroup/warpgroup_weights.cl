// The producer of warpgroup_tile where op(B) is packed weights (WEIGHTS.md): it copies op(A) and unpacks op(B) on the
// way to local memory, as elements of A's type, (code - zero) * scale, rounded once, in lines along k. The words of the
// next blocks are on their way in its registers meanwhile.
//
// A work-item unpacks two neighbouring words of four columns: of each column 16 bytes of a line, with 4 bits twice.

#define PAIRS (WORDS / 2)                             // of words of a column in a chunk
#define UNITS (NL / 4 * (KL / CHUNK) * PAIRS)         // of a tile
#define ROUNDS ((UNITS + PRODUCERS - 1) / PRODUCERS)  // units of a work-item
#define AHEAD 2                                       // blocks

// The place of unit number u.
#define QUAD(u) ((u) % 4)
#define WORD_PAIR(u) ((u) / 4 % PAIRS)
#define CHUNK_OF(u) ((u) / (4 * PAIRS) % (KL / CHUNK))
#define PANEL_OF(u) ((u) / (4 * PAIRS * (KL / CHUNK)))

// Quads 2 and 3 take the last two of their four columns first: with the swizzle of the lines, neighbours then write to
// different banks.
#define COLUMN_OF(u, j) (4 * QUAD(u) + ((j) ^ QUAD(u) / 2 * 2))

typedef struct {
  uint2 words[2][2];  // two columns, each
  ushort2 scales[2];  // 0 where there are no weights
  uchar2 zeros[2];
} Unit;

typedef struct {
  __global const uchar* panel[ROUNDS];  // at the tile's first step
  Packed packed;
  int depth;
} Weights;

static ALWAYS_INLINE Weights find_weights(const Tile* tile, const Call* call, const uint item) {
  const Numbers* x = call->numbers;
  __global const ulong* offsets = call->offsets;
  const ulong number = (ulong)tile->product + x->first_product;
  __global const uchar* first =
      (__global const uchar*)call->b + (x->b_offset + (offsets ? LISTED(number, 1) : number * call->b_stride));
  Weights w;
  w.packed = packed_of(call->weights);
  w.depth = tile->depth;
  UNROLLED(r, ROUNDS) {
    // Panels behind the last one are the last one: their columns do not reach C.
    const ulong column = tile->column + PANEL_OF(item + PRODUCERS * r) * PANEL;
    w.panel[r] = panel_at(first, w.packed, min(column, (ulong)(call->n - 1)), call->k, tile->first_p);
  }
  return w;
}

static ALWAYS_INLINE void load_units(Unit units[ROUNDS], const Weights* w, const int block, const uint item) {
  UNROLLED(r, ROUNDS) {
    const uint u = item + PRODUCERS * r;
    const int step = block * KL + (int)CHUNK_OF(u) * CHUNK;
    UNROLLED(half_of, 2) {
      units[r].words[0][half_of] = units[r].words[1][half_of] = (uint2)(0);
      units[r].scales[half_of] = (ushort2)(0);
      units[r].zeros[half_of] = (uchar2)(MIDDLE);
    }
    if (step >= w->depth) continue;
    __global const uchar* group = w->panel[r] + (step >> w->packed.shift) * (ulong)w->packed.block;
    const int word = (step & (w->packed.group - 1)) / CHUNK * WORDS + 2 * (int)WORD_PAIR(u);
    UNROLLED(half_of, 2) {
      const uint column = COLUMN_OF(u, 2 * half_of);
      __global const uint* words = (__global const uint*)(group + w->packed.head) + word * PANEL + column;
      units[r].words[0][half_of] = *(__global const uint2*)words;
      units[r].words[1][half_of] = *(__global const uint2*)(words + PANEL);
      units[r].scales[half_of] = *((__global const ushort2*)group + column / 2);
      if (w->packed.has_zeros) units[r].zeros[half_of] = *((__global const uchar2*)(group + 2 * PANEL) + column / 2);
    }
  }
}

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

// Writes all weights of a block to the tile, as the first picture of warpgroup_tile.cl has them.
static ALWAYS_INLINE void store_units(__local uchar* tile, const Unit units[ROUNDS], const uint item) {
  UNROLLED(r, ROUNDS) {
    const uint u = item + PRODUCERS * r;
    if (UNITS % PRODUCERS != 0 && u >= UNITS) continue;
    UNROLLED(j, 4) {
      const uint line = PANEL_OF(u) * PANEL + COLUMN_OF(u, j);
      const Column column = column_of(((const ushort*)units[r].scales)[j], ((const uchar*)units[r].zeros)[j]);
      const uint x = ((const uint*)units[r].words[0])[j], y = ((const uint*)units[r].words[1])[j];
      UNROLLED(half_of, 8 / WEIGHT_BITS) {                                // of a word with 4 bits: 16 steps
        const uint chunk = CHUNK_OF(u) * 4 + 2 * half_of + WORD_PAIR(u);  // of 8 elements
        const uint at = chunk / 8 * (B_LINES * 128) + line * 128 + (chunk % 8 ^ line % 8) * 16;
        *(__local uint4*)(tile + at) = (uint4)(weights_of(x, column, half_of), weights_of(x >> 8, column, half_of),
                                               weights_of(y, column, half_of), weights_of(y >> 8, column, half_of));
      }
    }
  }
}

// Each of the SHARES producers fills every SHARES-th pair.
static ALWAYS_INLINE void produce_tile(Ring* ring, const Tile* tile, const Call* call, const uint item_of_all) {
  const int share = (int)from_first_lane(item_of_all / PRODUCERS);
  const uint item = item_of_all % PRODUCERS;
  Sources from = {tile->a, tile->b};
  const uint alignment = alignment_of(from.a, call->a_step);
  const int blocks = blocks_of(tile);
  const Weights weights = find_weights(tile, call, item);
  Unit next[AHEAD][ROUNDS];
  UNROLLED(i, AHEAD) load_units(next[i], &weights, share + i * SHARES, item);
  for (int i = 0; i < share; ++i) skip_block(ring, &from, call);
#pragma unroll 1
  for (int block = share; block < blocks; block += SHARES) {
    Unit now[ROUNDS];
    UNROLLED(r, ROUNDS) now[r] = next[0][r];
    UNROLLED(i, AHEAD - 1) {
      UNROLLED(r, ROUNDS) next[i][r] = next[i + 1][r];
    }
    load_units(next[AHEAD - 1], &weights, block + AHEAD * SHARES, item);
    const int steps = tile->depth - block * KL;
    wait_until_empty(ring);
    __local uchar* pair = ring->tiles + ring->buffer * (A_BYTES + B_BYTES);
    if (alignment >= CHUNK_BYTES && tile->rows == ML && steps >= KL) {
      copy_chunks(pair, from.a, call->a_step, A_SHAPE, false, ML, item);
    } else {
      copy_existing(pair, from.a, call->a_step, A_SHAPE, alignment,
                    steps >= KL && is_whole(A_ALONG_K, tile->rows, alignment), min(steps, KL), tile->rows, item);
    }
    store_units(pair + A_BYTES, now, item);
    arrive_with_copies(full_barrier(ring), true);
    UNROLLED(i, SHARES) skip_block(ring, &from, call);
  }
}
