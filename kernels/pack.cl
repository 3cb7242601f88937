// Packing: zero-padded copies of A and B in the layouts that some variants multiply from, transposed where needed.
//
// However the caller stored it, a packed operand has k rows: element (p, i) of packed A is op(A)(i, p), element (p, j)
// of packed B is op(B)(p, j). So all four combinations of transposes become one, A^T * B. The size of the operand is
// rounded up to whole blocks, KL rows by ML (for B: NL) columns, and filled up with zeros.
//
//      PAD                   CBL                      RBL                  the number is the place in memory
//   +---+---+---+          +---+---+---+          +---+---+---+            of a block of KL x ML elements;
//   |           |  KL      | 0 | 2 | 4 |          | 0 | 1 | 2 |            blocks are row-major inside
//   +  rows one +          +---+---+---+          +---+---+---+
//   | by one    |          | 1 | 3 | 5 |          | 3 | 4 | 5 |
//   +---+---+---+          +---+---+---+          +---+---+---+
//    ML  ML  ML
//
//   PAD    row-major
//   CBL    column-block-major: all that a work-group reads is contiguous
//   RBL    row-block-major: all that is read in one step through KL is contiguous
//   IMAGE  PAD in an image: published/pack_image.cl
//
// A work-group packs a square of PACK_TILE x PACK_TILE through local memory, so that both reads and writes run along
// the rows of their matrix.

#define PACK_TILE 16
#define PACK_ITEMS 64
#define PACK_RUN 4  // neighbours that a work-item writes

#if LAYOUT_A != ROW_MAJOR || LAYOUT_B != ROW_MAJOR

static inline int round_up(const int value, const int factor) {
  return (value / factor + (value % factor != 0)) * factor;
}

// Reads the square of op(X)^T that begins at (p, i) into `tile`; element (p, i) is source[p * step_p + i * step_i].
static inline void read_square(__local real tile[PACK_TILE][PACK_TILE + 1], __global const element* source,
                               const ulong step_p, const ulong step_i, const int along_i, const int first_p,
                               const int first_i, const int k, const int extent) {
  for (int e = (int)get_local_id(0); e < PACK_TILE * PACK_TILE; e += PACK_ITEMS) {
    const int p = along_i ? e / PACK_TILE : e % PACK_TILE;
    const int i = along_i ? e % PACK_TILE : e / PACK_TILE;
    const bool exists = p < k - first_p && i < extent - first_i;
    tile[p][i] = exists ? LOAD(source + (ulong)(first_p + p) * step_p + (ulong)(first_i + i) * step_i) : 0;
  }
}

// A kernel's first half. extent: m or n. Grid: x along the columns of the packed operand, y along its rows,
// z = product. With fewer work-groups in y than squares, each packs one after the other.
#define PACK_KERNEL(name, target_parameter)                                                            \
  __kernel __attribute__((reqd_work_group_size(PACK_ITEMS, 1, 1))) void name(                          \
      const int extent, const int k, __global const element* source, const ulong offset, const int ld, \
      const ulong stride, __global const ulong* offsets, const int first_product, target_parameter,    \
      const ulong target_stride)

// `operand` is the operand's place among a product's three offsets.
#define FOR_EACH_SQUARE(operand)                                                      \
  __local real tile[PACK_TILE][PACK_TILE + 1];                                        \
  const int first_i = (int)get_group_id(0) * PACK_TILE;                               \
  const ulong number = get_group_id(2) + first_product;                               \
  source += offset + (offsets ? offsets[3 * number + operand] : number * stride);     \
  for (ulong first_p = get_group_id(1) * PACK_TILE; first_p < (ulong)round_up(k, KL); \
       first_p += get_num_groups(1) * PACK_TILE)

// Fills `tile`.
#define READ_SQUARE(step_p, step_i, along_i)                                            \
  barrier(CLK_LOCAL_MEM_FENCE); /* the square before has been written */                \
  read_square(tile, source, step_p, step_i, along_i, (int)first_p, first_i, k, extent); \
  barrier(CLK_LOCAL_MEM_FENCE);

#if TRANS_A
#define READ_SQUARE_A READ_SQUARE((ulong)ld, (ulong)1, 1)
#else
#define READ_SQUARE_A READ_SQUARE((ulong)1, (ulong)ld, 0)
#endif
#if TRANS_B
#define READ_SQUARE_B READ_SQUARE((ulong)1, (ulong)ld, 0)
#else
#define READ_SQUARE_B READ_SQUARE((ulong)ld, (ulong)1, 1)
#endif

// Offset of element (p, i) in a packed operand with `width` columns, whose blocks are KL x block.
static inline ulong packed_offset(const int layout, const int p, const int i, const int k, const int width,
                                  const int block) {
  const ulong inside = (ulong)(p % KL) * block + i % block;
  if (layout == CBL) {
    return (ulong)(i / block) * round_up(k, KL) * block + (ulong)(p / KL) * KL * block + inside;
  }
  if (layout == RBL) {
    return (ulong)(p / KL) * KL * width + (ulong)(i / block) * KL * block + inside;
  }
  return (ulong)p * width + i;
}

static inline void write_square(const __local real tile[PACK_TILE][PACK_TILE + 1], __global element* target,
                                const int layout, const int first_p, const int first_i, const int k, const int extent,
                                const int block) {
  const int p = (int)get_local_id(0) / (PACK_TILE / PACK_RUN);
  const int i = (int)get_local_id(0) % (PACK_TILE / PACK_RUN) * PACK_RUN;
  const int width = round_up(extent, block);
  for (int q = i; q < i + PACK_RUN; ++q) {
    if (first_p + p < round_up(k, KL) && first_i + q < width) {
      STORE(tile[p][q], target + packed_offset(layout, first_p + p, first_i + q, k, width, block));
    }
  }
}

#if LAYOUT_A != ROW_MAJOR && LAYOUT_A != IMAGE
PACK_KERNEL(clbake_pack_a, __global element* target) {
  FOR_EACH_SQUARE(0) {
    READ_SQUARE_A
    write_square(tile, target + get_group_id(2) * target_stride, LAYOUT_A, (int)first_p, first_i, k, extent, ML);
  }
}
#endif

#if LAYOUT_B != ROW_MAJOR && LAYOUT_B != IMAGE
PACK_KERNEL(clbake_pack_b, __global element* target) {
  FOR_EACH_SQUARE(1) {
    READ_SQUARE_B
    write_square(tile, target + get_group_id(2) * target_stride, LAYOUT_B, (int)first_p, first_i, k, extent, NL);
  }
}
#endif

#endif
