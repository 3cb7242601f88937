// Packed weights (WEIGHTS.md) as the kernels read them that do not have them packed for them.

#define PANEL 16                         // columns
#define CHUNK 32                         // steps of k
#define WORDS WEIGHT_BITS                // of a column in a chunk
#define MIDDLE (1 << (WEIGHT_BITS - 1))  // the zero point of weights that have none

// The places of a panel's weights, in bytes.
typedef struct {
  int group;  // steps of k, 2^shift
  int shift;
  int has_zeros;  // zero points
  int head;       // bytes of a group before its words
  int block;      // bytes of a group
} Packed;

static inline Packed packed_of(const int2 weights) {
  Packed p = {weights.x, 5 + (weights.x > 32) + (weights.x > 64), weights.y, weights.y ? 3 * PANEL : 2 * PANEL, 0};
  p.block = p.head + p.group * PANEL * WEIGHT_BITS / 8;
  return p;
}

// The first word group of the panel with this column, at step `first_p`, a multiple of the group. The matrix has a head
// of 64 bytes.
static inline __global const uchar* panel_at(__global const uchar* b, const Packed p, const ulong column, const int k,
                                             const int first_p) {
  return b + 64 + (column / PANEL * (ulong)(k >> p.shift) + (first_p >> p.shift)) * (ulong)p.block;
}

// Writes a vector of row i of the tile.
#define PLACE_IN_C(i, first_column) tile.c + ((i) * (ulong)ldc + (first_column))
#define UPDATE(i, sums, first_column) \
  update_vector(PLACE_IN_C(i, first_column), sums, tile.columns - (first_column), alpha, beta)
#define FINISH(i, sums, first_column) \
  finish_vector(&e, PLACE_IN_C(i, first_column), i, first_column, sums, tile.columns - (first_column), alpha, beta)
// The weights of this product.
#define FIND_WEIGHTS                                                \
  const Packed packed = packed_of(weights);                         \
  const ulong number = (ulong)tile.product + numbers.first_product; \
  __global const uchar* first_weight =                              \
      (__global const uchar*)b + (numbers.b_offset + (offsets ? LISTED(number, 1) : number * b_stride));
