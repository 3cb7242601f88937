// register_tile: CPUs. One work-item per work-group, no local memory, no barriers.
//
// A work-group computes an ML x NL tile of C. It goes through k in blocks of KL; of each block it copies one
// KL x NS panel of op(B) after the other into private memory, where it is contiguous, aligned and stays in cache,
// and slides down the rows of op(A) beside it. The MS x NS tile of C that belongs to a position is held in vector
// registers during the whole block:
//
//                                     op(B)       NS
//                                 +-----------+-------+------+
//                                 |           | panel |      |  one block of k: KL
//                                 |           |       |      |
//            one block of k: KL   +-----------+-------+------+
//     +------+------------+               ^ one row of the panel: NS / VECTOR_WIDTH vectors
//     |      |            |       +-----------+-------+------+
//  MS |      |>>          |       |           | C in  |      | MS
//     |      |            |       |           | regs  |      |
//     |      |            |       +-----------+-------+------+
//     |      |            | op(A) |           |       |      |
//  ML |      |            |       +-----------+-------+------+ ML      C
//     +------+------------+                      NL
//                  ^ one element of op(A) is multiplied with the row of the panel
//
//   ML, NL        rows and columns of C per work-group: large enough to reuse the panel (ML/MS times), small enough
//                 that small problems still have a work-group for each core
//   KL            depth of a k block: the panel of KL * NS elements and ML * KL elements of op(A) stay in L2
//   MS, NS        rows and columns of C in registers: MS * NS / VECTOR_WIDTH accumulators, plus NS / VECTOR_WIDTH
//                 for the panel's row and one for the element of op(A), are to fit into the vector registers
//   VECTOR_WIDTH  elements of one vector register
//   KS            unrolling of the loop over k
//
// At the lower edge of C the last row of op(A) is read in place of rows that do not exist, at the right edge the
// panel is filled up with zeros; neither reaches C.

#define VECTORS (NS / VECTOR_WIDTH)

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

// Copies the depth x columns part of op(B) at b into the panel, row by row, and fills its rows up with zeros.
static inline void pack_panel(realv* panel, __global const real* b, const int ldb, const int depth,
                              const int columns) {
  for (int v = 0; v < VECTORS; ++v) {
    const int count = min(columns - v * VECTOR_WIDTH, VECTOR_WIDTH);
    __global const real* source = b + v * VECTOR_WIDTH * B_STEP_J;
    int p = 0;
    if (count == VECTOR_WIDTH) {
#if TRANS_B && VECTOR_WIDTH > 1
      for (; p + VECTOR_WIDTH <= depth; p += VECTOR_WIDTH) {
        realv block[VECTOR_WIDTH];
#pragma unroll
        for (int q = 0; q < VECTOR_WIDTH; ++q) {
          block[q] = VLOAD(source + q * B_STEP_J + p);
        }
        transpose(block);
#pragma unroll
        for (int q = 0; q < VECTOR_WIDTH; ++q) {
          panel[(p + q) * VECTORS + v] = block[q];
        }
      }
#else
      for (; p < depth; ++p) {
        panel[p * VECTORS + v] = VLOAD(source + p * B_STEP_P);
      }
#endif
    }
    for (; p < depth; ++p) {
      for (int q = 0; q < VECTOR_WIDTH; ++q) {
        ((real*)panel)[p * NS + v * VECTOR_WIDTH + q] = q < count ? source[p * B_STEP_P + q * B_STEP_J] : 0;
      }
    }
  }
}

// c = alpha * a * panel + beta * c for the rows x columns tile at c. Inlined with the constant rows == MS for whole
// tiles: then the addresses of the rows of op(A) are multiples of one another.
static inline void multiply_tile(__global real* c, const int ldc, __global const real* a, const int lda,
                                 const realv* panel, const int depth, const int rows, const int columns,
                                 const real alpha, const real beta) {
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
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      b_row[v] = panel[p * VECTORS + v];
    }
#pragma unroll
    for (int i = 0; i < MS; ++i) {
      const real a_element = a[min(i, rows - 1) * A_STEP_I + p * A_STEP_P];
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

  realv panel[KL * VECTORS];
  int done = 0;
  // Once even for k = 0: C becomes beta * C.
  do {
    const int depth = min(KL, whole_depth - done);
    const real block_beta = done == 0 ? beta : 1;
    for (int j = 0; j < tile_columns; j += NS) {
      const int columns = min(NS, tile_columns - j);
      pack_panel(panel, b_tile + j * B_STEP_J, ldb, depth, columns);
      for (int i = 0; i < tile_rows; i += MS) {
        __global real* c_position = c_tile + i * (ulong)ldc + j;
        __global const real* a_position = a_tile + i * A_STEP_I;
        const int rows = min(MS, tile_rows - i);
        if (rows == MS) {
          multiply_tile(c_position, ldc, a_position, lda, panel, depth, MS, columns, alpha, block_beta);
        } else {
          multiply_tile(c_position, ldc, a_position, lda, panel, depth, rows, columns, alpha, block_beta);
        }
      }
    }
    a_tile += depth * A_STEP_P;
    b_tile += depth * B_STEP_P;
    done += depth;
  } while (done < whole_depth);
}
