// register_tile where C has few rows or columns: lines of the one operand by all lines of the other, straight from
// memory.

#if MULTIPLIES_LINES

// register_tile.cl.
static ALWAYS_INLINE void update_tile(__global output* c, const int ldc, realv sum[MS][VECTORS], const int rows,
                                      const int columns, const updated alpha, const updated beta, const Epilogue* e,
                                      const int row, const int column);
static inline size_t equal_tile(const size_t extent, const size_t largest, const size_t unit);

#define LINES 8                                                          // the most
#define LINE_GROUP 4                                                     // lines that are multiplied at a time
#define SLOTS (((ML > NL ? ML : NL) + VECTOR_WIDTH - 1) / VECTOR_WIDTH)  // vectors of the other lines
#define LINE_SUMS (VECTOR_WIDTH * (int)sizeof(real) < 64 ? 8 : 16)       // that are in registers
#define LINE_AHEAD 256                                                   // elements that are prefetched of each line

// An operand's lines: the first one, and the distances from one to the next and from one step of k to the next.
typedef struct {
  __global const operand* first;
  ulong step, p_step;
} Lines;

// Copies `count` lines, the last one again where a group is not full, `packed_step` apart.
static inline void pack_lines(real* packed, const int packed_step, const Lines lines, const int count,
                              const int depth) {
  for (int r = 0; r < (count + LINE_GROUP - 1) / LINE_GROUP * LINE_GROUP; ++r) {
    __global const operand* line = lines.first + min(r, count - 1) * lines.step;
    int p = 0;
    if (lines.p_step == 1) {
      for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH)
        VSTORE_REAL(VLOAD_B(line + p), packed + (r * packed_step + p));
    }
    for (; p < depth; ++p) packed[r * packed_step + p] = LOAD_B(line + p * lines.p_step);
    if (count == 1) return;
  }
}

// sums += the products of packed lines with VECTOR_WIDTH others that lie along k in memory. Until the end each sum is a
// vector.
static ALWAYS_INLINE void multiply_along_k(const int group, realv* sums, const real* packed, const int packed_step,
                                           const Lines others, const int depth) {
  realv square[LINE_GROUP][VECTOR_WIDTH];
  const int at_once = min(LINE_SUMS / LINE_GROUP, VECTOR_WIDTH);
  for (int q = 0; q < VECTOR_WIDTH; q += at_once) {
    __global const operand* from = others.first + q * others.step;
    realv sum[LINE_SUMS];
    UNROLLED(s, LINE_SUMS) sum[s] = (realv)(0);
    int p = 0;
    for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
      UNROLLED(t, at_once) {
        PREFETCH_LINE(from + t * others.step + p + LINE_AHEAD);
        const realv other = VLOAD_B(from + t * others.step + p);
        UNROLLED(r, group) sum[t * group + r] += VLOAD_REAL(packed + (r * packed_step + p)) * other;
      }
    }
    UNROLLED(t, at_once) {
      UNROLLED(r, group) square[r][q + t] = sum[t * group + r];
      for (int rest = p; rest < depth; ++rest) {
        const real other = LOAD_B(from + t * others.step + rest);
        for (int r = 0; r < group; ++r) ((real*)&square[r][q + t])[0] += packed[r * packed_step + rest] * other;
      }
    }
  }
  for (int r = 0; r < group; ++r) {
    transpose(square[r]);
    UNROLLED(q, VECTOR_WIDTH) sums[r * SLOTS] += square[r][q];
  }
}

// Where the vector of this number begins. If there are no whole vectors, the last two overlap.
static inline int first_of_slot(const int slot, const int extent) {
  return min(slot * VECTOR_WIDTH, extent - VECTOR_WIDTH);
}

