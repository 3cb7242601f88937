// register_tile where C has few rows or columns: lines of the one operand by all lines of the other, straight from
// memory.

#if MULTIPLIES_LINES

// register_tile.cl.
static ALWAYS_INLINE void update_tile(__global output* c, const int ldc, realv sum[MS][VECTORS], const int rows,
                                      const int columns, const updated alpha, const updated beta, const Epilogue* e,
                                      const int row, const int column);
static inline size_t equal_tile(const size_t extent, const size_t largest, const size_t unit);

// The most, where vectors lie along k and where they do not; the rest of a block then stays in the L1 cache.
#define MOST_LINES(along_k) ((along_k) || NS < 16 ? 8 : 16)
#define LINE_GROUP 4                                                     // lines that are multiplied at a time
#define BLOCK_ACROSS 128                                                 // steps of k, if there are more groups
#define OTHERS (VECTOR_WIDTH * (int)sizeof(real) < 64 ? 2 : 4)           // vectors of the other operand meanwhile
#define SLOTS (((ML > NL ? ML : NL) + VECTOR_WIDTH - 1) / VECTOR_WIDTH)  // vectors of sums of a line
#define LINE_AHEAD 256                                                   // elements that are prefetched of each line

// An operand's lines: the first one, and the distances from one to the next and from one step of k to the next.
typedef struct {
  __global const operand* first;
  ulong step, p_step;
} Lines;

// sums += the products of `group` packed lines, `packed_step` apart, with VECTOR_WIDTH others that lie along k in
// memory. Until the end each sum is a vector.
static ALWAYS_INLINE void multiply_along_k(const int group, realv* sums, const real* packed, const int packed_step,
                                           const Lines others, const int depth) {
  realv square[LINE_GROUP][VECTOR_WIDTH];
  for (int q = 0; q < VECTOR_WIDTH; q += OTHERS) {
    __global const operand* from = others.first + q * others.step;
    realv sum[OTHERS][LINE_GROUP];
    UNROLLED(t, OTHERS)
      UNROLLED(r, group) sum[t][r] = (realv)(0);
    int p = 0;
    for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
      UNROLLED(t, OTHERS) {
        PREFETCH_LINE(from + t * others.step + p + LINE_AHEAD);
        const realv other = VLOAD_B(from + t * others.step + p);
        UNROLLED(r, group) sum[t][r] += VLOAD_REAL(packed + (r * packed_step + p)) * other;
      }
    }
    UNROLLED(t, OTHERS) {
      UNROLLED(r, group) square[r][q + t] = sum[t][r];
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

// sums += the products of a group of lines, of which `count` exist, with vectors of neighbours, from number `slot` on.
static ALWAYS_INLINE void multiply_across_k(realv* sums, const Lines lines, const int count, const Lines others,
                                            const int slot, const int extent, const int depth) {
  ulong line[LINE_GROUP];
  realv sum[LINE_GROUP][OTHERS];
  int first[OTHERS];
  UNROLLED(t, OTHERS) first[t] = first_of_slot(slot + t, extent);
  UNROLLED(r, LINE_GROUP) {
    line[r] = min(r, count - 1) * lines.step;
    UNROLLED(t, OTHERS) sum[r][t] = (realv)(0);
  }
  for (int p = 0; p < depth; ++p) {
    realv other[OTHERS];
    UNROLLED(t, OTHERS) {
      PREFETCH_LINE(others.first + (p + A_AHEAD) * others.p_step + first[t]);
      other[t] = VLOAD_B(others.first + p * others.p_step + first[t]);
    }
    UNROLLED(r, LINE_GROUP) {
      const real x = LOAD_B(lines.first + line[r] + p * lines.p_step);
      UNROLLED(t, OTHERS) sum[r][t] += x * other[t];
    }
  }
  for (int t = 0; t < OTHERS && slot + t < SLOTS; ++t)
    for (int r = 0; r < LINE_GROUP; ++r) sums[r * SLOTS + t] += sum[r][t];
}

// A tile of few rows or columns: `lines` of the one operand by a vector of lines of the other, or more. Those that lie
// along k are packed.
static ALWAYS_INLINE void multiply_lines(const Tile tile, const int is_row, real* packed, Lines lines, Lines others,
                                         const int ldc, const updated alpha, const updated beta, const Epilogue* e) {
  const int along_k = is_row ? TRANS_B : !TRANS_A;
  const int count = is_row ? tile.rows : tile.columns;
  const int copies = count > 1 ? (count + LINE_GROUP - 1) / LINE_GROUP * LINE_GROUP : 1;
  const int extent = is_row ? tile.columns : tile.rows;
  const int largest = along_k || copies <= LINE_GROUP ? KL * NL / copies - VECTOR_WIDTH : BLOCK_ACROSS;
  const int block = equal_tile(tile.depth, largest, VECTOR_WIDTH), packed_step = block + VECTOR_WIDTH;
  realv sums[MOST_LINES(0) * SLOTS];
  for (int s = 0; s < MOST_LINES(0) * SLOTS; ++s) sums[s] = (realv)(0);
  for (int done = 0; done < tile.depth; done += block) {
    const int depth = min(block, tile.depth - done);
    for (int r = 0; along_k && r < copies; ++r) {
      __global const operand* line = lines.first + min(r, count - 1) * lines.step;
      for (int p = 0; p < depth; ++p) packed[r * packed_step + p] = LOAD_B(line + p * lines.p_step);
    }
    for (int slot = 0; slot * VECTOR_WIDTH < extent; slot += along_k ? 1 : OTHERS) {
      const Lines some = {others.first + first_of_slot(slot, extent) * others.step, others.step, 1};
      for (int r = 0; r < count; r += LINE_GROUP) {
        const Lines group = {lines.first + r * lines.step, lines.step, lines.p_step};
        realv* to = sums + (r * SLOTS + slot);
        if (!along_k)
          multiply_across_k(to, group, count - r, others, slot, extent, depth);
        else if (count == 1)
          multiply_along_k(1, to, packed, packed_step, some, depth);
        else
          multiply_along_k(LINE_GROUP, to, packed + r * packed_step, packed_step, some, depth);
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
      sum[0][0] = sums[r * SLOTS + slot];
      for (int l = r; width == 1 && l < (is_row ? r + 1 : count); ++l)
        ((real*)sum[0])[l - r] = ((const real*)&sums[l * SLOTS + slot])[at - first];
      update_tile(tile.c + (is_row ? r * (ulong)ldc + at : at * (ulong)ldc), ldc, sum, 1, is_row ? width : count, alpha,
                  beta, e, is_row ? r : at, is_row ? at : 0);
      at += width;
    }
  }
}

#endif
