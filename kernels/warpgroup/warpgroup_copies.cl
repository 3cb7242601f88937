// How the producer of warpgroup_tile copies tiles of op(A) and op(B) to local memory: in chunks of 16 bytes where lines
// are aligned to that, else in smaller pieces or through registers. warpgroup_tile.cl has the picture of a tile there.

// The tiles of an operand, constants.
typedef struct {
  int lines, line;  // lines of a tile, elements of a line
  bool along_k;     // lines run along k; else along the rows (columns) of C
} Shape;
#define A_SHAPE ((Shape){A_LINES, A_LINE, A_ALONG_K})
#define B_SHAPE ((Shape){B_LINES, B_LINE, B_ALONG_K})

// How many work-items, neighbours, copy a block of a line in chunks or pieces of `bytes`, and how many lines all
// work-items copy at once.
#define NEIGHBOURS(s, bytes) (BLOCK((s).line) * OPERAND_BYTES / (bytes))
#define LINES_AT_ONCE(s, bytes) (PRODUCERS / NEIGHBOURS(s, bytes))

// Chunks of a work-item, in a tile of `lines` lines of `line` elements, and in one block of all lines. All have the
// same place in their block, and the same place in a line of local memory.
#define CHUNKS(s) ((s).lines * (s).line / LOAD_WIDTH / PRODUCERS)
#define CHUNKS_OF_BLOCK(s) ((s).lines / LINES_AT_ONCE(s, CHUNK_BYTES))

// The line of chunk number r of a work-item, and its first element in that line.
static ALWAYS_INLINE uint chunk_line(const int r, const Shape s, const uint item) {
  return item / NEIGHBOURS(s, CHUNK_BYTES) + r % CHUNKS_OF_BLOCK(s) * LINES_AT_ONCE(s, CHUNK_BYTES);
}
static ALWAYS_INLINE uint chunk_place(const int r, const Shape s, const uint item) {
  return r / CHUNKS_OF_BLOCK(s) * LINE_ELEMENTS + item % NEIGHBOURS(s, CHUNK_BYTES) * LOAD_WIDTH;
}

// Its place in local memory, in bytes from the start of the tile.
static ALWAYS_INLINE uint chunk_offset(const int r, const Shape s, const uint item) {
  const uint chunk = item % NEIGHBOURS(s, CHUNK_BYTES), first_line = item / NEIGHBOURS(s, CHUNK_BYTES);
  return r / CHUNKS_OF_BLOCK(s) * (s.lines * 128) + chunk_line(r, s, item) * 128 + (chunk ^ first_line % 8) * 16;
}

// The 16 bytes that begin `start` bytes after the first of 32.
static ALWAYS_INLINE uint4 shifted(const uint4 low, const uint4 high, const uint start) {
  // All eight words, moved by one word and by two if need be, then by less.
  const bool one = start & 4;
  const bool two = start & 8;
  const uint a0 = one ? low.y : low.x;
  const uint a1 = one ? low.z : low.y;
  const uint a2 = one ? low.w : low.z;
  const uint a3 = one ? high.x : low.w;
  const uint a4 = one ? high.y : high.x;
  const uint a5 = one ? high.z : high.y;
  const uint a6 = one ? high.w : high.z;
  const uint b0 = two ? a2 : a0;
  const uint b1 = two ? a3 : a1;
  const uint b2 = two ? a4 : a2;
  const uint b3 = two ? a5 : a3;
  const uint b4 = two ? a6 : a4;
  const uint bits = start % 4 * 8;
  return (uint4)((uint)(((ulong)b1 << 32 | b0) >> bits), (uint)(((ulong)b2 << 32 | b1) >> bits),
                 (uint)(((ulong)b3 << 32 | b2) >> bits), (uint)(((ulong)b4 << 32 | b3) >> bits));
}

// Ones in the first `count` elements of a chunk, zeros in the others.
static ALWAYS_INLINE uint4 first_elements(const int count) {
#if OPERAND_BYTES == 1
  const int4 exist = count - (int4)(0, 4, 8, 12);
  return select(((uint4)(1) << as_uint4(clamp(exist, 0, 3) * 8)) - 1, (uint4)(~0U), exist > 3);
#else
  const int4 exist = count - (int4)(0, 2, 4, 6);
  return select(select((uint4)(0), (uint4)(0xffff), exist == 1), (uint4)(~0U), exist > 1);
#endif
}

