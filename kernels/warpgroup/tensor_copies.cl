// How the producer of warpgroup_tile copies tiles of op(A) and op(B) by tensor copies (cp.async.bulk.tensor): one
// work-item starts them, 128 bytes of all lines at a time, and the device swizzles the chunks as warpgroup_tile.cl
// draws them and makes zeros of what lies outside of the operand. The lines have to be aligned to 16 bytes.
//
// A tensor copy takes a tensor map: 128 bytes of global memory, aligned to that, which describe the operand. The host
// cannot make maps in OpenCL, as it does not know the operands' addresses. So each work-group makes its own, in local
// memory (PTX: tensormap.replace), and puts them into the first two rows of its last tile of C, which nobody else
// touches:
//
//     row 0 of the tile:   |..............[ map of op(A), 128 bytes ]......|        the first place that is aligned
//     row 1:               |........[ map of op(B), 128 bytes ]............|
//
// When all copies have arrived, what C had there is put back, if beta is not 0: it may be read then. A tile without two
// rows that hold such places is copied as by the other variants. A slice of a tile has maps in the first two rows of
// its own partial sums.

typedef struct {
  __global uint* a;  // null: no tensor copies
  __global uint* b;
} TensorMaps;

// The first place for a map in a row of C; null: there is none.
static ALWAYS_INLINE __global uint* map_place(__global output* row, const int columns) {
  const uintptr_t start = (uintptr_t)row;
  const uintptr_t place = (start + 127) & ~(uintptr_t)127;
  return place + 128 <= start + columns * sizeof(output) ? (__global uint*)place : 0;
}

// The places of the maps in this tile, which the work-group computes last.
static ALWAYS_INLINE TensorMaps maps_in(const Tile* tile, const Call* call) {
  TensorMaps maps = {map_place(tile->c, tile->columns), map_place(tile->c + call->ldc, tile->columns)};
  if (call->slice) {
    maps.a = (__global uint*)call->slice;
    maps.b = (__global uint*)(call->slice + NL);
  } else if (tile->rows < 2 || !maps.b) {
    maps.a = 0;
  }
  const bool aligned = min(alignment_of(tile->a, call->a_step), alignment_of(tile->b, call->b_step)) >= CHUNK_BYTES;
  if (!aligned || tile->depth == 0) maps.a = 0;
  return maps;
}

// The places of the maps in the tile of the last turn; if it has none, the first turn's tile becomes the last.
static ALWAYS_INLINE TensorMaps find_maps(Turns* turns, const Call* call) {
  find_last(turns);
  const Tile last = tile_of_turn(turns, turns->count - 1, call);
  TensorMaps maps = maps_in(&last, call);
#if SPLIT_K > 0
  if (!maps.a && turns->count > 1) {
    turns->swapped = true;
    find_last(turns);
    const Tile first = tile_of_turn(turns, turns->count - 1, call);
    maps = maps_in(&first, call);
  }
#endif
  return maps;
}

// Sets a field of the map at `map` to a number in the text, or to a value; `which` is "" or the dimension, with a
// comma.
#define SET_FIXED(field, number) \
  __asm__ volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " number ";" ::"r"(map) : "memory")
#define SET(field, bits, which, constraint, value)                                                              \
  __asm__ volatile("tensormap.replace.tile." field ".shared::cta.b1024." bits " [%0], " which "%1;" ::"r"(map), \
                   constraint(value)                                                                            \
                   : "memory")

// Makes the map of an operand of full_lines lines of full_line elements, `step` elements apart, at an address of local
// memory that holds 128 bytes of zeros. A copy takes a box of it: 128 bytes of `lines` lines.
static ALWAYS_INLINE void make_map(__local uint* zeros, __global const operand* source, const ulong step,
                                   const int lines, const int full_lines, const int full_line) {
  const uint map = local_address(zeros);
  // The distance between lines in 16 bytes. Without the instruction's "global_stride", for which ptxas takes these
  // units before CUDA 12.5, and bytes since; it makes this store of it.
  zeros[3] = (uint)(step / LOAD_WIDTH);
  SET("global_address", "b64", "", "l", source);
  SET("global_dim", "b32", "0, ", "r", full_line);
  SET("global_dim", "b32", "1, ", "r", full_lines);
  SET("box_dim", "b32", "1, ", "r", lines);
  SET("box_dim", "b32", "0, ", "r", LINE_ELEMENTS);
  SET_FIXED("element_stride", "0, 1");
  SET_FIXED("element_stride", "1, 1");
  SET_FIXED("rank", "1");  // two dimensions
#if OPERAND_BYTES == 1
  SET_FIXED("elemtype", "0");  // any 8 bits
#else
  SET_FIXED("elemtype", "1");  // any 16 bits
#endif
  SET_FIXED("interleave_layout", "0");  // none
  SET_FIXED("swizzle_mode", "3");       // 128 bytes
  SET_FIXED("fill_mode", "0");          // zeros
}

