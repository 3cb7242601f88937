// register_tile: CPUs. One work-item per work-group, no local memory, no barriers.
//
// A work-group computes an ML x NL tile of C. It goes through k in blocks of KL. It copies its ML x KL block of op(A)
// and one KL x NS panel of op(B) after the other into private memory, where they are close together whatever lda and
// ldb are (rows whose distance is a power of two would evict one another from the cache), and slides the panel down
// the block. The MS x NS tile of C that belongs to a position stays in vector registers for the whole depth:
//
//                                     op(B)       NS
//                                 +-----------+-------+------+
//                                 |           | panel |      |  one block of k: KL
//                                 |           |       |      |
//            one block of k: KL   +-----------+-------+------+
//     +------+------------+               ^ one row of the panel: NS / VECTOR_WIDTH vectors
//     |      |   block    |       +-----------+-------+------+
//  MS |      |>>          |       |           | C in  |      | MS
//     |      |            |       |           | regs  |      |
//     |      |            |       +-----------+-------+------+
//     |      |            | op(A) |           |       |      |
//  ML |      |            |       +-----------+-------+------+ ML      C
//     +------+------------+                      NL
//                  ^ one element of op(A) is multiplied with the row of the panel
//
//   ML, NL        rows and columns of C per work-group: large enough to reuse the panel (ML/MS times) and the block
//                 (NL/NS times), small enough that small problems still have a work-group for each core
//   KL            depth of a k block: the panel and the block, KL * (NS + ML) elements, stay in the L2 cache
//   MS, NS        rows and columns of C in registers: MS * NS / VECTOR_WIDTH accumulators, plus NS / VECTOR_WIDTH
//                 for the panel's row and one for the element of op(A), are to fit into the vector registers
//   VECTOR_WIDTH  elements of one vector register
//   KS            unrolling of the loop over k
//
// Rows of op(A) and columns of op(B) that do not exist are zero in block and panel and do not reach C.

#define VECTORS (NS / VECTOR_WIDTH)

// OpenCL's own prefetch does nothing in PoCL.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PREFETCH(pointer) __builtin_prefetch(pointer, 0, 2)
#else
#define PREFETCH(pointer) prefetch(pointer, 1)
#endif

// The block keeps the order of A as stored, with PADDING elements (a cache line) between its rows.
#define PADDING (64 / (PRECISION / 8))
#if TRANS_A
#define BLOCK_AT(i, p) ((p) * (ML + PADDING) + (i))
#else
#define BLOCK_AT(i, p) ((i) * (KL + PADDING) + (p))
#endif

#if TRANS_B && VECTOR_WIDTH > 1
// Transposes a square block of VECTOR_WIDTH vectors: interleaving the upper with the lower half of the rows
// log2(VECTOR_WIDTH) times moves element (i, j) to (j, i).
static inline void transpose(realv block[VECTOR_WIDTH]) {
#pragma unroll
  for (int stage = 1; stage < VECTOR_WIDTH; stage *= 2) {
    realv next[VECTOR_WIDTH];
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH / 2; ++i) {
      const realv upper = block[i];
      const realv lower = block[i + VECTOR_WIDTH / 2];
      next[2 * i].even = upper.lo;
      next[2 * i].odd = lower.lo;
      next[2 * i + 1].even = upper.hi;
      next[2 * i + 1].odd = lower.hi;
    }
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH; ++i) {
      block[i] = next[i];
    }
  }
}
#endif

// Copies `count` neighbours without touching what follows them.
static inline void copy_row(real* target, __global const real* source, const int count) {
  int q = 0;
  for (; q + VECTOR_WIDTH <= count; q += VECTOR_WIDTH) {
    VSTORE(VLOAD(source + q), target + q);
  }
  if (q < count && count >= VECTOR_WIDTH) {
    q = count - VECTOR_WIDTH;  // the last vector overlaps the one before
    VSTORE(VLOAD(source + q), target + q);
    return;
  }
  for (; q < count; ++q) {
    target[q] = source[q];
  }
}

// Copies the rows x depth part of op(A) at a into the block, with zeros up to a multiple of MS rows.
static inline void pack_block(real* block, __global const real* a, const int lda, const int rows, const int depth) {
  const int whole_rows = (rows + MS - 1) / MS * MS;
#if TRANS_A
  for (int p = 0; p < depth; ++p) {
    copy_row(block + BLOCK_AT(0, p), a + p * A_STEP_P, rows);
    for (int i = rows; i < whole_rows; ++i) {
      block[BLOCK_AT(i, p)] = 0;
    }
  }
#else
  for (int i = 0; i < rows; ++i) {
    copy_row(block + BLOCK_AT(i, 0), a + i * A_STEP_I, depth);
  }
  for (int i = rows; i < whole_rows; ++i) {
    for (int p = 0; p < depth; ++p) {
      block[BLOCK_AT(i, p)] = 0;
    }
  }
#endif
}

