// The barriers by which producer and consumers of warpgroup_tile meet, and how the producer copies tiles of op(A) and
// op(B) to local memory: in chunks of 16 bytes where lines are aligned to that, else in smaller pieces or through
// registers. warpgroup_tile.cl has the picture of a tile there.

#define PRODUCERS 128               // work-items of the producer
#define CONSUMERS ((ML + 63) / 64)  // warpgroups

// Blocks of a line, and elements of each. In local memory each block of each line takes 128 bytes, half of them unused
// by lines of 32 elements.
#define BLOCKS(line) ((line) < 64 ? 1 : (line) / 64)
#define BLOCK(line) ((line) < 64 ? (line) : 64)
#define A_BYTES (A_LINES * BLOCKS(A_LINE) * 128)  // of a tile
#define B_BYTES (B_LINES * BLOCKS(B_LINE) * 128)

#define SYNCHRONIZE_WARP __asm__ volatile("bar.warp.sync -1;" ::: "memory")
// Between the consumers and one warp of the producer: C has again what it had before tensor copies.
#define WAIT_FOR_OLD_C __asm__ volatile("bar.sync 2, %0;" ::"r"(128 * CONSUMERS + 32) : "memory")

// ---- Barriers ----

static ALWAYS_INLINE void start_barrier(const uint barrier, const int arrivals) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

static ALWAYS_INLINE void arrive(const uint barrier) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives when all copies that this work-item has started are complete; does not wait for that. stored: it has also
// stored to local memory, which only an arrival of its own orders.
static ALWAYS_INLINE void arrive_with_copies(const uint barrier, const bool stored) {
  if (stored) {
    __asm__ volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");  // one more to expect
    arrive(barrier);
  } else {
    __asm__ volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
  }
}

