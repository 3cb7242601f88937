// register_tile: CPUs. One work-item per work-group, no local memory, no barriers.
//
// A work-group computes a tile of C of at most ML x NL elements, in blocks of k that are KL deep. It packs the block of
// op(B) into private memory, as panels: contiguous whatever ldb is, the block stays in the L2 cache. Then it multiplies
// strips of MS rows of op(A), which stay in the L1 cache, by one panel after the other. The MS x NS tile of C of a
// strip and a panel stays in vector registers for the whole depth of the block:
//
//                                     op(B)       NS
//                                 +-----------+-------+------+
//                                 |  panel    | panel | panel|  one block of k: KL
//                                 |           |       |      |
//            one block of k: KL   +-----------+-------+------+
//     +------+------------+               ^ one row of a panel: NS / VECTOR_WIDTH vectors
//     |      |            |       +-----------+-------+------+
//  MS |      | strip >>   |       |           | C in  |      | MS
//     |      |            |       |           | regs  |      |
//     |      |            |       +-----------+-------+------+
//     |      |            | op(A) |           |       |      |
//  ML |      |            |       +-----------+-------+------+ ML      C
//     +------+------------+                      NL
//                  ^ one element of op(A) is multiplied by the row of the panel
//
//   ML, NL        rows and columns of C per work-group. op(B) is packed once for ML rows, and op(A) read NL/NS times
//                 for NL columns, so large tiles save time; but small problems need a work-group for each core
//   KL            depth of a block of k. The block of op(B), KL * NL elements, should fit the L2 cache, and a strip of
//                 op(A), KL * MS elements, the L1 cache. C is read and written once for each block
//   MS, NS        rows and columns of C in registers. MS * NS / VECTOR_WIDTH accumulators, NS / VECTOR_WIDTH vectors of
//                 the panel's row and one for the element of op(A) should fit the vector registers
//   DOTS          1: AVX512-VNNI's instruction multiplies bytes, and adds four products to each of 16 sums, or
//                 AVX512-BF16's bfloat16, two: a step of the loop takes four or two of k
//   LINES         1: few rows or columns of C have loops of their own (register_lines.cl)
//
// Where C has fewer bits than sums, and k is not split, the sums of all tiles wait in private memory for the next
// block.
//
// At the edges of C, missing columns of op(B) are zero in the panel, and the last row of op(A) stands in for missing
// rows. Neither reaches C.

// sum = strip * panel, and `before` where KEEPS_SUMS (null: none); the strip of op(A) begins at a.
//   fill = 1  also packs the panel, row by row, from b: hidden behind many multiplications, this costs less than a
//             separate pass (PACKS_ROWS)
//   fill = 0  the panel is packed
// Inlined, so that `fill` is a constant in the loop.
static ALWAYS_INLINE void multiply_tile(realv sum[MS][VECTORS], __global const operand* a, const int lda,
                                        const Strip* strip, realv* panel, const int fill, __global const operand* b,
                                        const int ldb, const int depth, const int rows, const realv* before) {
  ulong a_row[MS];
  UNROLLED(i, MS) {
    a_row[i] = min(i, rows - 1) * A_STEP_I;
    UNROLLED(v, VECTORS) {
      sum[i][v] = (realv)(BEGINS(strip, i));
      if (KEEPS_SUMS && before) sum[i][v] += before[i * VECTORS + v];
    }
  }

#if DOTS
  multiply_dots(sum, strip, a, a_row, panel, depth);
#else
#pragma unroll KS
  for (int p = 0; p < depth; ++p) {
    realv b_row[VECTORS];
    if (TRANS_A & !CONVERTS_A) PREFETCH_LINE(a + A_AHEAD * A_STEP_P);
    UNROLLED(v, VECTORS) {
      if (fill) {
        PREFETCH_LINE(b + B_AHEAD * B_STEP_P + v * VECTOR_WIDTH);
        panel[p * VECTORS + v] = VLOAD_B(b + v * VECTOR_WIDTH);
      }
      b_row[v] = panel[p * VECTORS + v];
    }
    UNROLLED(i, MS) {
      const real a_element = ELEMENT_OF_A(i, p);
      UNROLLED(v, VECTORS) sum[i][v] += a_element * b_row[v];
    }
    a += A_STEP_P;
    b += B_STEP_P;
  }
#endif
}

