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
//   KMAJOR the transpose of PAD: m (n) rows along k, for matrix units that take bytes so alone
//
// A work-group packs a square of PACK_TILE x PACK_TILE through local memory, so that both reads and writes run along
// the rows of their matrix. Elements pass as they are: bits of 16, or numbers.

// Packed weights (WEIGHTS.md) become op(B)'s elements on the way, rounded to their type.

#define PACK_ITEMS 256
// PACK_RUN: neighbours that a work-item writes at once, 16 bytes.
#if OPERAND_BYTES == 1
#define PACK_TILE 64
#define PACK_RUN 16
typedef uchar raw;
typedef uchar16 raws;
#elif PRECISION == 16
#define PACK_TILE 64
#define PACK_RUN 8
typedef ushort raw;
typedef ushort8 raws;
#elif PRECISION != 64
#define PACK_TILE 32
#define PACK_RUN 4
typedef float raw;
typedef float4 raws;
#else
#define PACK_TILE 32
#define PACK_RUN 2
typedef double raw;
typedef double2 raws;
#endif

#if LAYOUT_A != ROW_MAJOR || LAYOUT_B != ROW_MAJOR

// Reads the square of op(X)^T that begins at (p, i) into `tile`. Lines of the stored matrix, ld elements apart, lie
// along i, or else along p. Neighbours read neighbours of a line.
static inline void read_square(__local raw tile[PACK_TILE][PACK_TILE + 1], __global const raw* source, const ulong ld,
                               const int along_i, const int first_p, const int first_i, const int k, const int extent) {
  const int at_once = PACK_ITEMS / PACK_TILE;  // lines
  const int line = (int)get_local_id(0) / PACK_TILE;
  const int at = (int)get_local_id(0) % PACK_TILE;
  const int lines_left = (along_i ? k - first_p : extent - first_i) - line;
  const bool exists = at < (along_i ? extent - first_i : k - first_p);
  source += (ulong)((along_i ? first_p : first_i) + line) * ld + ((along_i ? first_i : first_p) + at);
#pragma unroll
  for (int l = 0; l < PACK_TILE; l += at_once) {
    const raw value = exists && l < lines_left ? source[l * ld] : 0;
    tile[along_i ? line + l : at][along_i ? at : line + l] = value;
  }
}

#if WEIGHT_BITS > 0 && LAYOUT_B != ROW_MAJOR
// The bits of a number as an element.
static inline raw raw_of(const float x) {
#if PRECISION == 32
  return x;
#elif BFLOAT16
  const uint bits = as_uint(x);
  return NARROWED(, bits);
#else
  raw bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return bits;
#endif
}

// As read_square, of the weights of one product. weights: their group, and whether they have zero points. A work-item
// unpacks words, of four codes, or twice four, of a column.
static inline void read_weights(__local raw tile[PACK_TILE][PACK_TILE + 1], __global const uchar* source,
                                const int2 weights, const int first_p, const int first_i, const int k, const int n) {
  const int head = weights.y ? 48 : 32, block = head + 2 * weights.x * WEIGHT_BITS;
  for (int at = (int)get_local_id(0); at < PACK_TILE * PACK_TILE * WEIGHT_BITS / 32; at += PACK_ITEMS) {
    const int i = at % PACK_TILE, word = at / PACK_TILE % WEIGHT_BITS, chunk = at / PACK_TILE / WEIGHT_BITS * 32;
    const int p = first_p + chunk, column = (first_i + i) % 16;
    const bool exists = first_i + i < n && p < k;
    uint codes = 0;
    int zero = 1 << (WEIGHT_BITS - 1);
    float scale = 0;
    if (exists) {
      __global const uchar* group =
          source + 64 + ((ulong)((first_i + i) / 16) * (k / weights.x) + p / weights.x) * (ulong)block;
      scale = vload_half(column, (__global const half*)group);
      if (weights.y) zero = group[32 + column];
      codes = ((__global const uint*)(group + head))[(p % weights.x / 32 * WEIGHT_BITS + word) * 16 + column];
    }
    UNROLLED(q, 32 / WEIGHT_BITS) {
      const int code = (int)(codes >> WEIGHT_BITS * q & ((1u << WEIGHT_BITS) - 1));
      const int byte = q * WEIGHT_BITS / 8;
      const int step = (WEIGHT_BITS == 4 ? q % 2 * 16 : 0) + word * 4 + byte / 2 + byte % 2 * 2;
      tile[chunk + step][i] = raw_of(exists ? (code - zero) * scale : 0);
    }
  }
}
#endif

// Elements of a packed operand.
static inline ulong packed_size(const int extent, const int block, const int k) {
  return (ulong)round_up(extent, block) * round_up(k, KL);
}

// Offset of element (p, i) in a packed operand with `width` columns, whose blocks are KL x block.
static inline ulong packed_offset(const int layout, const int p, const int i, const int k, const int width,
                                  const int block) {
  const ulong inside = (ulong)(p % KL) * block + i % block;
  if (layout == CBL) return (ulong)(i / block) * round_up(k, KL) * block + (ulong)(p / KL) * KL * block + inside;
  if (layout == RBL) return (ulong)(p / KL) * KL * width + (ulong)(i / block) * KL * block + inside;
  return (ulong)p * width + i;
}

