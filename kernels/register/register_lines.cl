// register_tile where C has up to MOST_ROWS rows or MOST_COLUMNS columns: lines of the one operand, LINE_GROUP at a
// time, by all lines of the other, straight from memory; or, of several groups, by panels of it.

#define PANELS_OF_LINES (VECTOR_WIDTH * (int)sizeof(real) < 64)  // short vectors, and fewer registers
#define OTHERS (PANELS_OF_LINES ? 2 : 4)                         // vectors of the other operand meanwhile
#define ELEMENTS (PANELS_OF_LINES ? 8 : 16)                      // of the lines, in registers
#define STEPS_OF_ONE (PANELS_OF_LINES ? 8 : 4)                   // steps of a single line: the L1 holds no more
#define LINE_AHEAD 256                                           // elements that are prefetched of each line
#define PANEL_STEPS 64                // of k, in a panel of two slots: it stays in the L1 cache
#define PANELS_AHEAD 2                // so far ahead a panel's rows are prefetched
#define IN_LINE (64 / OPERAND_BYTES)  // elements of a cache line, by which a tile may be longer than ML
#define SLOTS (((ML > NL ? ML : NL) + IN_LINE + VECTOR_WIDTH - 1) / VECTOR_WIDTH)  // vectors of sums of a line
#define MOST_LINES (MOST_ROWS > MOST_COLUMNS ? MOST_ROWS : MOST_COLUMNS)
#define ROOM (KL * NL / IN_REAL > 4 * MOST_LINES ? KL * NL / IN_REAL : 4 * MOST_LINES)  // for packed elements

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

// sum += one step of k: LINE_GROUP elements by two vectors.
static ALWAYS_INLINE void add_step(realv sum[LINE_GROUP][2], const real* elements, const realv first,
                                   const realv second) {
  UNROLLED(r, LINE_GROUP) {
    sum[r][0] += elements[r] * first;
    sum[r][1] += elements[r] * second;
  }
}

// sums += the products of LINE_GROUP packed lines with a panel: the vectors of two slots, `second` elements apart,
// which `fill` = 1 also packs. has_second = 0: one slot is left. Meanwhile prefetches rows of a later panel, from
// `next` on, `rows` in four steps: memory is read all the time.
static ALWAYS_INLINE void multiply_panel(const int fill, realv* sums, const int has_second, const real* packed,
                                         realv* panel, __global const operand* from, const int second,
                                         const ulong p_step, const int depth, __global const operand* next,
                                         const int rows) {
  realv sum[LINE_GROUP][2];
  UNROLLED(r, LINE_GROUP)
    UNROLLED(v, 2) sum[r][v] = (realv)(0);
  int p = 0;
  for (; p + 4 <= depth; p += 4) {
    for (int row = 0; row < rows; ++row, next += p_step) PREFETCH_LINE(next);
    if (fill) {
#pragma unroll 1
      for (int q = p; q < p + 4; ++q, from += p_step) {
        const realv a = VLOAD_B(from), b = VLOAD_B(from + second);
        panel[2 * q] = a;
        panel[2 * q + 1] = b;
        add_step(sum, packed + q * LINE_GROUP, a, b);
      }
    } else {
      UNROLLED(q, 4) add_step(sum, packed + (p + q) * LINE_GROUP, panel[2 * (p + q)], panel[2 * (p + q) + 1]);
    }
  }
#pragma unroll 1
  for (; p < depth; ++p, from += p_step) {
    if (fill) {
      panel[2 * p] = VLOAD_B(from);
      panel[2 * p + 1] = VLOAD_B(from + second);
    }
    add_step(sum, packed + p * LINE_GROUP, panel[2 * p], panel[2 * p + 1]);
  }
  UNROLLED(r, LINE_GROUP) {
    sums[r * SLOTS] += sum[r][0];
    if (has_second) sums[r * SLOTS + 1] += sum[r][1];
  }
}

