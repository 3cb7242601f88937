// How the producer of warpgroup_tile copies tiles of op(A) and op(B) to local memory: in chunks of 16 bytes where lines
// are aligned to that, else in smaller pieces or through registers. warpgroup_tile.cl has the picture of a tile there.

#define PRODUCERS 128  // work-items of the producer

// Chunks of a work-item, in a tile of `lines` lines of `line` elements. Eight neighbours copy the 128 bytes of a block
// of a line. In all its chunks, a work-item has the same place in the block, and the same place in a line of local
// memory.
#define CHUNKS(lines, line) ((lines) * (line) / LOAD_WIDTH / PRODUCERS)

// The line of chunk number r of a work-item, and its first element in that line.
static ALWAYS_INLINE uint chunk_line(const int r, const int lines, const uint item) {
  return item / 8 + r % (lines / 16) * 16;
}
static ALWAYS_INLINE uint chunk_place(const int r, const int lines, const uint item) {
  return r / (lines / 16) * 64 + item % 8 * LOAD_WIDTH;
}

// Where local memory has it, in bytes from the start of the tile.
static ALWAYS_INLINE uint chunk_offset(const int r, const int lines, const uint item) {
  return r / (lines / 16) * (lines * 128) + chunk_line(r, lines, item) * 128 + ((item ^ item / 8) % 8) * 16;
}

// 16 bytes from any address of elements, of which the first `count` elements exist; the others become zero. Reads whole
// 16 bytes, aligned, that hold at least one of these elements.
static ALWAYS_INLINE uint4 load_unaligned(__global const element* from, const int count) {
  const uint start = (uint)(uintptr_t)from % 16;
  __global const uint4* lower = (__global const uint4*)((__global const uchar*)from - start);
  const uint4 low = count > 0 ? lower[0] : (uint4)(0);
  const uint4 high = start + 2 * count > 16 ? lower[1] : (uint4)(0);
  // All eight words, moved by one word and by two if need be, then by half a word.
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
  const uint half_word = start % 4 * 8;
  const uint4 bits = (uint4)((uint)(((ulong)b1 << 32 | b0) >> half_word), (uint)(((ulong)b2 << 32 | b1) >> half_word),
                             (uint)(((ulong)b3 << 32 | b2) >> half_word), (uint)(((ulong)b4 << 32 | b3) >> half_word));
  const int4 exist = count - (int4)(0, 2, 4, 6);
  return bits & select(select((uint4)(0), (uint4)(0xffff), exist == 1), (uint4)(~0U), exist > 1);
}

// Copies a tile of `lines` lines of `line` elements, `step` elements apart, to local memory, of which full_lines x
// full_line exist; the others become zero. Pieces of `size` bytes, 4 or 8, to which the lines are aligned: neighbours
// copy neighbours, 128 / size work-items the 64 elements of a block of a line.
static ALWAYS_INLINE void copy_pieces(__local uchar* tile, __global const element* source, ulong step, const int lines,
                                      const int line, const uint size, const int full_lines, const int full_line,
                                      uint item) {
  // Hides both from the compiler, which else keeps multiples of them for all blocks of k, in registers that other
  // copies and the sums need.
  __asm__ volatile("" : "+l"(step), "+r"(item));
  const uint in_block = item % (128 / size) * size;  // bytes
  const uint first_line = item / (128 / size);
  const uint lines_at_once = PRODUCERS * size / 128;
#pragma unroll 1
  for (int block = 0; block < line / 64; ++block) {
    const int at = block * 64 + in_block / 2;
    const int bytes = 2 * clamp(full_line - at, 0, (int)size / 2);
    __global const element* from = source + (first_line * step + at);
    __local uchar* block_tile = tile + block * (lines * 128);
#pragma unroll 8
    for (uint l = first_line; l < (uint)lines; l += lines_at_once) {
      __local uchar* to = block_tile + (l * 128 + (in_block / 16 ^ l % 8) * 16 + in_block % 16);
      const int existing = (int)l < full_lines ? bytes : 0;
      if (size == 8) {
        COPY_PIECE("8", to, from, existing);
      } else {
        COPY_PIECE("4", to, from, existing);
      }
      from += lines_at_once * step;
    }
  }
}

// The largest power of two, in bytes and up to CHUNK_BYTES, to which all lines are aligned that start at `pointer` plus
// a multiple of `step` elements.
static ALWAYS_INLINE uint alignment_of(__global const element* pointer, const ulong step) {
  const uint bits = (uint)(uintptr_t)pointer | 2 * (uint)step | CHUNK_BYTES;
  return bits & -bits;
}

#define AT_ONCE 4  // chunks of a copy through registers
#define SOURCE(r) (source + (chunk_line(r, lines, item) * step + chunk_place(r, lines, item)))
#define EXISTING(r)                                                                                                  \
  ((int)chunk_line(r, lines, item) < full_lines ? clamp(full_line - (int)chunk_place(r, lines, item), 0, LOAD_WIDTH) \
                                                : 0)

// The same for lines of any `alignment`, in bytes (alignment_of). whole: all elements exist, aligned to chunks. Lines
// that are aligned to an element only go through registers.
static ALWAYS_INLINE void copy_tile(__local uchar* tile, __global const element* source, const ulong step,
                                    const int lines, const int line, const uint alignment, const bool whole,
                                    const int full_lines, const int full_line, const uint item) {
  if (whole) {
#pragma unroll
    for (int r = 0; r < CHUNKS(lines, line); ++r) {
      COPY_ASYNC(tile + chunk_offset(r, lines, item), SOURCE(r), 16);
    }
  } else if (alignment == CHUNK_BYTES) {
#pragma unroll
    for (int r = 0; r < CHUNKS(lines, line); ++r) {
      COPY_ASYNC(tile + chunk_offset(r, lines, item), SOURCE(r), 2 * EXISTING(r));
    }
  } else if (alignment == 8) {
    copy_pieces(tile, source, step, lines, line, 8, full_lines, full_line, item);
  } else if (alignment == 4) {
    copy_pieces(tile, source, step, lines, line, 4, full_lines, full_line, item);
  } else {
#pragma unroll 1
    for (int first = 0; first < CHUNKS(lines, line); first += AT_ONCE) {
      uint4 bits[AT_ONCE];
#pragma unroll
      for (int r = 0; r < AT_ONCE; ++r) {
        bits[r] = load_unaligned(SOURCE(first + r), EXISTING(first + r));
      }
#pragma unroll
      for (int r = 0; r < AT_ONCE; ++r) {
        *(__local uint4*)(tile + chunk_offset(first + r, lines, item)) = bits[r];
      }
    }
  }
}

// Waits for all copies of this work-item but those of the last `late` blocks, and shows them to the matrix units.
#define FINISH_COPIES(late) \
  WAIT_FOR_COPIES(late);    \
  __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory")
