// stripe: the family of Matsumoto, Nakasato, Sedukhin, "Implementing a Code Generator for Fast Matrix Multiplication in
// OpenCL on the GPU", 2012. Each operand goes through local memory or not, and comes from any layout; which is best on
// a device is found by search.
//
// A work-group multiplies ML rows of op(A) by NL columns of op(B), in blocks that are KL deep. Each work-item goes
// through a block in steps of KS and keeps MS x NS elements of C in registers:
//
//                                  op(B)       NL                       one block, as work-item (x, y) sees it:
//                              +-----------+-------+------+
//                              |           |///////| KL   |                          KL
//                            k |           |       |      |                   NL +---------+
//                              |           |       |      |                      |  B part |  KS x NS at a time
//             k                +-----------+-------+------+                      +---------+
//     +------+------------+    +-----------+-------+------+              KL
//     |      |            |    |           |       |      |         +---------+  +---------+
//  ML |//////|            |    |           | work- |      | ML   ML | A part  |  |  sum    |  MS x NS
//     | KL   |            |    |           | group |      |         +---------+  +---------+
//     +------+------------+    +-----------+-------+------+          MS x KS
//     |      |            |    |              NL          |          at a time
//     +------+------------+    +--------------------------+
//             op(A)                          C
//
// A work-item's rows are pieces of A_PIECE neighbours, its columns pieces of B_PIECE, dealt out in turn, so that
// neighbouring work-items read neighbouring vectors:
//
//     piece u of the rows:     (u * LOCAL_Y + y) * A_PIECE ... + A_PIECE - 1      u = 0 .. MS/A_PIECE - 1
//     piece w of the columns:  (w * LOCAL_X + x) * B_PIECE ... + B_PIECE - 1      w = 0 .. NS/B_PIECE - 1
//
//   ML, NL              rows and columns of C per work-group, which is NL/NS x ML/MS work-items
//   KL                  depth of a block
//   MS, NS              rows and columns of C per work-item; NS is a multiple of VECTOR_WIDTH
//   KS                  steps of k that a work-item reads at a time and unrolls; divides KL
//   LOCAL_A, LOCAL_B    1: the work-group shares the operand's block in local memory. 0: each work-item reads its part
//                       from global memory into registers
//   LAYOUT_A, LAYOUT_B  see common.cl. Only ROW_MAJOR needs guards at the edges: packed operands are whole blocks. An
//                       IMAGE has TEXEL elements in a texel: MS (NS) is a multiple of it, VECTOR_WIDTH at most as much
//   VECTOR_WIDTH        elements of the accumulators, along n, and of loads: along m or n where these are neighbours in
//                       memory, else along k, as far as KS and MS are multiples

// The largest power of two that divides `factor` and is at most VECTOR_WIDTH.
#define LOWEST_BIT(factor) ((factor) & -(factor))
#define WIDTH_OF(factor) (LOWEST_BIT(factor) < VECTOR_WIDTH ? LOWEST_BIT(factor) : VECTOR_WIDTH)

#define A_PIECE (LAYOUT_A == IMAGE ? TEXEL : WIDTH_OF(MS))
#define B_PIECE (LAYOUT_B == IMAGE ? TEXEL : VECTOR_WIDTH)
#define K_PIECE WIDTH_OF(KS)  // of loads along k

// True if a work-item reads straight from the caller's matrix, which has edges.
#define A_GUARDED (LAYOUT_A == ROW_MAJOR && !LOCAL_A)
#define B_GUARDED (LAYOUT_B == ROW_MAJOR && !LOCAL_B)

// ---- Loads and stores of `width` neighbours ----

// The functions below serve both operands. Once they are inlined, their widths, steps and blocks are constants, so that
// of each switch and loop only what is needed remains.

#if BFLOAT16
#define READ(width, from) WIDENED(width, CONCAT(vload, width)(0, from))
#define READ_ALIGNED(width, from) WIDENED(width, *(__global const CONCAT(ushort, width)*)(from))
#elif PRECISION == 16
#define READ(width, from) CONCAT(vload_half, width)(0, from)
#define READ_ALIGNED(width, from) CONCAT(vloada_half, width)(0, from)
#else
#define READ(width, from) CONCAT(vload, width)(0, from)
#define READ_ALIGNED(width, from) (*(__global const CONCAT(REAL, width)*)(from))
#endif
#define FOR_WIDTHS(DO) DO(2) DO(4) DO(8) DO(16)

