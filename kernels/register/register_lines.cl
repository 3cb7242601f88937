// register_tile where C has up to MOST_ROWS rows or MOST_COLUMNS columns: lines of the one operand, LINE_GROUP at a
// time, by all lines of the other, straight from memory.

#define OTHERS (VECTOR_WIDTH * (int)sizeof(real) < 64 ? 2 : 4)           // vectors of the other operand meanwhile
#define ELEMENTS (VECTOR_WIDTH * (int)sizeof(real) < 64 ? 8 : 16)        // of the lines, in registers
#define STEPS_OF_ONE (VECTOR_WIDTH * (int)sizeof(real) < 64 ? 8 : 4)     // steps of a single line: the L1 holds no more
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

// The first line of the vector of this number. If not all vectors are whole, the last two overlap.
static inline int first_of_slot(const int slot, const int extent) {
  return min(slot * VECTOR_WIDTH, extent - VECTOR_WIDTH);
}

// sums += the products of `group` lines, of which `count` exist, with all vectors of neighbours: `steps` of k at a
// time, so that memory is read in long pieces.
static ALWAYS_INLINE void multiply_steps(const int group, const int steps, realv* sums, const Lines lines,
                                         const int count, const Lines others, const int extent) {
  real element[ELEMENTS];
  UNROLLED(r, group) {
    __global const operand* line = lines.first + min(r, count - 1) * lines.step;
    UNROLLED(q, steps) element[r * steps + q] = LOAD_B(line + q * lines.p_step);
  }
  for (int slot = 0; slot * VECTOR_WIDTH < extent; ++slot) {
    __global const operand* first = others.first + first_of_slot(slot, extent);
    realv sum[LINE_GROUP];
    UNROLLED(r, group) sum[r] = sums[r * SLOTS + slot];
    UNROLLED(q, steps) {
      PREFETCH_LINE(first + (q + ELEMENTS) * others.p_step);
      const realv other = VLOAD_B(first + q * others.p_step);
      UNROLLED(r, group) sum[r] += element[r * steps + q] * other;
    }
    UNROLLED(r, group) sums[r * SLOTS + slot] = sum[r];
  }
}

static ALWAYS_INLINE void multiply_across_k(const int group, const int steps, realv* sums, Lines lines, const int count,
                                            Lines others, const int extent, const int depth) {
  int left = depth;
  for (; left >= steps; left -= steps) {
    multiply_steps(group, steps, sums, lines, count, others, extent);
    lines.first += steps * lines.p_step;
    others.first += steps * others.p_step;
  }
  for (; left > 0; --left) {
    multiply_steps(group, 1, sums, lines, count, others, extent);
    lines.first += lines.p_step;
    others.first += others.p_step;
  }
}

// A tile of few rows or columns: `lines` of the one operand by all `others`. Lines along k are packed.
static SEPARATE void multiply_lines(const Tile* tile, const int is_row, Lines lines, Lines others, const int ldc,
                                    const updated alpha, const updated beta, const Epilogue* e) {
  const int along_k = is_row ? TRANS_B : !TRANS_A;
  const int count = is_row ? tile->rows : tile->columns;
  const int copies = count > 1 ? (count + LINE_GROUP - 1) / LINE_GROUP * LINE_GROUP : 1;
  const int extent = is_row ? tile->columns : tile->rows;
  // Each group reads the block of the other operand anew: 128 steps of it stay in the L2 cache.
  const int largest =
      along_k || copies <= LINE_GROUP ? (KL * NL / IN_REAL / copies / VECTOR_WIDTH - 1) * VECTOR_WIDTH : 128;
  const int block = equal_tile(tile->depth, largest, VECTOR_WIDTH), packed_step = block + VECTOR_WIDTH;
  real packed[KL * NL / IN_REAL];
  realv sums[MOST_COLUMNS * SLOTS] = {(realv)(0)};
  for (int done = 0; done < tile->depth; done += block) {
    const int depth = min(block, tile->depth - done);
    for (int r = 0; along_k && r < copies; ++r)
      for (int p = 0; p < depth; ++p)
        packed[r * packed_step + p] = LOAD_B(lines.first + min(r, count - 1) * lines.step + p * lines.p_step);
    for (int r = 0; r < count; r += LINE_GROUP) {
      const Lines group = {lines.first + r * lines.step, lines.step, lines.p_step};
      if (!along_k && count == 1)
        multiply_across_k(1, STEPS_OF_ONE, sums, group, 1, others, extent, depth);
      else if (!along_k)
        multiply_across_k(LINE_GROUP, ELEMENTS / LINE_GROUP, sums + r * SLOTS, group, count - r, others, extent, depth);
    }
    for (int slot = 0; along_k && slot * VECTOR_WIDTH < extent; ++slot) {
      const Lines some = {others.first + first_of_slot(slot, extent) * others.step, others.step, 1};
      for (int r = 0; r < count; r += LINE_GROUP) {
        if (count == 1)
          multiply_along_k(1, sums + slot, packed, packed_step, some, depth);
        else
          multiply_along_k(LINE_GROUP, sums + (r * SLOTS + slot), packed + r * packed_step, packed_step, some, depth);
      }
    }
    lines.first += block * lines.p_step;
    others.first += block * others.p_step;
  }
  for (int row = 0; row < tile->rows; ++row) {
    for (int column = 0; column < tile->columns; column += NS) {
      const int columns = min(NS, tile->columns - column);
      realv sum[MS][VECTORS];
      for (int q = 0; q < columns; ++q) {
        const int line = is_row ? row : column + q, at = is_row ? column + q : row, slot = at / VECTOR_WIDTH;
        ((real*)sum[0])[q] = ((const real*)&sums[line * SLOTS + slot])[at - first_of_slot(slot, extent)];
      }
      update_tile(tile->c + row * (ulong)ldc + column, ldc, sum, 1, columns, alpha, beta, e, row, column);
    }
  }
}