// The first element of chunk number r.
static ALWAYS_INLINE __global const operand* chunk_source(__global const operand* source, const ulong step, const int r,
                                                          const Shape s, const uint item) {
  return source + (chunk_line(r, s, item) * step + chunk_place(r, s, item));
}

// Copies a tile of `lines` lines of `line` elements, `step` elements apart, to local memory, from lines that are
// aligned to chunks. edge: only `length` of its rows or columns of C, whole chunks. The others do not reach C, so that
// they may be anything.
static ALWAYS_INLINE void copy_chunks(__local uchar* tile, __global const operand* source, const ulong step,
                                      const Shape s, const bool edge, const int length, const uint item) {
  uint to = local_address(tile) + chunk_offset(0, s, item);
  HIDE("r", to);
  UNROLLED(r, CHUNKS(s)) {
    if (!edge || (int)(s.along_k ? chunk_line(r, s, item) : chunk_place(r, s, item)) < length)
      COPY_ASYNC(to + (chunk_offset(r, s, item) - chunk_offset(0, s, item)), chunk_source(source, step, r, s, item),
                 CHUNK_BYTES);
  }
}

// Pieces of 4 or 8 bytes, to which lines are aligned. A work-item's first line, its first element in each block, and
// where local memory has the first one.
#define FIRST_LINE(s, size, item) ((int)(item) / NEIGHBOURS(s, size))
#define FIRST_PLACE(s, size, item) ((int)(item) % NEIGHBOURS(s, size) * ((size) / OPERAND_BYTES))
static ALWAYS_INLINE uint piece_offset(const Shape s, const int size, const uint item) {
  const uint first_line = FIRST_LINE(s, size, item), in_line = OPERAND_BYTES * FIRST_PLACE(s, size, item);
  return first_line * 128 + (in_line / 16 ^ first_line % 8) * 16 + in_line % 16;
}

// The same in whole pieces, at an edge or not.
static ALWAYS_INLINE void copy_pieces(__local uchar* tile, __global const operand* source, ulong step, const Shape s,
                                      const int size, const int length, uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const int first_line = FIRST_LINE(s, size, item), place = FIRST_PLACE(s, size, item);
  __global const operand* from = source + (first_line * step + place);
  uint even = local_address(tile) + piece_offset(s, size, item);
  HIDE("r", even);
  const uint odd = even ^ 64;  // as the swizzle of every second line that a work-item copies, if those are 4 apart
#pragma unroll 8
  for (int l = 0; l < s.lines; l += LINES_AT_ONCE(s, size)) {
    UNROLLED(block, BLOCKS(s.line)) {
      if ((s.along_k ? l + first_line : block * LINE_ELEMENTS + place) < length) {
        const uint to = (l % 8 == 0 ? even : odd) + (block * s.lines + l) * 128;
        copy_piece(size, to, from + block * LINE_ELEMENTS, size);
      }
    }
    from += LINES_AT_ONCE(s, size) * step;
    HIDE("l", from);
  }
}

// Copies those of the tile's elements that exist, full_lines x full_line; the others become zero.
static ALWAYS_INLINE void copy_some_chunks(__local uchar* tile, __global const operand* source, const ulong step,
                                           const Shape s, const int full_lines, const int full_line, const uint item) {
  UNROLLED(r, CHUNKS(s)) {
    const int elements = clamp(full_line - (int)chunk_place(r, s, item), 0, LOAD_WIDTH);
    COPY_ASYNC(local_address(tile) + chunk_offset(r, s, item), chunk_source(source, step, r, s, item),
               (int)chunk_line(r, s, item) < full_lines ? OPERAND_BYTES * elements : 0);
  }
}