#define LOAD_CASE(width) \
  case width: CONCAT(vstore, width)(aligned ? READ_ALIGNED(width, from) : READ(width, from), 0, to); break;

// aligned: the address is a multiple of the width, and drivers make one instruction of the load instead of `width`.
static inline void load(real* to, __global const element* from, const int width, const bool aligned) {
  switch (width) {
    FOR_WIDTHS(LOAD_CASE)
    default: *to = LOAD(from);
  }
}

#define LOAD_LOCAL_CASE(width) \
  case width: CONCAT(vstore, width)(*(__local const CONCAT(REAL, width)*)from, 0, to); break;

static inline void load_local(real* to, __local const real* from, const int width) {
  switch (width) {
    FOR_WIDTHS(LOAD_LOCAL_CASE)
    default: *to = *from;
  }
}

#define STORE_LOCAL_CASE(width) \
  case width: *(__local CONCAT(REAL, width)*)to = CONCAT(vload, width)(0, from); break;

static inline void store_local(__local real* to, const real* from, const int width) {
  switch (width) {
    FOR_WIDTHS(STORE_LOCAL_CASE)
    default: *to = *from;
  }
}

#if LAYOUT_A == IMAGE || LAYOUT_B == IMAGE
// Functions with images are inlined in any case, as Mesa's compiler (25.0 and 26.2) crashes on calls of them.
static ALWAYS_INLINE void load_texel(real* to, __read_only image2d_t image, const int2 at) {
#if PRECISION == 64
  vstore2(as_double2(read_imageui(image, at)), 0, to);
#elif BFLOAT16
  vstore4(as_float4(read_imageui(image, at) << 16), 0, to);
#else
  vstore4(read_imagef(image, at), 0, to);
#endif
}
#endif

// ---- Sharing a block in local memory ----

// Copies `block` rows of op(A), or columns of op(B), into `shared`, which has a row for each step of k. Element (p, i)
// is source[p * step_p + i * step_i]; unless `whole`, only those below depth and extent exist, the others become zero.
static inline void share(__local real* shared, __global const element* source, const bool along_i, const ulong step_i,
                         const ulong step_p, const int block, const int piece, const bool whole, const bool aligned,
                         const int extent, const int depth, const int item) {
  real values[16];
  if (!whole) {
    for (int e = item; e < KL * block; e += PLACES) {
      const int p = along_i ? e / block : e % KL;
      const int i = along_i ? e % block : e / KL;
      shared[p * block + i] = p < depth && i < extent ? LOAD(source + p * step_p + i * step_i) : 0;
    }
  } else if (along_i) {
    for (int e = item; e < KL * (block / piece); e += PLACES) {
      const int p = e / (block / piece);
      const int i = e % (block / piece) * piece;
      load(values, source + p * step_p + i, piece, aligned);
      store_local(shared + p * block + i, values, piece);
    }
  } else {
    for (int e = item; e < KL / K_PIECE * block; e += PLACES) {
      const int p = e % (KL / K_PIECE) * K_PIECE;
      const int i = e / (KL / K_PIECE);
      load(values, source + i * step_i + p, K_PIECE, false);
      UNROLLED(q, K_PIECE) shared[(p + q) * block + i] = values[q];
    }
  }
}

#if LAYOUT_A == IMAGE || LAYOUT_B == IMAGE
// The same from an image, in which the block begins at `corner`.
static ALWAYS_INLINE void share_image(__local real* shared, __read_only image2d_t image, const int2 corner,
                                      const int block, const int item) {
  for (int e = item; e < KL * (block / TEXEL); e += PLACES) {
    const int2 at = (int2)(e % (block / TEXEL), e / (block / TEXEL));
    real values[TEXEL];
    load_texel(values, image, corner + at);
    store_local(shared + at.y * block + at.x * TEXEL, values, TEXEL);
  }
}
#endif

// ---- A work-item's part of KS steps, into registers ----

