// Copies of A and B in the layouts that some variants multiply from: zero-padded, with or without transposition.
//
// Whatever the caller stored, a copy of an operand is a matrix of k rows: element (p, i) of A's copy is op(A)(i, p),
// element (p, j) of B's is op(B)(p, j). So all four types of multiplication become one, A^T * B. Its sizes are those of
// the operand rounded up to whole blocks, KL rows and ML (for B: NL) columns, and what does not exist is zero.
//
//      PADDED               COLUMN_BLOCK             ROW_BLOCK              the number says where in memory
//   +---+---+---+          +---+---+---+          +---+---+---+             a block of KL x ML elements comes;
//   |           |  KL      | 0 | 2 | 4 |          | 0 | 1 | 2 |             inside, elements are row-major
//   +  rows one +          +---+---+---+          +---+---+---+
//   | by one    |          | 1 | 3 | 5 |          | 3 | 4 | 5 |
//   +---+---+---+          +---+---+---+          +---+---+---+
//    ML  ML  ML
//
//   PADDED        the row-major matrix
//   COLUMN_BLOCK  all that a work-group's stripe needs lies in one piece ("CBL" in the paper by Matsumoto et al.)
//   ROW_BLOCK     all that one step through KL needs lies in one piece ("RBL")
//   IMAGE         PADDED in an image whose texels hold TEXEL neighbours of a row; several products one below the other
//
// A work-group copies a COPY_TILE x COPY_TILE square through local memory, so that both reading and writing go along
// the rows of their matrix.

#define COPY_TILE 16
#define COPY_ITEMS 64
#define COPY_RUN 4  // neighbours that a work-item writes

#if PRECISION == 64
#define TEXEL 2  // two doubles as four 32-bit integers
#else
#define TEXEL 4
#endif

#if LAYOUT_A != ROW_MAJOR || LAYOUT_B != ROW_MAJOR

static inline int round_up(const int value, const int factor) {
  return (value / factor + (value % factor != 0)) * factor;
}

// Offset of element (p, i) in the copy of a matrix with `width` columns, whose blocks are KL x block.
static inline ulong copy_offset(const int layout, const int p, const int i, const int k, const int width,
                                const int block) {
  const ulong inside = (ulong)(p % KL) * block + i % block;
  if (layout == COLUMN_BLOCK) {
    return (ulong)(i / block) * round_up(k, KL) * block + (ulong)(p / KL) * KL * block + inside;
  }
  if (layout == ROW_BLOCK) {
    return (ulong)(p / KL) * KL * width + (ulong)(i / block) * KL * block + inside;
  }
  return (ulong)p * width + i;
}

// Reads the square of op(X)^T that begins at (p, i) into `tile`; element (p, i) is source[p * step_p + i * step_i].
static inline void copy_in(__local real tile[COPY_TILE][COPY_TILE + 1], __global const element* source,
                           const ulong step_p, const ulong step_i, const int along_i, const int first_p,
                           const int first_i, const int k, const int extent) {
  for (int e = (int)get_local_id(0); e < COPY_TILE * COPY_TILE; e += COPY_ITEMS) {
    const int p = along_i ? e / COPY_TILE : e % COPY_TILE;
    const int i = along_i ? e % COPY_TILE : e / COPY_TILE;
    const bool exists = p < k - first_p && i < extent - first_i;
    tile[p][i] = exists ? LOAD(source + (ulong)(first_p + p) * step_p + (ulong)(first_i + i) * step_i) : 0;
  }
}

static inline void copy_out(const __local real tile[COPY_TILE][COPY_TILE + 1], __global element* target,
                            const int layout, const int first_p, const int first_i, const int k, const int extent,
                            const int block) {
  const int p = (int)get_local_id(0) / (COPY_TILE / COPY_RUN);
  const int i = (int)get_local_id(0) % (COPY_TILE / COPY_RUN) * COPY_RUN;
  const int width = round_up(extent, block);
  for (int q = i; q < i + COPY_RUN; ++q) {
    if (first_p + p < round_up(k, KL) && first_i + q < width) {
      STORE(tile[p][q], target + copy_offset(layout, first_p + p, first_i + q, k, width, block));
    }
  }
}

