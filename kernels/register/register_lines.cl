// register_tile where C is a single row or column: a line of the one operand by all lines of the other, straight from
// memory.

#if MULTIPLIES_LINES

// register_tile.cl.
static ALWAYS_INLINE void update_tile(__global output* c, const int ldc, realv sum[MS][VECTORS], const int rows,
                                      const int columns, const updated alpha, const updated beta, const Epilogue* e,
                                      const int row, const int column);

#define ROW_FITS (!TRANS_B || A_STEP_P == 1)  // vectors of both operands, or of the others' neighbours
#define COLUMN_FITS (TRANS_A || B_STEP_P == 1)
#define LINE_AHEAD 256  // elements that are prefetched of each line
#define AT_ONCE 8       // vectors

// The products of a line with VECTOR_WIDTH others, `step` apart; all along k in memory. The sums of each are in a
// vector of its own until the end.
static ALWAYS_INLINE realv multiply_lines(__global const operand* line, __global const operand* others,
                                          const ulong step, const int depth) {
  realv square[VECTOR_WIDTH];
  UNROLLED(q, VECTOR_WIDTH) square[q] = (realv)(0);
  int p = 0;
  for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
    const realv of_line = VLOAD_B(line + p);
    UNROLLED(q, VECTOR_WIDTH) {
      PREFETCH_LINE(others + q * step + p + LINE_AHEAD);
      square[q] += of_line * VLOAD_B(others + q * step + p);
    }
  }
  transpose(square);
  realv sum = (realv)(0);
  UNROLLED(q, VECTOR_WIDTH) sum += square[q];
  for (; p < depth; ++p) {
    UNROLLED(q, VECTOR_WIDTH) ((real*)&sum)[q] += LOAD_A(line + p) * LOAD_B(others + q * step + p);
  }
  return sum;
}

// A row or column of C: a line, `line_step` from one element to the next, with all others, `step` apart, a vector of
// them or more. If their number is no multiple of a vector, the last two overlap; what they share is written once.
static ALWAYS_INLINE void multiply_line(const Tile tile, const int is_row, const int along_k, const ulong line_step,
                                        const ulong step, const ulong p_step, const int ldc, const updated alpha,
                                        const updated beta, const Epilogue* e) {
  __global const operand* line = is_row ? tile.a : tile.b;
  __global const operand* others = is_row ? tile.b : tile.a;
  const int count = is_row ? tile.columns : tile.rows;
  for (int i = 0; i < count; i += AT_ONCE * VECTOR_WIDTH) {
    realv sums[AT_ONCE];
    int first[AT_ONCE];
    UNROLLED(v, AT_ONCE) {
      first[v] = min(i + v * VECTOR_WIDTH, count - VECTOR_WIDTH);
      sums[v] = (realv)(0);
    }
    if (along_k) {
      for (int v = 0; v < AT_ONCE && i + v * VECTOR_WIDTH < count; ++v)
        sums[v] = multiply_lines(line, others + first[v] * step, step, tile.depth);
    } else {
      __global const operand* from = others;
      for (int p = 0; p < tile.depth; ++p, from += p_step) {
        const real x = LOAD_A(line + p * line_step);
        UNROLLED(v, AT_ONCE) {
          PREFETCH_LINE(from + A_AHEAD * p_step + first[v]);
          sums[v] += x * VLOAD_B(from + first[v]);
        }
      }
    }
    for (int at = i; at < min(count, i + AT_ONCE * VECTOR_WIDTH);) {
      const int v = (at - i) / VECTOR_WIDTH;
      const int width = is_row && at == first[v] ? VECTOR_WIDTH : 1;
      realv sum[MS][VECTORS];
      sum[0][0] = width > 1 ? sums[v] : (realv)(((const real*)&sums[v])[at - first[v]]);
      update_tile(tile.c + at * (is_row ? (ulong)1 : (ulong)ldc), ldc, sum, 1, width, alpha, beta, e, is_row ? 0 : at,
                  is_row ? at : 0);
      at += width;
    }
  }
}

#endif