// part[s * size + i] is step s of row (column) i of the `size` = MS rows (NS columns) of work-item `lane` of `lanes` in
// that dimension. source is the first element of the first step; depth counts from there.
static inline void read_part(real* part, __global const element* source, const bool along_i, const ulong step_i,
                             const ulong step_p, const int size, const int piece, const bool whole, const bool aligned,
                             const int extent, const int depth, const int lane, const int lanes) {
  if (whole && along_i) {
    UNROLLED(s, KS)
      UNROLLED(u, size / piece)
        load(part + s * size + u * piece, source + s * step_p + (u * lanes + lane) * piece, piece, aligned);
    return;
  }
  UNROLLED(i, size) {
    const int at = (i / piece * lanes + lane) * piece + i % piece;
    if (whole) {
#pragma unroll
      for (int s = 0; s < KS; s += K_PIECE) {
        real values[16];
        load(values, source + at * step_i + s, K_PIECE, false);
        UNROLLED(q, K_PIECE) part[(s + q) * size + i] = values[q];
      }
    } else {
      UNROLLED(s, KS) part[s * size + i] = at < extent && s < depth ? LOAD(source + at * step_i + s * step_p) : 0;
    }
  }
}

// The same from local memory, where the steps are `block` elements apart.
static inline void read_part_local(real* part, __local const real* shared, const int block, const int size,
                                   const int piece, const int lane, const int lanes) {
  UNROLLED(s, KS)
    UNROLLED(u, size / piece)
      load_local(part + s * size + u * piece, shared + s * block + (u * lanes + lane) * piece, piece);
}

#if LAYOUT_A == IMAGE || LAYOUT_B == IMAGE
// The same from an image, in which the first step begins at `corner`.
static ALWAYS_INLINE void read_part_image(real* part, __read_only image2d_t image, const int2 corner, const int size,
                                          const int lane, const int lanes) {
  UNROLLED(s, KS)
    UNROLLED(u, size / TEXEL) load_texel(part + s * size + u * TEXEL, image, corner + (int2)(u * lanes + lane, s));
}
#endif

// ---- An operand, wherever it is ----

// Macros, as no parameter of a function in OpenCL C can be either a buffer or an image:
//
//   A_PLACE          type of a block's place: a pointer, or the block's corner in an image
//   FIRST_A          the place of the work-group's first block
//   NEXT_A           moves a_block to the next one
//   SHARE_A          copies the block, `depth` deep, into a_shared in local memory
//   READ_A(whole)    reads a work-item's part of KS steps, from step p of the block
//
// and the same for B.

#if LAYOUT_A == IMAGE
#define A_PLACE int2
#define FIRST_A (int2)((int)tile.row / TEXEL, tile.product * round_up(k, KL) + tile.first_p)
#define NEXT_A a_block.y += KL
#else
#define A_PLACE __global const element*
#define FIRST_A tile.a
#define NEXT_A a_block += A_BLOCK_STEP
#endif
#if !LOCAL_A
#define SHARE_A
#elif LAYOUT_A == IMAGE
#define SHARE_A share_image(a_shared, a, a_block, ML, item)
#else
#define SHARE_A                                                         \
  share(a_shared, a_block, !A_ALONG_K, A_STEP_I, A_STEP_P, ML, A_PIECE, \
        LAYOUT_A != ROW_MAJOR || (tile.rows == ML && depth == KL), LAYOUT_A != ROW_MAJOR, tile.rows, depth, item)
#endif
#if LOCAL_A
#define READ_A(whole) read_part_local(a_part, a_shared + p * ML, ML, MS, A_PIECE, y, LOCAL_Y)
#elif LAYOUT_A == IMAGE
#define READ_A(whole) read_part_image(a_part, a, a_block + (int2)(0, p), MS, y, LOCAL_Y)
#else
#define READ_A(whole)                                                                    \
  read_part(a_part, a_block + p * A_STEP_P, !A_ALONG_K, A_STEP_I, A_STEP_P, MS, A_PIECE, \
            whole || LAYOUT_A != ROW_MAJOR, LAYOUT_A != ROW_MAJOR, tile.rows, depth - p, y, LOCAL_Y)
#endif