// Copies the depth x columns part of op(B) at b into the panel, with zeros up to NS columns.
static inline void pack_panel(realv* panel, __global const real* b, const int ldb, const int depth,
                              const int columns) {
#if TRANS_B
  for (int v = 0; v < VECTORS; ++v) {
    const int count = min(columns - v * VECTOR_WIDTH, VECTOR_WIDTH);
    __global const real* source = b + v * VECTOR_WIDTH * B_STEP_J;
    int p = 0;
#if VECTOR_WIDTH > 1
    for (; count == VECTOR_WIDTH && p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
      realv square[VECTOR_WIDTH];
#pragma unroll
      for (int q = 0; q < VECTOR_WIDTH; ++q) {
        square[q] = VLOAD(source + q * B_STEP_J + p);
      }
      transpose(square);
#pragma unroll
      for (int q = 0; q < VECTOR_WIDTH; ++q) {
        panel[(p + q) * VECTORS + v] = square[q];
      }
    }
#endif
    for (; p < depth; ++p) {
      for (int q = 0; q < VECTOR_WIDTH; ++q) {
        ((real*)panel)[p * NS + v * VECTOR_WIDTH + q] = q < count ? source[q * B_STEP_J + p] : 0;
      }
    }
  }
#else
  for (int p = 0; p < depth; ++p) {
    real* row = (real*)(panel + p * VECTORS);
    copy_row(row, b + p * B_STEP_P, columns);
    for (int j = columns; j < NS; ++j) {
      row[j] = 0;
    }
  }
#endif
}

// Step p of the walk over a panel's source that touches vector v of each row once: a hint, it reads nothing.
static inline void prefetch_source(__global const real* b, const int ldb, const int p, const int v) {
#if TRANS_B
  const int row = p % VECTOR_WIDTH;
  PREFETCH(b + (v * VECTOR_WIDTH + row) * B_STEP_J + (p - row));
#else
  PREFETCH(b + p * B_STEP_P + v * VECTOR_WIDTH);
#endif
}

// c = alpha * block * panel + beta * c for the rows x columns tile at c, the tile number `number` of its panel; block
// points at its first row. The time that reading op(B) takes is hidden behind the multiplications:
//   fill = 1 (a constant)  the rows of the panel come from b and are put into it on the way
//   fill = 0               b is the source of the next panel, of which each tile prefetches one vector per row
static inline void multiply_tile(__global real* c, const int ldc, const real* block, realv* panel, const int fill,
                                 const int number, __global const real* b, const int ldb, const int depth,
                                 const int rows, const int columns, const real alpha, const real beta) {
  realv sum[MS][VECTORS];
#pragma unroll
  for (int i = 0; i < MS; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      sum[i][v] = (realv)(0);
    }
  }

#pragma unroll KS
  for (int p = 0; p < depth; ++p) {
    realv b_row[VECTORS];
    if (!fill) {
      prefetch_source(b, ldb, p, number % VECTORS);
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      if (fill) {
        panel[p * VECTORS + v] = VLOAD(b + p * B_STEP_P + v * VECTOR_WIDTH);
      }
      b_row[v] = panel[p * VECTORS + v];
    }
#pragma unroll
    for (int i = 0; i < MS; ++i) {
      const real a_element = block[BLOCK_AT(i, p)];
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        sum[i][v] += a_element * b_row[v];
      }
    }
  }

#pragma unroll
  for (int i = 0; i < MS; ++i) {
    if (i < rows) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        update_vector(c + i * (ulong)ldc + v * VECTOR_WIDTH, sum[i][v], columns - v * VECTOR_WIDTH, alpha, beta);
      }
    }
  }
}

GEMM_KERNEL(1, 1) {
  const size_t first_row = get_group_id(1) * ML;
  const size_t first_column = get_group_id(0) * NL;
  if (first_row >= (size_t)m || first_column >= (size_t)n) {
    return;
  }
  const int tile_rows = (int)min((size_t)ML, (size_t)m - first_row);
  const int tile_columns = (int)min((size_t)NL, (size_t)n - first_column);
  const int whole_depth = alpha == 0 ? 0 : k;
  __global const real* a_tile = a + (a_offset + first_row * A_STEP_I);
  __global const real* b_tile = b + (b_offset + first_column * B_STEP_J);
  __global real* c_tile = c + (c_offset + first_row * (ulong)ldc + first_column);

  real block[ML * KL + PADDING * (ML > KL ? ML : KL)];
  realv panel[KL * VECTORS];
  int done = 0;
  // Once even for k = 0: C becomes beta * C.
  do {
    const int depth = min(KL, whole_depth - done);
    const real block_beta = done == 0 ? beta : 1;
    pack_block(block, a_tile, lda, tile_rows, depth);
    for (int j = 0; j < tile_columns; j += NS) {
      const int columns = min(NS, tile_columns - j);
      __global const real* b_panel = b_tile + j * B_STEP_J;
      __global const real* b_next = j + NS < tile_columns ? b_panel + NS * B_STEP_J : b_tile + KL * B_STEP_P;
      int i = 0;
      if (!TRANS_B && columns == NS) {
        multiply_tile(c_tile + j, ldc, block, panel, 1, 0, b_panel, ldb, depth, min(MS, tile_rows), NS, alpha,
                      block_beta);
        i = MS;
      } else {
        pack_panel(panel, b_panel, ldb, depth, columns);
      }
      for (; i < tile_rows; i += MS) {
        multiply_tile(c_tile + i * (ulong)ldc + j, ldc, block + BLOCK_AT(i, 0), panel, 0, i / MS, b_next, ldb, depth,
                      min(MS, tile_rows - i), columns, alpha, block_beta);
      }
    }
    a_tile += depth * A_STEP_P;
    b_tile += depth * B_STEP_P;
    done += depth;
  } while (done < whole_depth);
}