// Multiplies a tile block of k by block, and updates C.
static SEPARATE void multiply_blocks(const Tile* tile, const int lda, const int ldb, const int ldc, const updated alpha,
                                     const updated beta, const Epilogue* whole) {
  __global const operand* a_tile = tile->a;
  __global const operand* b_tile = tile->b;
  realv panels[NL / NS * PANEL];
  Strip strips[STRIPS];
  realv kept[KEEPS_SUMS ? ML * VECTORS * (NL / NS) : 1];
  int done = 0;
  // At least once, so that C becomes beta * C when k = 0.
  do {
    const int depth = min(KL, tile->depth - done);
    const bool first = done == 0;
    const bool last = done + depth >= tile->depth;
    const updated block_beta = first || KEEPS_SUMS ? beta : 1;
    // d is added with the first block; then C is what there is, and after the last block it goes through the rest.
    Epilogue e = *whole;
#if !KEEPS_SUMS
    e.steps = (first ? whole->steps & STEPS_OF_FIRST_BLOCK : 0) | (last ? whole->steps & ~STEPS_OF_FIRST_BLOCK : 0) |
              (whole->steps & STEPS_OF_EACH_BLOCK);
    e.d = first ? whole->d : 0;
#endif
#if DOTS
    pack_block(panels, b_tile, ldb, depth, tile->columns);
#elif MAY_PACK_ROWS
    if (PACKS_ROWS(tile->rows)) pack_rows(panels, b_tile, ldb, depth, tile->columns);
#endif
    for (int i = 0; i < tile->rows; i += MS) {
      const int rows = min(MS, tile->rows - i);
      __global const operand* a_strip = a_tile + i * A_STEP_I;
      Strip* strip = &strips[i / MS % STRIPS];
      if (strip == strips) prepare_strips(strips, a_strip, lda, depth, tile->rows - i);
      for (int j = 0; j < tile->columns; j += NS) {
        const int columns = min(NS, tile->columns - j);
        __global const operand* b_panel = b_tile + j * B_STEP_J;
        realv* panel = panels + j / NS * PANEL;
        const int packed = PACKS_ROWS(tile->rows) && columns == NS;
        // While it is multiplied. Where all whole panels are packed before, clang doesn't see that this is 0.
        const int fill = (TRANS_B | DOTS | PACKS_ALL) ? 0 : (i == 0) & (columns == NS) & !packed;
        realv* kept_tile = kept + (KEEPS_SUMS ? (i * (NL / NS) + j / NS * MS) * VECTORS : 0);
        const realv* before = first ? 0 : kept_tile;
        realv sum[MS][VECTORS];
        if (fill) {
          multiply_tile(sum, a_strip, lda, strip, panel, 1, b_panel, ldb, depth, rows, before);
        } else {
#if !DOTS
          if ((i == 0) & !packed) pack_panel(panel, b_panel, ldb, depth, columns);
#endif
          multiply_tile(sum, a_strip, lda, strip, panel, 0, b_panel, ldb, depth, rows, before);
        }
        if (KEEPS_SUMS && !last) {
          UNROLLED(s, MS * VECTORS) kept_tile[s] = sum[s / VECTORS][s % VECTORS];
          continue;
        }
        update_tile(tile->c + i * (ulong)ldc + j, ldc, sum, rows, columns, alpha, block_beta, &e, i, j);
      }
    }
    a_tile += depth * A_STEP_P;
    b_tile += depth * B_STEP_P;
    done += depth;
  } while (done < tile->depth);
}

GEMM_KERNEL(1, 1) {
  READ_NUMBERS;
#if LINES && TRANS_A && ML >= IN_LINE
  // Vectors along the rows: those of a tile begin with a cache line, if A's do.
  const size_t rows = n <= MOST_COLUMNS ? equal_tile(m, ML, IN_LINE) : equal_tile(m, ML, MS);
#else
  const size_t rows = equal_tile(m, ML, MS);
#endif
  const Tile tile = find_tile(TILE_ROW, TILE_COLUMN, rows, equal_tile(n, NL, NS), GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) return;
#if SPLIT_K == 1
  const Epilogue whole = TILE_EPILOGUE;
#else
  const Epilogue whole = {0};
#endif
#if LINES
  const int is_row = m <= MOST_ROWS && tile.columns >= VECTOR_WIDTH;
  if (is_row || (n <= MOST_COLUMNS && tile.rows >= VECTOR_WIDTH)) {
    const Lines of_a = {tile.a, A_STEP_I, A_STEP_P}, of_b = {tile.b, B_STEP_J, B_STEP_P};
    multiply_lines(&tile, is_row, is_row ? of_a : of_b, is_row ? of_b : of_a, ldc, alpha, beta, &whole);
    return;
  }
#endif
  multiply_blocks(&tile, lda, ldb, ldc, alpha, beta, &whole);
}