// The same in pieces.
static ALWAYS_INLINE void copy_some_pieces(__local uchar* tile, __global const operand* source, ulong step,
                                           const Shape s, const int size, const int full_lines, const int full_line,
                                           uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const uint offset = local_address(tile) + piece_offset(s, size, item);
  const int lines_left = full_lines - FIRST_LINE(s, size, item);
#pragma unroll 1
  for (int block = 0; block < BLOCKS(s.line); ++block) {
    const int place = block * LINE_ELEMENTS + FIRST_PLACE(s, size, item);
    const int bytes = OPERAND_BYTES * clamp(full_line - place, 0, size / OPERAND_BYTES);
    __global const operand* from = source + (FIRST_LINE(s, size, item) * step + place);
#pragma unroll 8
    for (int l = 0; l < s.lines; l += LINES_AT_ONCE(s, size)) {
      const uint to = (offset ^ l % 8 * 16) + (block * s.lines + l) * 128;
      const int existing = l < lines_left ? bytes : 0;
      copy_piece(size, to, from, existing);
      from += LINES_AT_ONCE(s, size) * step;
    }
  }
}

// The same from lines that are aligned to an element only, through registers. Reads whole 16 bytes, aligned, that hold
// at least one element of the tile.
#define AT_ONCE \
  (ML < 32 ? 1 : ML < 64 || NL < 64 ? 2 : 4)  // chunks; a work-item has only two of 32 s.lines, or of 64 of 32 elements
static ALWAYS_INLINE void copy_unaligned(__local uchar* tile, __global const operand* source, ulong step, const Shape s,
                                         const int full_lines, const int full_line, uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const int first_line = (int)item / NEIGHBOURS(s, CHUNK_BYTES);
  const int lines_at_once = LINES_AT_ONCE(s, CHUNK_BYTES);
#pragma unroll 1
  for (int block = 0; block < BLOCKS(s.line); ++block) {
    const int at = block * LINE_ELEMENTS + item % NEIGHBOURS(s, CHUNK_BYTES) * LOAD_WIDTH;
    const int count = clamp(full_line - at, 0, LOAD_WIDTH);
    __global const operand* first = source + (first_line * step + at);
    const uint start = (uint)(uintptr_t)first % 16;  // of all s.lines that this work-item copies
    __global const uchar* from = (__global const uchar*)first - start;
    const uint4 mask = first_elements(count);
    __local uchar* to = tile + block * (s.lines * 128) + chunk_offset(0, s, item);
#pragma unroll 1
    for (int l = 0; l < s.lines; l += lines_at_once * AT_ONCE) {
      uint4 low[AT_ONCE];
      uint4 high[AT_ONCE];
      UNROLLED(r, AT_ONCE) {
        const int existing = l + lines_at_once * r < full_lines - first_line ? count : 0;
        __global const uint4* words = (__global const uint4*)(from + OPERAND_BYTES * lines_at_once * r * step);
        low[r] = existing > 0 ? words[0] : (uint4)(0);
        high[r] = start + OPERAND_BYTES * existing > 16 ? words[1] : (uint4)(0);
      }
      // All loads start before the first shift. Without the barrier, the assembler makes each chunk wait for the one
      // before where a work-item has few registers.
      SYNCHRONIZE_WARP;
      UNROLLED(r, AT_ONCE)
        *(__local uint4*)(to + (l + lines_at_once * r) * 128) = mask & shifted(low[r], high[r], start);
      from += OPERAND_BYTES * lines_at_once * AT_ONCE * step;
    }
  }
}

// True if `length` rows or columns of C are whole chunks or pieces, in lines aligned to `alignment` bytes.
static ALWAYS_INLINE bool is_whole(const bool along_k, const int length, const uint alignment) {
  return along_k || OPERAND_BYTES * length % min(alignment, (uint)CHUNK_BYTES) == 0;
}

// Copies a tile of `steps` steps of k, perhaps more than it has, by `length` rows or columns of C. whole: all steps
// exist, and is_whole.
static ALWAYS_INLINE void copy_existing(__local uchar* tile, __global const operand* source, const ulong step,
                                        const Shape s, const uint alignment, const bool whole, const int steps,
                                        const int length, const uint item) {
  const int full_lines = s.along_k ? length : steps;
  const int full_line = s.along_k ? steps : length;
#define COPY_PIECES(size)                                                       \
  if (whole) {                                                                  \
    copy_pieces(tile, source, step, s, size, length, item);                     \
  } else {                                                                      \
    copy_some_pieces(tile, source, step, s, size, full_lines, full_line, item); \
  }
  if (alignment >= CHUNK_BYTES && whole) {
    copy_chunks(tile, source, step, s, true, length, item);
  } else if (alignment >= CHUNK_BYTES) {
    copy_some_chunks(tile, source, step, s, full_lines, full_line, item);
  } else if (alignment == 8) {
    COPY_PIECES(8)
  } else if (alignment == 4) {
    COPY_PIECES(4)
  } else {
    copy_unaligned(tile, source, step, s, full_lines, full_line, item);
  }
}

