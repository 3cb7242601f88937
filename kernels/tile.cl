// The head of every family's kernel, and what a work-group computes: its tile of C, or a slice of it.

#if LAYOUT_A == IMAGE
#define A_PARAMETER __read_only image2d_t a
#define A_POINTER ((__global const operand*)0)
#else
#define A_PARAMETER __global const operand* a
#define A_POINTER a
#endif
#if LAYOUT_B == IMAGE
#define B_PARAMETER __read_only image2d_t b
#define B_POINTER ((__global const operand*)0)
#else
#define B_PARAMETER __global const operand* b
#define B_POINTER b
#endif

// Packed weights that the kernel reads: their group in steps of k, and whether they have zero points. Slices of k are
// whole groups of any size.
#if READS_WEIGHTS
#define WEIGHTS_PARAMETER , const int2 weights
#define SLICE_STEP 128
#else
#define WEIGHTS_PARAMETER
#define SLICE_STEP KL
#endif

#if SPLIT_K == 0
#define TAIL_PARAMETERS __global real *partials, const int2 tail,
#else
#define TAIL_PARAMETERS
#endif

// Work-items of most families' work-groups, in a row and a column of the tile, and of all of it.
#define LOCAL_X (NL / NS)
#define LOCAL_Y (ML / MS)
#define PLACES (LOCAL_X * LOCAL_Y)

// The work-group size is local_x x local_y. The kernel's first statement is READ_NUMBERS.
#define GEMM_KERNEL(local_x, local_y)                                                   \
  __kernel __attribute__((reqd_work_group_size(local_x, local_y, 1))) void clbake_gemm( \
      A_PARAMETER, B_PARAMETER, __global output* c, TAIL_PARAMETERS CALL_PARAMETERS WEIGHTS_PARAMETER)

// The numbers by name, for what the kernel reads and writes: packed operands and partial sums have no gaps, and
// reduce.cl scales the sums.
#define READ_NUMBERS                                                                                          \
  FIND_MEMBER                                                                                                 \
  const int m = numbers.m, n = numbers.n, k = numbers.k;                                                      \
  const int lda = LAYOUT_A == ROW_MAJOR ? numbers.lda : round_up(A_ALONG_K ? k : m, A_ALONG_K ? KL : ML);     \
  const int ldb = LAYOUT_B == ROW_MAJOR ? numbers.ldb : round_up(B_ALONG_K ? k : n, B_ALONG_K ? KL : NL);     \
  const int ldc = WRITES_C ? numbers.ldc : n;                                                                 \
  const ulong a_stride = LAYOUT_A == ROW_MAJOR ? numbers.a_stride : (ulong)round_up(m, ML) * round_up(k, KL); \
  const ulong b_stride = LAYOUT_B == ROW_MAJOR ? numbers.b_stride : (ulong)round_up(n, NL) * round_up(k, KL); \
  const ulong c_stride = WRITES_C ? numbers.c_stride : (ulong)m * n;                                          \
  const updated alpha = WRITES_C ? ALPHA : scalars.x != 0;                                                    \
  const updated beta = WRITES_C ? scalars.y : 0;                                                              \
  FIND_PART

#if !GROUP
#define FIND_MEMBER
#define ALPHA scalars.x
#endif

// The tile of this number, counted in bands of BAND rows of tiles: those that run at the same time then need less of
// op(A) and op(B) than row by row.
#define BAND 8
static inline void find_in_bands(const uint number, const uint rows, const uint columns, size_t* row, size_t* column) {
  const uint first = number / (BAND * columns) * BAND;
  const uint in_band = min(rows - first, (uint)BAND);
  *row = first + number % (BAND * columns) % in_band;
  *column = number % (BAND * columns) / in_band;
}

// The work of a work-group: a tile of C, over all of k or over a slice of it.
#if GROUP
// Grid: x, the tiles of all products, one product after the other, each counted in bands.
#define TILE_ROW tile_row
#define TILE_COLUMN tile_column
#define PRODUCT 0
#define SLICE 0
#define SLICES 1
#define FIND_PART
#define SLICE_SUMS ((__global real*)0)
#define PART_PARAMETER
#define PART_ARGUMENT
#define FIND_MEMBER                                                                                   \
  Numbers numbers = call;                                                                             \
  size_t tile_row, tile_column;                                                                       \
  const uint member_tile = call.group < 0 ? find_by_rows(&numbers, (__global const int*)offsets)      \
                                          : find_by_table(&numbers, (__global const Member*)offsets); \
  find_in_bands(member_tile, TILES(numbers.m, ML), TILES(numbers.n, NL), &tile_row, &tile_column);    \
  offsets = 0;