#if LAYOUT_A == IMAGE || LAYOUT_B == IMAGE
static inline void copy_out_image(const __local real tile[COPY_TILE][COPY_TILE + 1], __write_only image2d_t target,
                                  const int product, const int first_p, const int first_i, const int k,
                                  const int extent, const int block) {
  const int p = (int)get_local_id(0) / (COPY_TILE / COPY_RUN);
  const int i = (int)get_local_id(0) % (COPY_TILE / COPY_RUN) * COPY_RUN;
  for (int q = i; q < i + COPY_RUN; q += TEXEL) {
    if (first_p + p < round_up(k, KL) && first_i + q < round_up(extent, block)) {
      const int2 at = (int2)((first_i + q) / TEXEL, product * round_up(k, KL) + first_p + p);
#if PRECISION == 64
      write_imageui(target, at, as_uint4((double2)(tile[p][q], tile[p][q + 1])));
#else
      write_imagef(target, at, (float4)(tile[p][q], tile[p][q + 1], tile[p][q + 2], tile[p][q + 3]));
#endif
    }
  }
}
#endif

// Grid: x along the columns of the copy, y along its rows, z = product. extent: m or n; `which` of a product's three
// offsets is the operand's.
#define COPY_KERNEL(name, target_parameter)                                                                    \
  __kernel __attribute__((reqd_work_group_size(COPY_ITEMS, 1, 1))) void name(                                  \
      const int extent, const int k, __global const element* source, const ulong offset, const int ld,         \
      const ulong stride, __global const ulong* offsets, const int first_product, target_parameter,            \
      const ulong target_stride)

#define COPY_BODY(step_p, step_i, along_i, which)                                                              \
  __local real tile[COPY_TILE][COPY_TILE + 1];                                                                 \
  const int first_i = (int)get_group_id(0) * COPY_TILE;                                                        \
  const int first_p = (int)get_group_id(1) * COPY_TILE;                                                        \
  const ulong number = get_group_id(2) + first_product;                                                        \
  source += offset + (offsets ? offsets[3 * number + which] : number * stride);                                \
  copy_in(tile, source, step_p, step_i, along_i, first_p, first_i, k, extent);                                 \
  barrier(CLK_LOCAL_MEM_FENCE);

#endif

#if LAYOUT_A != ROW_MAJOR
#if LAYOUT_A == IMAGE
COPY_KERNEL(clbake_copy_a, __write_only image2d_t target) {
#else
COPY_KERNEL(clbake_copy_a, __global element* target) {
#endif
#if TRANS_A
  COPY_BODY((ulong)ld, (ulong)1, 1, 0)
#else
  COPY_BODY((ulong)1, (ulong)ld, 0, 0)
#endif
#if LAYOUT_A == IMAGE
  copy_out_image(tile, target, (int)get_group_id(2), first_p, first_i, k, extent, ML);
#else
  copy_out(tile, target + get_group_id(2) * target_stride, LAYOUT_A, first_p, first_i, k, extent, ML);
#endif
}
#endif

#if LAYOUT_B != ROW_MAJOR
#if LAYOUT_B == IMAGE
COPY_KERNEL(clbake_copy_b, __write_only image2d_t target) {
#else
COPY_KERNEL(clbake_copy_b, __global element* target) {
#endif
#if TRANS_B
  COPY_BODY((ulong)1, (ulong)ld, 0, 1)
#else
  COPY_BODY((ulong)ld, (ulong)1, 1, 1)
#endif
#if LAYOUT_B == IMAGE
  copy_out_image(tile, target, (int)get_group_id(2), first_p, first_i, k, extent, NL);
#else
  copy_out(tile, target + get_group_id(2) * target_stride, LAYOUT_B, first_p, first_i, k, extent, NL);
#endif
}
#endif