// sums += the products of more than LINE_GROUP packed lines with all vectors of neighbours.
static ALWAYS_INLINE void multiply_panels(realv* sums, const real* packed, const int copies, const Lines others,
                                          const int extent, const int depth) {
  realv panel[2 * PANEL_STEPS];
  const int groups = copies / LINE_GROUP, rows = (3 + groups) / groups, ahead = PANELS_AHEAD * 2 * VECTOR_WIDTH;
  for (int slot = 0; slot * VECTOR_WIDTH < extent; slot += 2) {
    const int at = first_of_slot(slot, extent), second = first_of_slot(slot + 1, extent) - at;
    const int has_second = (slot + 1) * VECTOR_WIDTH < extent;
    __global const operand* from = others.first + at;
    // Behind the last panel the next block of k begins.
    __global const operand* next = from + ahead + (at + ahead < extent ? 0 : depth * (long)others.p_step - extent);
    for (int r = 0; r < copies; r += LINE_GROUP) {
      __global const operand* begin = next + r / LINE_GROUP * depth / groups * others.p_step;
      if (r == 0)
        multiply_panel(1, sums + slot, has_second, packed, panel, from, second, others.p_step, depth, begin, rows);
      else
        multiply_panel(0, sums + (r * SLOTS + slot), has_second, packed + r * depth, panel, from, second, others.p_step,
                       depth, begin, rows);
    }
  }
}

// Updates C with one slot of all lines. Elements that the slot before has, too, are left out.
static ALWAYS_INLINE void update_slot(const Tile* tile, const int is_row, const realv* sums, const int slot,
                                      const int extent, const int count, const int ldc, const updated alpha,
                                      const updated beta, const Epilogue* e) {
  const int from = slot * VECTOR_WIDTH, begin = first_of_slot(slot, extent);
  for (int r = 0; is_row && r < count; ++r) {
    const realv rest = VLOAD_REAL((const real*)&sums[r * SLOTS + slot] + (from - begin));
    update_part(tile->c + r * (ulong)ldc + from, rest, extent - from, alpha, beta, e, r, from);
  }
  for (int r = 0; !is_row && r < count; r += VECTOR_WIDTH) {
    realv square[VECTOR_WIDTH];
    UNROLLED(q, VECTOR_WIDTH) square[q] = r + q < count ? sums[(r + q) * SLOTS + slot] : (realv)(0);
    transpose(square);
    for (int q = from - begin; q < VECTOR_WIDTH; ++q)
      update_part(tile->c + (begin + q) * (ulong)ldc + r, square[q], count - r, alpha, beta, e, begin + q, r);
  }
}

// A tile of few rows or columns: `lines` of the one operand by all `others`.
static SEPARATE void multiply_lines(const Tile* tile, const int is_row, Lines lines, Lines others, const int ldc,
                                    const updated alpha, const updated beta, const Epilogue* e) {
  const int along_k = is_row ? TRANS_B : !TRANS_A;
  const int count = is_row ? tile->rows : tile->columns;
  const int copies = count > 1 ? (count + LINE_GROUP - 1) / LINE_GROUP * LINE_GROUP : 1;
  const int extent = is_row ? tile->columns : tile->rows;
  const int by_panels = PANELS_OF_LINES & !along_k & (copies > LINE_GROUP), is_packed = along_k | by_panels;
  // Without panels each group reads the block of the other operand anew: 128 steps of it stay in the L2 cache.
  const int largest = by_panels                         ? min(ROOM / copies / 4 * 4, PANEL_STEPS)
                      : along_k || copies <= LINE_GROUP ? (ROOM / copies / VECTOR_WIDTH - 1) * VECTOR_WIDTH
                                                        : 128;
  const int block = equal_tile(tile->depth, largest, by_panels ? 4 : VECTOR_WIDTH), packed_step = block + VECTOR_WIDTH;
  real packed[ROOM];
  realv sums[MOST_LINES * SLOTS];
  for (int i = 0; i < copies * SLOTS; ++i) sums[i] = (realv)(0);
  for (int done = 0; done < tile->depth; done += block) {
    const int depth = min(block, tile->depth - done);
    for (int r = 0; is_packed && r < copies; ++r)
      for (int p = 0; p < depth; ++p)
        packed[along_k ? r * packed_step + p : (r / LINE_GROUP * depth + p) * LINE_GROUP + r % LINE_GROUP] =
            LOAD_B(lines.first + min(r, count - 1) * lines.step + p * lines.p_step);
    if (by_panels) multiply_panels(sums, packed, copies, others, extent, depth);
    for (int r = 0; !is_packed && r < count; r += LINE_GROUP) {
      const Lines group = {lines.first + r * lines.step, lines.step, lines.p_step};
      if (count == 1)
        multiply_across_k(1, STEPS_OF_ONE, sums, group, 1, others, extent, depth);
      else
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
  for (int slot = 0; slot * VECTOR_WIDTH < extent; ++slot)
    update_slot(tile, is_row, sums, slot, extent, count, ldc, alpha, beta, e);
}