// An infinite alpha times an empty sum would be NaN; -0 keeps the sign of a zero in beta * C.
#define ALPHA (numbers.k > 0 ? scalars.x : scalars.y != 0 ? (updated)-0.0f : 0)

// A product of a group that has elements, in the order of `tile`.
typedef struct {
  ulong a, b, c, d;  // elements from the starts of the call's matrices to the product's
  int m, n, k, lda, ldb, ldc, ldd;
  int number;  // in the caller's list: finds the bias
  int tile;    // the product's first one
  int unused;
} Member;

#define TILES(size, tile) max(((uint)(size) + ((tile)-1)) / (tile), 1U)

// Both give `x`, the numbers of the call, those of the work-group's product, and return the tile's number in that. By
// the table that the host has made:
static inline uint find_by_table(Numbers* x, __global const Member* members) {
  const int group = (int)get_group_id(0);
  int first = 0;
  for (int end = x->group; end - first > 1;) {
    const int middle = first + (end - first) / 2;
    if (members[middle].tile <= group)
      first = middle;
    else
      end = middle;
  }
  __global const Member* found = members + first;
  x->a_offset += found->a;
  x->b_offset += found->b;
  x->c_offset += found->c;
  x->d_offset += found->d;
  x->bias_offset += found->number * x->bias_stride;
  x->m = found->m;
  x->n = found->n;
  x->k = found->k;
  x->lda = found->lda;
  x->ldb = found->ldb;
  x->ldc = found->ldc;
  x->ldd = found->ldd;
  return (uint)(group - found->tile);
}

// By the rows of each product, which only the device knows, from element a_stride on: they are clamped, as all together
// have at most x->m. Behind the last tile m is 0.
static inline uint find_by_rows(Numbers* x, __global const int* rows) {
  rows += x->a_stride;
  const uint columns = TILES(x->n, NL);
  uint group = (uint)get_group_id(0);
  int begin = 0, number = 0, m = 0;
  for (; number < -x->group; ++number) {
    m = clamp(rows[number], 0, x->m - begin);
    const uint tiles = ((uint)m + (ML - 1)) / ML * columns;
    if (group < tiles) break;
    group -= tiles;
    begin += m;
    m = 0;
  }
  x->a_offset += begin * (TRANS_A ? (ulong)1 : (ulong)x->lda);
  x->b_offset += number * x->b_stride;
  x->c_offset += begin * (ulong)x->ldc;
  x->d_offset += begin * (ulong)x->ldd;
  x->bias_offset += x->steps & ROW_BIAS ? (ulong)begin : number * x->bias_stride;
  x->m = m;
  return group;
}
#elif SPLIT_K > 0
// Grid: x along the columns of C, y along its rows, z = product * SPLIT_K + slice.
#define TILE_ROW get_group_id(1)  // of the rows of tiles
#define TILE_COLUMN get_group_id(0)
#define PRODUCT (int)(get_group_id(2) / SPLIT_K)  // within this launch
#define SLICE get_group_id(2) % SPLIT_K
#define SLICES SPLIT_K  // of the tile
#define FIND_PART
#define SLICE_SUMS ((__global real*)0)
#define PART_PARAMETER
#define PART_ARGUMENT
#else
// A device computes as many tiles at a time as it has units: a wave. If the last wave is not full, only its tiles, the
// tail, are cut into slices of k, and those use the other units. So tail.x tiles are whole, and each other one has
// tail.y slices.
//
//      wave 1   +--------+--------+--------+--------+--------+   wave 2   +---+---+---+---+
//               | tile 0 | tile 1 | tile 2 | tile 3 | tile 4 |            | 5 | 5 | 5 | 5 |   a tile in four slices
//               +--------+--------+--------+--------+--------+            +---+---+---+---+
//
// Grid: x, the whole tiles of all products, then the slices of the others.
#define TILE_ROW part.tile_row
#define TILE_COLUMN part.tile_column
#define PRODUCT part.product
#define SLICE part.slice
#define SLICES part.slices
#define FIND_PART const Part part = find_part((int)get_group_id(0), tail.x, tail.y, m, n)
#define PART_PARAMETER const Part part,
#define PART_ARGUMENT part,

typedef struct {
  size_t tile_row, tile_column;
  int product, slice, slices;
} Part;

// The slice's ML x NL sums; null: a whole tile.
#define SLICE_SUMS \
  (part.slices > 1 ? partials + ((uint)get_group_id(0) - (uint)tail.x) * (ulong)(ML * NL) : (__global real*)0)