#if LAYOUT_B == IMAGE
#define B_PLACE int2
#define FIRST_B (int2)((int)tile.column / TEXEL, tile.product * round_up(k, KL) + tile.first_p)
#define NEXT_B b_block.y += KL
#else
#define B_PLACE __global const element*
#define FIRST_B tile.b
#define NEXT_B b_block += B_BLOCK_STEP
#endif
#if !LOCAL_B
#define SHARE_B
#elif LAYOUT_B == IMAGE
#define SHARE_B share_image(b_shared, b, b_block, NL, item)
#else
#define SHARE_B                                                                                                   \
  share(b_shared, b_block, !B_ALONG_K, B_STEP_J, B_STEP_P, NL, B_PIECE,                                           \
        LAYOUT_B != ROW_MAJOR || (tile.columns == NL && depth == KL), LAYOUT_B != ROW_MAJOR, tile.columns, depth, \
        item)
#endif
#if LOCAL_B
#define READ_B(whole) read_part_local((real*)b_part, b_shared + p * NL, NL, NS, B_PIECE, x, LOCAL_X)
#elif LAYOUT_B == IMAGE
#define READ_B(whole) read_part_image((real*)b_part, b, b_block + (int2)(0, p), NS, x, LOCAL_X)
#else
#define READ_B(whole)                                                                           \
  read_part((real*)b_part, b_block + p * B_STEP_P, !B_ALONG_K, B_STEP_J, B_STEP_P, NS, B_PIECE, \
            whole || LAYOUT_B != ROW_MAJOR, LAYOUT_B != ROW_MAJOR, tile.columns, depth - p, x, LOCAL_X)
#endif

// ---- The kernel ----

static inline void multiply(realv sum[MS][VECTORS], const real a_part[KS * MS], const realv b_part[KS * VECTORS]) {
  UNROLLED(s, KS)
    UNROLLED(i, MS)
      UNROLLED(w, VECTORS) sum[i][w] += a_part[s * MS + i] * b_part[s * VECTORS + w];
}

// True if a work-item reads from a matrix whose edge lies in this block.
#if A_GUARDED || B_GUARDED
#define AT_EDGE ((A_GUARDED && tile.rows < ML) || (B_GUARDED && tile.columns < NL) || depth < KL)
#else
#define AT_EDGE false
#endif

// Multiplies the blocks at a_block and b_block, `depth` deep.
#define MULTIPLY_BLOCK(whole)           \
  for (int p = 0; p < depth; p += KS) { \
    real a_part[KS * MS];               \
    realv b_part[KS * VECTORS];         \
    READ_A(whole);                      \
    READ_B(whole);                      \
    multiply(sum, a_part, b_part);      \
  }

#define ROW_OF(i) (((i) / A_PIECE * LOCAL_Y + y) * A_PIECE + (i) % A_PIECE)
#define COLUMN_OF(w) (((w)*VECTOR_WIDTH / B_PIECE * LOCAL_X + x) * B_PIECE + (w)*VECTOR_WIDTH % B_PIECE)

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  READ_NUMBERS;
#if LOCAL_A
  __local real a_shared[KL * ML] __attribute__((aligned(16 * sizeof(real))));
#endif
#if LOCAL_B
  __local real b_shared[KL * NL] __attribute__((aligned(16 * sizeof(real))));
#endif
  const Tile tile = find_tile(get_group_id(1), get_group_id(0), ML, NL, GEMM_ARGUMENTS);
  if (RETURNS_BEFORE_BARRIERS && OUTSIDE_C) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  A_PLACE a_block = FIRST_A;
  B_PLACE b_block = FIRST_B;
  realv sum[MS][VECTORS];
  CLEAR_SUM;

  for (int left = !RETURNS_BEFORE_BARRIERS && OUTSIDE_C ? 0 : tile.depth; left > 0; left -= KL) {
    const int depth = min(left, KL);
#if LOCAL_A || LOCAL_B
    const int item = y * LOCAL_X + x;
    barrier(CLK_LOCAL_MEM_FENCE);  // until all have multiplied the previous block
    SHARE_A;
    SHARE_B;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (AT_EDGE) {
      MULTIPLY_BLOCK(false)
    } else {
      MULTIPLY_BLOCK(true)
    }
    NEXT_A;
    NEXT_B;
  }
  UPDATE_C(EACH_VECTOR)
}