// The same for up to `at_once` vectors of neighbours.
static ALWAYS_INLINE void multiply_across_k(const int group, realv* sums, const Lines lines, const int count,
                                            const Lines others, const int slot, const int extent, const int depth) {
  const int at_once = LINE_SUMS / LINE_GROUP;
  ulong line[LINE_GROUP];
  UNROLLED(r, group) line[r] = min(r, count - 1) * lines.step;
  realv sum[LINE_SUMS];
  int first[LINE_SUMS / LINE_GROUP];
  UNROLLED(s, LINE_SUMS) sum[s] = (realv)(0);
  UNROLLED(t, at_once) first[t] = first_of_slot(slot + t, extent);
  __global const operand* from = others.first;
  __global const operand* of_lines = lines.first;
  for (int p = 0; p < depth; ++p) {
    realv other[LINE_SUMS / LINE_GROUP];
    UNROLLED(t, at_once) {
      PREFETCH_LINE(from + A_AHEAD * others.p_step + first[t]);
      other[t] = VLOAD_B(from + first[t]);
    }
    UNROLLED(r, group) {
      const real x = LOAD_B(of_lines + line[r]);
      UNROLLED(t, at_once) sum[r * at_once + t] += x * other[t];
    }
    from += others.p_step;
    of_lines += lines.p_step;
  }
  for (int t = 0; t < at_once && slot + t < SLOTS; ++t)
    for (int r = 0; r < group; ++r) sums[r * SLOTS + t] += sum[r * at_once + t];
}

// sums += the products of a group of lines, of which `count` exist, with all others, in a block of k.
static ALWAYS_INLINE void multiply_group(const int group, realv* sums, const real* packed, const int packed_step,
                                         const Lines lines, const int count, const Lines others, const int slot,
                                         const int extent, const int depth) {
  if (others.p_step == 1) {
    const Lines some = {others.first + first_of_slot(slot, extent) * others.step, others.step, 1};
    multiply_along_k(group, sums, packed, packed_step, some, depth);
  } else {
    multiply_across_k(group, sums, lines, count, others, slot, extent, depth);
  }
}

// A tile of few rows or columns, a vector of the others or more.
static ALWAYS_INLINE void multiply_lines(const Tile tile, const int is_row, real* packed, Lines lines, Lines others,
                                         const int ldc, const updated alpha, const updated beta, const Epilogue* e) {
  const int count = is_row ? tile.rows : tile.columns;
  const int extent = is_row ? tile.columns : tile.rows;
  const int slots = (extent + VECTOR_WIDTH - 1) / VECTOR_WIDTH;
  const int along_k = others.p_step == 1;
  const int at_once = along_k ? 1 : LINE_SUMS / LINE_GROUP;
  const int block = equal_tile(tile.depth,
                               KL * NL /
                                       (count == 1   ? 1
                                        : count <= 4 ? 4
                                                     : 8) -
                                   VECTOR_WIDTH,
                               VECTOR_WIDTH);
  const int packed_step = block + VECTOR_WIDTH;
  realv sums[LINES * SLOTS];
  for (int s = 0; s < LINES * SLOTS; ++s) sums[s] = (realv)(0);
  for (int done = 0; done < tile.depth; done += block) {
    const int depth = min(block, tile.depth - done);
    if (along_k) pack_lines(packed, packed_step, lines, count, depth);
    for (int slot = 0; slot < slots; slot += at_once) {
      if (count == 1) {
        multiply_group(1, sums + slot, packed, packed_step, lines, 1, others, slot, extent, depth);
        continue;
      }
      for (int r = 0; r < count; r += LINE_GROUP) {
        const Lines some = {lines.first + r * lines.step, lines.step, lines.p_step};
        multiply_group(LINE_GROUP, sums + (r * SLOTS + slot), packed + r * packed_step, packed_step, some, count - r,
                       others, slot, extent, depth);
      }
    }
    lines.first += block * lines.p_step;
    others.first += block * others.p_step;
  }
  for (int r = 0; r < (is_row ? count : 1); ++r) {
    for (int at = 0; at < extent;) {
      const int slot = at / VECTOR_WIDTH, first = first_of_slot(slot, extent);
      const int width = is_row && at == first ? VECTOR_WIDTH : 1;
      realv sum[MS][VECTORS];
      if (width > 1) {
        sum[0][0] = sums[r * SLOTS + slot];
      } else {
        for (int l = r; l < (is_row ? r + 1 : count); ++l)
          ((real*)sum[0])[l - r] = ((const real*)&sums[l * SLOTS + slot])[at - first];
      }
      update_tile(tile.c + (is_row ? r * (ulong)ldc + at : at * (ulong)ldc), ldc, sum, 1, is_row ? width : count, alpha,
                  beta, e, is_row ? r : at, is_row ? at : 0);
      at += width;
    }
  }
}

#endif