// The tile of this number among those of all products, and its product.
static inline Part find_counted(const uint tile, const int m, const int n) {
  const uint rows = ((uint)m + (ML - 1)) / ML, columns = ((uint)n + (NL - 1)) / NL;
  Part part = {0, 0, (int)(tile / (rows * columns)), 0, 1};
  find_in_bands(tile % (rows * columns), rows, columns, &part.tile_row, &part.tile_column);
  return part;
}

static inline Part find_part(const int group, const int whole, const int slices, const int m, const int n) {
  const int behind = max(group - whole, 0);
  Part part = find_counted((uint)(min(group, whole) + behind / slices), m, n);
  if (group >= whole) {
    part.slice = behind % slices;
    part.slices = slices;
  }
  return part;
}
#endif

// A work-group's tile of C, and the operands of its slice of k.
typedef struct {
  __global const operand* a;  // first element of the tile's rows of op(A); unused when A is in an image
  __global const operand* b;  // first element of the tile's columns of op(B); unused when B is in an image
  __global output* c;         // first element of the tile
  size_t row;                 // first row of the tile in C
  size_t column;              // first column
  int rows;                   // rows of the tile inside C; 0 when the tile lies outside
  int columns;                // columns of the tile inside C; 0 when the tile lies outside
  int depth;                  // steps of k in the slice; 0 when alpha is 0
  int product;                // number of the product within this launch
  int first_p;                // first step of k of the slice, a multiple of KL
} Tile;

// The tile in this row and column of tiles, when C is cut into tiles of rows x columns, at most ML x NL.
static inline Tile find_tile(const size_t tile_row, const size_t tile_column, const size_t rows, const size_t columns,
                             PART_PARAMETER const int m, const int n, const int k, const updated alpha,
                             __global const operand* a, const ulong a_offset, const int lda, __global const operand* b,
                             const ulong b_offset, const int ldb, __global output* c, const ulong c_offset,
                             const int ldc, const ulong a_stride, const ulong b_stride, const ulong c_stride,
                             __global const ulong* offsets, const int first_product) {
  Tile tile;
  tile.row = tile_row * rows;
  tile.column = tile_column * columns;
  tile.rows = tile.row < (size_t)m ? (int)min(rows, (size_t)m - tile.row) : 0;
  tile.columns = tile.column < (size_t)n ? (int)min(columns, (size_t)n - tile.column) : 0;
  tile.product = PRODUCT;

  // Slices are multiples of KL deep, so that no block of k is split.
  const int round = SLICES * SLICE_STEP;
  const int slice_depth = SLICES == 1 ? k : (k / round + (k % round != 0)) * SLICE_STEP;
  tile.first_p = (int)min((size_t)k, SLICE * (size_t)slice_depth);
  tile.depth = alpha == 0 ? 0 : min(k - tile.first_p, slice_depth);
  const ulong first_block = tile.first_p / KL;

  // The caller's matrices are indexed by the product's number in the batch, packed operands by that in this launch.
  const ulong number = (ulong)tile.product + first_product;
  (void)number;  // with two packed operands and partial sums nobody asks
#if LAYOUT_A == ROW_MAJOR
  a += a_offset + (offsets ? LISTED(number, 0) : number * a_stride) + tile.row * A_STEP_I;
#else
  a += tile.product * a_stride + block_column_offset(LAYOUT_A, tile_row, ML, k);
#endif
#if LAYOUT_B == ROW_MAJOR
  b += b_offset + (offsets ? LISTED(number, 1) : number * b_stride) + tile.column * B_STEP_J;
#else
  b += tile.product * b_stride + block_column_offset(LAYOUT_B, tile_column, NL, k);
#endif
#if WRITES_C
  c += c_offset + (offsets ? LISTED(number, 2) : number * c_stride);
#else
  c += get_group_id(2) * c_stride;
#endif
  tile.a = a + first_block * A_BLOCK_STEP;
  tile.b = b + first_block * B_BLOCK_STEP;
  tile.c = c + tile.row * (ulong)ldc + tile.column;
  return tile;
}

#define OUTSIDE_C (tile.rows == 0 || tile.columns == 0)

// The kernel's arguments in the order of find_tile.
#define GEMM_ARGUMENTS                                                                                 \
  PART_ARGUMENT m, n, k, alpha, A_POINTER, numbers.a_offset, lda, B_POINTER, numbers.b_offset, ldb, c, \
      numbers.c_offset, ldc, a_stride, b_stride, c_stride, offsets, numbers.first_product