// Copies a map from local memory, by a whole warp, and shows it to the tensor copies.
static ALWAYS_INLINE void show_map(__global uint* to, const uint map) {
  __asm__ volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to),
      "r"(map)
      : "memory");
}

// Starts to copy the box that begins at element x of line y. Its bytes arrive at the barrier.
static ALWAYS_INLINE void copy_box(const uint to, __global const uint* map, const int x, const int y,
                                   const uint barrier) {
  __asm__ volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// The work-item's arrival, of `bytes` that are on their way.
static ALWAYS_INLINE void arrive_with(const uint barrier, const int bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Starts to copy a tile of op(A) or op(B) that begins with this row or column of C, at step `step` of k.
static ALWAYS_INLINE void copy_tile(const uint tile, __global const uint* map, const Shape s, const int first,
                                    const int step, const uint barrier) {
  UNROLLED(i, s.line / LINE_ELEMENTS)
    copy_box(tile + i * (s.lines * 128), map, s.along_k ? step : first + LINE_ELEMENTS * i, s.along_k ? first : step,
             barrier);
}

// Both tiles of block number `block` of k, by one work-item.
static ALWAYS_INLINE void copy_block(const TensorMaps maps, const Tile* tile, const int block, const uint pair,
                                     const uint barrier) {
  arrive_with(barrier, A_BYTES + (B_ALONG_K ? B_BYTES / B_LINES * NL : B_BYTES));
  copy_tile(pair, maps.a, A_SHAPE, (int)tile->row, block * KL, barrier);
  copy_tile(pair + A_BYTES, maps.b, B_SHAPE, (int)tile->column, block * KL, barrier);
}

// Makes the maps of all of op(A) and op(B), as deep as the last turn's tile. By a warp, before copies start, as the
// maps' zeros are where the first ones go.
static ALWAYS_INLINE void make_maps(const TensorMaps maps, const Tile* tile, const Call* call, __local uchar* tiles,
                                    const uint lane) {
  __local uint* made = (__local uint*)tiles;
  made[lane] = 0;
  made[32 + lane] = 0;
  SYNCHRONIZE_WARP;
  if (lane == 0) {
    const int m = call->m, n = call->n, depth = tile->depth;
    __global const operand* a = tile->a - tile->row * (A_ALONG_K ? call->a_step : 1);
    __global const operand* b = tile->b - tile->column * (B_ALONG_K ? call->b_step : 1);
    make_map(made, a, call->a_step, A_LINES, A_ALONG_K ? m : depth, A_ALONG_K ? depth : m);
    make_map(made + 32, b, call->b_step, B_ALONG_K ? NL : KL, B_ALONG_K ? n : depth, B_ALONG_K ? depth : n);
  }
  SYNCHRONIZE_WARP;
  show_map(maps.a, local_address(made));
  show_map(maps.b, local_address(made + 32));
  SHOW_LOCAL_MEMORY;  // the first copy comes after the maps' reading
  SYNCHRONIZE_WARP;
}

// The elements of C in the places of the maps: four bytes of each for a work-item of the warp.
typedef struct {
  uint a, b;
} OldC;

static ALWAYS_INLINE OldC read_old_c(const TensorMaps maps, const bool reads_c, const uint lane) {
  OldC old = {0, 0};
  if (reads_c) {
    old.a = maps.a[lane];
    old.b = maps.b[lane];
  }
  return old;
}

static ALWAYS_INLINE void put_back(const TensorMaps maps, const OldC old, const uint lane) {
  maps.a[lane] = old.a;
  maps.b[lane] = old.b;
  SYNCHRONIZE_WARP;
  WAIT_FOR_OLD_C;
}

// The producer by tensor copies: its first warp, of which one work-item copies.
static ALWAYS_INLINE void produce_by_maps(Ring* ring, const Turns* turns, const TensorMaps maps, const bool reads_c,
                                          const Call* call, const uint lane) {
  const OldC old = read_old_c(maps, reads_c, lane);
  const Tile last = tile_of_turn(turns, turns->count - 1, call);
  make_maps(maps, &last, call, ring->tiles, lane);
  for (uint turn = 0; turn < turns->count; ++turn) {
    const Tile tile = tile_of_turn(turns, turn, call);
    const int blocks = blocks_of(&tile);
    for (int block = 0; block < blocks; ++block) {
      if (lane == 0) {
        wait_until_empty(ring);
        copy_block(maps, &tile, block, local_address(ring->tiles) + ring->buffer * (A_BYTES + B_BYTES),
                   full_barrier(ring));
      }
      advance(ring);
    }
    SYNCHRONIZE_WARP;
    finish_turn(turns, turn, &tile, call, 32);
  }
  if (reads_c) {
    for (int i = 0; i < BUFFERS; ++i) {
      wait_until_empty(ring);  // all copies have arrived
      advance(ring);
    }
    put_back(maps, old, lane);
  }
}
