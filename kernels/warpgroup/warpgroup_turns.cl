// Which tiles of C a work-group of warpgroup_tile computes.
//
// One. But with tensor copies, the first work-groups, as many as the device holds at a time, compute all tiles in
// turns, and the others return:
//
//     tiles 0 to 7, and a device that holds three work-groups
//
//       work-group 0:   0 | 3 | 6         A producer goes on to the next tile while the consumers write one to C,
//       work-group 1:   1 | 4 | 7         and makes its tensor maps once.
//       work-group 2:   2 | 5

// The call as the functions of warpgroup_tile take it: the kernel's arguments, and what follows from them.
typedef struct {
  __global const operand *a, *b;
  __global output* c;
  __global const ulong* offsets;
  __global const bias_element* bias;
  __global const element* d;
  const Numbers* numbers;
  CONCAT(SCALED, 4) scalars;
  int m, n, k, lda, ldb, ldc;
  ulong a_stride, b_stride, c_stride;
  ulong a_step, b_step;  // from a line of op(A), of op(B) to the next
  updated alpha, beta;
  __global real* slice;  // the sums of a slice of k go here; null: they go to C
  MIXED_CALL_MEMBERS
#if READS_WEIGHTS
  int2 weights;  // tile.cl
#define CALL_WEIGHTS , weights
#else
#define CALL_WEIGHTS
#endif
#if SPLIT_K == 0
  Part part;
#define CALL_PART , part
#else
#define CALL_PART
#endif
} Call;

// From the kernel's variables.
#define CALL                                                                                                         \
  {                                                                                                                  \
    a, b, c, offsets, bias, d, &numbers, scalars, m, n, k, lda, ldb, ldc, a_stride, b_stride, c_stride, A_LINE_STEP, \
        B_LINE_STEP, alpha, beta, SLICE_SUMS MIXED_CALL_VALUES CALL_WEIGHTS CALL_PART                                \
  }

// Tiles number first, first + step ... of find_in_bands. swapped: the first one is computed last, the last one first.
typedef struct {
  uint first, step, count;  // count 0: the work-group has nothing to do
  bool swapped;
  uint last_row, last_column;  // of the tile that is computed last: most work-groups have no other
} Turns;

#if TENSOR_COPIES && SPLIT_K > 0
// Work-groups that a multiprocessor of sm_90 holds: it has 228 KB of local memory, and needs one of them for each.
#define RESIDENT max(1, (228 << 10) / (GROUP_BYTES + 16 * BUFFERS + 1024))

// At least as many as the device has.
static ALWAYS_INLINE uint multiprocessors(void) {
  uint count;
  __asm__("mov.u32 %0, %%nsmid;" : "=r"(count));
  return count;
}

static ALWAYS_INLINE Turns find_turns(void) {
  const uint columns = (uint)get_num_groups(0), tiles = (uint)get_num_groups(1) * columns;
  const bool alone = get_num_groups(2) == 1;  // slices of k and the products of a batch fill the device by themselves
  const uint groups = alone ? min(tiles, multiprocessors() * RESIDENT) : tiles;
  const uint first = (uint)get_group_id(1) * columns + (uint)get_group_id(0);
  const uint count = first >= groups ? 0 : groups == tiles ? 1 : (tiles - first + groups - 1) / groups;
  Turns turns = {first, groups, count, false, 0, 0};
  return turns;
}

static ALWAYS_INLINE void find_turn(const Turns* turns, const uint turn, uint* row, uint* column) {
  const bool is_end = turn == 0 || turn + 1 == turns->count;
  const uint number = turns->swapped && is_end ? turns->count - 1 - turn : turn;
  size_t tile_row = 0, tile_column = 0;
  find_in_bands(turns->first + number * turns->step, (uint)get_num_groups(1), (uint)get_num_groups(0), &tile_row,
                &tile_column);
  *row = (uint)tile_row;
  *column = (uint)tile_column;
}

static ALWAYS_INLINE void find_last(Turns* turns) {
  find_turn(turns, turns->count - 1, &turns->last_row, &turns->last_column);
}
#else
static ALWAYS_INLINE Turns find_turns(void) {
  const Turns turns = {0, 1, 1, false, 0, 0};
  return turns;
}
static ALWAYS_INLINE void find_last(Turns* turns) {}
#endif

static ALWAYS_INLINE bool is_last(const Turns* turns, const uint turn) { return turn + 1 == turns->count; }

// The tile of C that the work-group computes at this turn.
static ALWAYS_INLINE Tile tile_of_turn(const Turns* turns, const uint turn, const Call* call) {
#if SPLIT_K == 0
  const Part part = call->part;
#endif
#if TENSOR_COPIES && SPLIT_K > 0
  uint tile_row = turns->last_row, tile_column = turns->last_column;
  if (!is_last(turns, turn)) find_turn(turns, turn, &tile_row, &tile_column);
#else
  FIND_PLACE;
#endif
  const Numbers* x = call->numbers;
  return find_tile(tile_row, tile_column, ML, NL, PART_ARGUMENT call->m, call->n, call->k, call->alpha, call->a,
                   x->a_offset, call->lda, call->b, x->b_offset, call->ldb, call->c, x->c_offset, call->ldc,
                   call->a_stride, call->b_stride, call->c_stride, call->offsets, x->first_product);
}

static ALWAYS_INLINE bool is_outside(const Tile* tile) { return tile->rows == 0 || tile->columns == 0; }

// Blocks of k. None where the tile lies outside of C, as in a larger grid than needed.
static ALWAYS_INLINE int blocks_of(const Tile* tile) {
  return is_outside(tile) ? 0 : tile->depth / KL + (tile->depth % KL != 0);
}

// True if a tile's sums reach C through local memory: where vectors of C are not aligned or reach beyond it, and with
// an epilogue. Partial sums have none. Those of mixed products only with an epilogue.
static ALWAYS_INLINE bool is_staged(const Tile* tile, const int ldc, const int steps) {
  if (MIXED) return WRITES_C && steps != 0;
  const bool aligned_c = (uintptr_t)tile->c % 16 == 0 && ldc % 8 == 0;
  return (WRITES_C && steps != 0) || tile->columns % 8 != 0 || !aligned_c;
}

// For the producer, by `producers` of its work-items: behind a turn, sums may be where the next copies go.
static ALWAYS_INLINE void finish_turn(const Turns* turns, const uint turn, const Tile* tile, const Call* call,
                                      const int producers) {
  if (!is_last(turns, turn) && !is_outside(tile) && is_staged(tile, call->ldc, call->numbers->steps))
    WAIT_FOR_STAGING(producers);
}