// ---- The producer ----

// The first elements of the next block of k.
typedef struct {
  __global const operand *a, *b;
} Sources;

static ALWAYS_INLINE void skip_block(Ring* ring, Sources* from, const Call* call) {
  from->a += A_ALONG_K ? (ulong)KL : KL * call->a_step;
  from->b += B_ALONG_K ? (ulong)KL : KL * call->b_step;
  advance(ring);
}

// Hands a pair over to the consumers when this work-item's copies have arrived, and goes on to the next block. stored:
// the work-item has also stored to local memory.
static ALWAYS_INLINE void finish_block(Ring* ring, Sources* from, const Call* call, const bool stored) {
  arrive_with_copies(full_barrier(ring), stored);
  skip_block(ring, from, call);
}

// A pair of which all chunks exist.
static ALWAYS_INLINE void copy_whole_pair(Ring* ring, Sources* from, const Call* call, const uint item) {
  wait_until_empty(ring);
  __local uchar* pair = ring->tiles + ring->buffer * (A_BYTES + B_BYTES);
  copy_chunks(pair, from->a, call->a_step, A_SHAPE, false, ML, item);
  copy_chunks(pair + A_BYTES, from->b, call->b_step, B_SHAPE, false, NL, item);
  finish_block(ring, from, call, false);
}

// A pair of `steps` steps of k of any tile; `whole` as in copy_existing.
static ALWAYS_INLINE void copy_pair(Ring* ring, Sources* from, const Call* call, const Tile* tile, const bool whole,
                                    const int steps, const uint a_alignment, const uint b_alignment, const uint item) {
  wait_until_empty(ring);
  __local uchar* pair = ring->tiles + ring->buffer * (A_BYTES + B_BYTES);
  copy_existing(pair, from->a, call->a_step, A_SHAPE, a_alignment, whole, steps, tile->rows, item);
  copy_existing(pair + A_BYTES, from->b, call->b_step, B_SHAPE, b_alignment, whole, steps, tile->columns, item);
  finish_block(ring, from, call, min(a_alignment, b_alignment) < 4);
}

#if READS_WEIGHTS
static ALWAYS_INLINE void produce_tile(Ring* ring, const Tile* tile, const Call* call, const uint item);
#else
// Copies all pairs of a tile of C.
static ALWAYS_INLINE void produce_tile(Ring* ring, const Tile* tile, const Call* call, const uint item) {
  Sources from = {tile->a, tile->b};
  const uint a_alignment = alignment_of(from.a, call->a_step);
  const uint b_alignment = alignment_of(from.b, call->b_step);
  const int blocks = blocks_of(tile);
  // Variants with tensor copies seldom come here, and have no registers for more loops.
  const bool fast =
      !TENSOR_COPIES && is_whole(A_ALONG_K, tile->rows, a_alignment) && is_whole(B_ALONG_K, tile->columns, b_alignment);
  const int whole = fast ? min(blocks, tile->depth / KL) : 0;
  int block = 0;
  // A loop for each kind of copies: with small tiles the consumers wait for the producer's instructions.
  if (min(a_alignment, b_alignment) >= CHUNK_BYTES && tile->rows == ML && tile->columns == NL) {
    for (; block < whole; ++block) copy_whole_pair(ring, &from, call, item);
  }
  for (; block < whole; ++block) copy_pair(ring, &from, call, tile, true, KL, a_alignment, b_alignment, item);
  for (; block < blocks; ++block)
    copy_pair(ring, &from, call, tile, false, tile->depth - block * KL, a_alignment, b_alignment, item);
}
#endif

// Copies may still be on their way afterwards: the consumers wait for every block.
static ALWAYS_INLINE void produce(Ring* ring, const Turns* turns, const Call* call, const uint item) {
  for (uint turn = 0; turn < turns->count; ++turn) {
    const Tile tile = tile_of_turn(turns, turn, call);
    produce_tile(ring, &tile, call, item);
    finish_turn(turns, turn, &tile, call, PRODUCERS);
  }
}
