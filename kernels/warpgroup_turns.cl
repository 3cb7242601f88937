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

// Bytes of local memory.
#define STAGED_ROW (NL + 4)  // sums in local memory: without bank conflicts
#define TILES_BYTES (BUFFERS * (A_BYTES + B_BYTES))
#define STAGED_BYTES (ML * STAGED_ROW * 4)
#define GROUP_BYTES (TILES_BYTES > STAGED_BYTES ? TILES_BYTES : STAGED_BYTES)

#if TENSOR_COPIES && SPLIT_K > 0
// Work-groups that a multiprocessor of sm_90 holds: it has 228 KB of local memory, and needs one of them for each.
#define RESIDENT max(1, (228 << 10) / (GROUP_BYTES + 16 * BUFFERS + 1024))

// Tiles number first, first + step ... of find_in_bands. swapped: the first one is computed last, the last one first.
typedef struct {
  uint first, step, count;
  bool swapped;
  uint last_row, last_column;  // of the tile that is computed last: most work-groups have no other
} Turns;

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

#define FIND_TURNS Turns turns = find_turns()
#define TURNS turns.count  // 0: the work-group has nothing to do
#define FIND_LAST find_turn(&turns, TURNS - 1, &turns.last_row, &turns.last_column)
#define FIND_TILE(turn)                                            \
  uint tile_row = turns.last_row, tile_column = turns.last_column; \
  if (turn + 1 != TURNS) {                                         \
    find_turn(&turns, turn, &tile_row, &tile_column);              \
  }                                                                \
  const Tile tile = find_tile(tile_row, tile_column, ML, NL, GEMM_ARGUMENTS)
#else
#define FIND_LAST
#define FIND_TURNS
#define TURNS 1U
#define FIND_TILE(turn) \
  FIND_PLACE;           \
  const Tile tile = find_tile(tile_row, tile_column, ML, NL, GEMM_ARGUMENTS)
#endif
#define EACH_TURN for (uint turn = 0; turn < TURNS; ++turn)
#define IS_LAST (turn + 1 == TURNS)

// Blocks of k. None where the tile lies outside of C, as in a larger grid than needed.
static ALWAYS_INLINE int blocks_of(const Tile* tile) {
  return tile->rows == 0 || tile->columns == 0 ? 0 : tile->depth / KL + (tile->depth % KL != 0);
}