static inline void write_square(const __local raw tile[PACK_TILE][PACK_TILE + 1], __global operand* target,
                                const int layout, const int first_p, const int first_i, const int k, const int extent,
                                const int block) {
  const int runs = PACK_TILE / PACK_RUN;  // of a row
  const int i = (int)get_local_id(0) % runs * PACK_RUN;
  const int width = round_up(extent, block) - first_i;
  const int depth = round_up(k, KL) - first_p;
#pragma unroll
  for (int p = (int)get_local_id(0) / runs; p < PACK_TILE; p += PACK_ITEMS / runs) {
    if (p < depth && block % PACK_RUN == 0 && i < width) {  // then all that follow fit, too
      raws run;
      UNROLLED(q, PACK_RUN) ((raw*)&run)[q] = tile[p][i + q];
      *(__global raws*)(target + packed_offset(layout, first_p + p, first_i + i, k, width + first_i, block)) = run;
    } else if (p < depth) {
      for (int q = i; q < min(i + PACK_RUN, width); ++q)
        *(__global raw*)(target + packed_offset(layout, first_p + p, first_i + q, k, width + first_i, block)) =
            tile[p][q];
    }
  }
}

// The same for KMAJOR.
static inline void write_along_k(const __local raw tile[PACK_TILE][PACK_TILE + 1], __global operand* target,
                                 const int first_p, const int first_i, const int k, const int extent, const int block) {
  const int runs = PACK_TILE / PACK_RUN;  // of a row
  const int p = (int)get_local_id(0) % runs * PACK_RUN;
  const int width = round_up(extent, block) - first_i;
  const int depth = round_up(k, KL);
  if (first_p + p >= depth) return;
  for (int i = (int)get_local_id(0) / runs; i < PACK_TILE; i += PACK_ITEMS / runs) {
    if (i < width) {
      raws run;
      UNROLLED(q, PACK_RUN) ((raw*)&run)[q] = tile[p + q][i];
      *(__global raws*)(target + ((ulong)(first_i + i) * depth + (first_p + p))) = run;
    }
  }
}

// Defines a kernel. operand_name: a or b; place: its place among a product's three offsets; columns: m or n; start,
// write: statements that find the product's copy, and write `tile`. Grid: x along the columns of the packed operand, y
// along its rows, z = product. With fewer work-groups in y than squares, each packs one after the other.
#define PACK_KERNEL(name, target_parameter, start, operand_name, place, columns, along_i, write)          \
  READING_KERNEL(name, operand, target_parameter, , start, operand_name, place, columns,                  \
                 read_square(tile, (__global const raw*)source, (ulong)numbers.ld##operand_name, along_i, \
                             (int)first_p, first_i, k, extent),                                           \
                 write)
#define READING_KERNEL(name, type, target_parameter, last_parameter, start, operand_name, place, columns, read, write) \
  __kernel __attribute__((reqd_work_group_size(PACK_ITEMS, 1, 1))) void name(                                          \
      __global const type* source, target_parameter, __global const ulong* offsets,                                    \
      const Numbers numbers last_parameter) {                                                                          \
    start;                                                                                                             \
    __local raw tile[PACK_TILE][PACK_TILE + 1];                                                                        \
    const int extent = numbers.columns, k = numbers.k;                                                                 \
    const int first_i = (int)get_group_id(0) * PACK_TILE;                                                              \
    const ulong number = get_group_id(2) + numbers.first_product;                                                      \
    source +=                                                                                                          \
        numbers.operand_name##_offset + (offsets ? LISTED(number, place) : number * numbers.operand_name##_stride);    \
    for (ulong first_p = get_group_id(1) * PACK_TILE; first_p < (ulong)round_up(k, KL);                                \
         first_p += get_num_groups(1) * PACK_TILE) {                                                                   \
      barrier(CLK_LOCAL_MEM_FENCE); /* the square before has been written */                                           \
      read;                                                                                                            \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                                    \
      write;                                                                                                           \
    }                                                                                                                  \
  }

#define START(columns, block) target += get_group_id(2) * packed_size(numbers.columns, block, numbers.k)
#define WRITE(layout, block)                                                     \
  if (layout == KMAJOR) {                                                        \
    write_along_k(tile, target, (int)first_p, first_i, k, extent, block);        \
  } else {                                                                       \
    write_square(tile, target, layout, (int)first_p, first_i, k, extent, block); \
  }
#if LAYOUT_A != ROW_MAJOR && LAYOUT_A != IMAGE
PACK_KERNEL(clbake_pack_a, __global operand* target, START(m, ML), a, 0, m, TRANS_A, WRITE(LAYOUT_A, ML))
#endif
#define COMMA ,
#if LAYOUT_B != ROW_MAJOR && WEIGHT_BITS > 0
READING_KERNEL(clbake_pack_b, uchar, __global element* target, COMMA const int2 weights, START(n, NL), b, 1, n,
               read_weights(tile, source, weights, (int)first_p, first_i, k, extent), WRITE(LAYOUT_B, NL))
#elif LAYOUT_B != ROW_MAJOR && LAYOUT_B != IMAGE
PACK_KERNEL(clbake_pack_b, __global operand* target, START(n, NL), b, 1, n, !TRANS_B, WRITE(LAYOUT_B, NL))
#endif

#endif