// Waits until the phase with this parity is over.
static ALWAYS_INLINE void wait_for(const uint barrier, const uint parity) {
  __asm__ volatile(
      "{\n"
      ".reg .pred over;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Orders what was copied or stored to local memory before what the matrix units or tensor copies do there.
#define SHOW_LOCAL_MEMORY __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory")

// ---- Copies ----

// How many work-items, neighbours, copy a block of a line in chunks or pieces of `bytes`, and how many lines all
// work-items copy at once.
#define NEIGHBOURS(line, bytes) (BLOCK(line) * 2 / (bytes))
#define LINES_AT_ONCE(line, bytes) (PRODUCERS / NEIGHBOURS(line, bytes))

// Chunks of a work-item, in a tile of `lines` lines of `line` elements, and in one block of all lines. All have the
// same place in their block, and the same place in a line of local memory.
#define CHUNKS(lines, line) ((lines) * (line) / LOAD_WIDTH / PRODUCERS)
#define CHUNKS_OF_BLOCK(lines, line) ((lines) / LINES_AT_ONCE(line, CHUNK_BYTES))

// The line of chunk number r of a work-item, and its first element in that line.
static ALWAYS_INLINE uint chunk_line(const int r, const int lines, const int line, const uint item) {
  return item / NEIGHBOURS(line, CHUNK_BYTES) + r % CHUNKS_OF_BLOCK(lines, line) * LINES_AT_ONCE(line, CHUNK_BYTES);
}
static ALWAYS_INLINE uint chunk_place(const int r, const int lines, const int line, const uint item) {
  return r / CHUNKS_OF_BLOCK(lines, line) * 64 + item % NEIGHBOURS(line, CHUNK_BYTES) * LOAD_WIDTH;
}

// Where local memory has it, in bytes from the start of the tile.
static ALWAYS_INLINE uint chunk_offset(const int r, const int lines, const int line, const uint item) {
  const uint chunk = item % NEIGHBOURS(line, CHUNK_BYTES), first_line = item / NEIGHBOURS(line, CHUNK_BYTES);
  return r / CHUNKS_OF_BLOCK(lines, line) * (lines * 128) + chunk_line(r, lines, line, item) * 128 +
         (chunk ^ first_line % 8) * 16;
}

// The 16 bytes that begin `start` bytes after the first of 32.
static ALWAYS_INLINE uint4 shifted(const uint4 low, const uint4 high, const uint start) {
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
  return (uint4)((uint)(((ulong)b1 << 32 | b0) >> half_word), (uint)(((ulong)b2 << 32 | b1) >> half_word),
                 (uint)(((ulong)b3 << 32 | b2) >> half_word), (uint)(((ulong)b4 << 32 | b3) >> half_word));
}

// Ones in the first `count` of 8 elements, zeros in the others.
static ALWAYS_INLINE uint4 first_elements(const int count) {
  const int4 exist = count - (int4)(0, 2, 4, 6);
  return select(select((uint4)(0), (uint4)(0xffff), exist == 1), (uint4)(~0U), exist > 1);
}

#define SOURCE(r) (source + (chunk_line(r, lines, line, item) * step + chunk_place(r, lines, line, item)))

// Copies a tile of `lines` lines of `line` elements, `step` elements apart, to local memory, from lines that are
// aligned to chunks. edge: only `length` of its rows or columns of C, whole chunks. The others do not reach C, so that
// they may be anything.
static ALWAYS_INLINE void copy_chunks(__local uchar* tile, __global const element* source, const ulong step,
                                      const int lines, const int line, const bool along_k, const bool edge,
                                      const int length, const uint item) {
  uint to = local_address(tile) + chunk_offset(0, lines, line, item);
  HIDE("r", to);
#pragma unroll
  for (int r = 0; r < CHUNKS(lines, line); ++r) {
    if (!edge || (int)(along_k ? chunk_line(r, lines, line, item) : chunk_place(r, lines, line, item)) < length) {
      COPY_ASYNC(to + (chunk_offset(r, lines, line, item) - chunk_offset(0, lines, line, item)), SOURCE(r),
                 CHUNK_BYTES);
    }
  }
}

// Pieces of 4 or 8 bytes, to which lines are aligned. A work-item's first line, its first element in each block, and
// where local memory has the first one.
#define FIRST_LINE(line, size, item) ((int)(item) / NEIGHBOURS(line, size))
#define FIRST_PLACE(line, size, item) ((int)(item) % NEIGHBOURS(line, size) * ((size) / 2))
static ALWAYS_INLINE uint piece_offset(const int line, const int size, const uint item) {
  const uint first_line = FIRST_LINE(line, size, item), in_line = 2 * FIRST_PLACE(line, size, item);
  return first_line * 128 + (in_line / 16 ^ first_line % 8) * 16 + in_line % 16;
}

// The same in whole pieces, at an edge or not.
static ALWAYS_INLINE void copy_pieces(__local uchar* tile, __global const element* source, ulong step, const int lines,
                                      const int line, const int size, const bool along_k, const int length, uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const int first_line = FIRST_LINE(line, size, item), place = FIRST_PLACE(line, size, item);
  __global const element* from = source + (first_line * step + place);
  uint even = local_address(tile) + piece_offset(line, size, item);
  HIDE("r", even);
  const uint odd = even ^ 64;  // as the swizzle of every second line that a work-item copies, if those are 4 apart
#pragma unroll 8
  for (int l = 0; l < lines; l += LINES_AT_ONCE(line, size)) {
#pragma unroll
    for (int block = 0; block < BLOCKS(line); ++block) {
      if ((along_k ? l + first_line : block * 64 + place) < length) {
        const uint to = (l % 8 == 0 ? even : odd) + (block * lines + l) * 128;
        if (size == 8) {
          COPY_PIECE("8", to, from + block * 64, 8);
        } else {
          COPY_PIECE("4", to, from + block * 64, 4);
        }
      }
    }
    from += LINES_AT_ONCE(line, size) * step;
    HIDE("l", from);
  }
}

// Copies those of the tile's elements that exist, full_lines x full_line; the others become zero.
static ALWAYS_INLINE void copy_some_chunks(__local uchar* tile, __global const element* source, const ulong step,
                                           const int lines, const int line, const int full_lines, const int full_line,
                                           const uint item) {
#pragma unroll
  for (int r = 0; r < CHUNKS(lines, line); ++r) {
    const int elements = clamp(full_line - (int)chunk_place(r, lines, line, item), 0, LOAD_WIDTH);
    COPY_ASYNC(local_address(tile) + chunk_offset(r, lines, line, item), SOURCE(r),
               (int)chunk_line(r, lines, line, item) < full_lines ? 2 * elements : 0);
  }
}

// The same in pieces.
static ALWAYS_INLINE void copy_some_pieces(__local uchar* tile, __global const element* source, ulong step,
                                           const int lines, const int line, const int size, const int full_lines,
                                           const int full_line, uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const uint offset = local_address(tile) + piece_offset(line, size, item);
  const int lines_left = full_lines - FIRST_LINE(line, size, item);
#pragma unroll 1
  for (int block = 0; block < BLOCKS(line); ++block) {
    const int place = block * 64 + FIRST_PLACE(line, size, item);
    const int bytes = 2 * clamp(full_line - place, 0, size / 2);
    __global const element* from = source + (FIRST_LINE(line, size, item) * step + place);
#pragma unroll 8
    for (int l = 0; l < lines; l += LINES_AT_ONCE(line, size)) {
      const uint to = (offset ^ l % 8 * 16) + (block * lines + l) * 128;
      const int existing = l < lines_left ? bytes : 0;
      if (size == 8) {
        COPY_PIECE("8", to, from, existing);
      } else {
        COPY_PIECE("4", to, from, existing);
      }
      from += LINES_AT_ONCE(line, size) * step;
    }
  }
}

// The same from lines that are aligned to an element only, through registers. Reads whole 16 bytes, aligned, that hold
// at least one element of the tile.
#define AT_ONCE \
  (ML < 64 || NL < 64 ? 2 : 4)  // chunks; a work-item has only two of 32 lines, or of 64 lines of 32 elements
static ALWAYS_INLINE void copy_unaligned(__local uchar* tile, __global const element* source, ulong step,
                                         const int lines, const int line, const int full_lines, const int full_line,
                                         uint item) {
  HIDE("l", step);
  HIDE("r", item);
  const int first_line = (int)item / NEIGHBOURS(line, CHUNK_BYTES);
  const int lines_at_once = LINES_AT_ONCE(line, CHUNK_BYTES);
#pragma unroll 1
  for (int block = 0; block < BLOCKS(line); ++block) {
    const int at = block * 64 + item % NEIGHBOURS(line, CHUNK_BYTES) * LOAD_WIDTH;
    const int count = clamp(full_line - at, 0, LOAD_WIDTH);
    __global const element* first = source + (first_line * step + at);
    const uint start = (uint)(uintptr_t)first % 16;  // of all lines that this work-item copies
    __global const uchar* from = (__global const uchar*)first - start;
    const uint4 mask = first_elements(count);
    __local uchar* to = tile + block * (lines * 128) + chunk_offset(0, lines, line, item);
#pragma unroll 1
    for (int l = 0; l < lines; l += lines_at_once * AT_ONCE) {
      uint4 low[AT_ONCE];
      uint4 high[AT_ONCE];
#pragma unroll
      for (int r = 0; r < AT_ONCE; ++r) {
        const int existing = l + lines_at_once * r < full_lines - first_line ? count : 0;
        __global const uint4* words = (__global const uint4*)(from + 2 * lines_at_once * r * step);
        low[r] = existing > 0 ? words[0] : (uint4)(0);
        high[r] = start + 2 * existing > 16 ? words[1] : (uint4)(0);
      }
      // All loads start before the first shift. Without the barrier, the assembler makes each chunk wait for the one
      // before where a work-item has few registers.
      SYNCHRONIZE_WARP;
#pragma unroll
      for (int r = 0; r < AT_ONCE; ++r) {
        *(__local uint4*)(to + (l + lines_at_once * r) * 128) = mask & shifted(low[r], high[r], start);
      }
      from += 2 * lines_at_once * AT_ONCE * step;
    }
  }
}

// Whether `length` rows or columns of C are whole chunks or pieces, in lines aligned to `alignment` bytes.
static ALWAYS_INLINE bool is_whole(const bool along_k, const int length, const uint alignment) {
  return along_k || 2 * length % min(alignment, (uint)CHUNK_BYTES) == 0;
}

// Copies a tile of `steps` steps of k, perhaps more than it has, by `length` rows or columns of C. whole: all steps
// exist, and is_whole.
static ALWAYS_INLINE void copy_existing(__local uchar* tile, __global const element* source, const ulong step,
                                        const int lines, const int line, const bool along_k, const uint alignment,
                                        const bool whole, const int steps, const int length, const uint item) {
  const int full_lines = along_k ? length : steps;
  const int full_line = along_k ? steps : length;
#define COPY_PIECES(size)                                                                 \
  if (whole) {                                                                            \
    copy_pieces(tile, source, step, lines, line, size, along_k, length, item);            \
  } else {                                                                                \
    copy_some_pieces(tile, source, step, lines, line, size, full_lines, full_line, item); \
  }
  if (alignment >= CHUNK_BYTES && whole) {
    copy_chunks(tile, source, step, lines, line, along_k, true, length, item);
  } else if (alignment >= CHUNK_BYTES) {
    copy_some_chunks(tile, source, step, lines, line, full_lines, full_line, item);
  } else if (alignment == 8) {
    COPY_PIECES(8)
  } else if (alignment == 4) {
    COPY_PIECES(4)
  } else {
    copy_unaligned(tile, source, step, lines, line, full_lines, full_line, item);
  }
}
