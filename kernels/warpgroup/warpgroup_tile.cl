// warpgroup_tile: NVIDIA's devices of architecture sm_90, elements of 16 or 8 bits. Matrix units that read their
// operands from local memory; some of a work-group's work-items only load, the others only multiply.
//
// A work-group computes an ML x NL tile of C, or several, one after another (warpgroup_turns.cl). Its work-items form
// warpgroups of 128. The last warpgroup is the producer: it copies tiles of op(A) and op(B), KL steps of k at a time,
// into local memory. The others are consumers: each multiplies 64 rows of the tile. They meet in a ring of BUFFERS
// pairs of tiles:
//
//            producer: asynchronous copies                      consumers: wgmma
//   op(A) ------------------------------+    +---------+    +------------------------ rows  0 to  63
//                                       +--> | a    b  | ---+
//   op(B) ------------------------------+    | a    b  |    +------------------------ rows 64 to 127 ...
//                                            | a    b  |         sums in registers
//                 full[buffer]: a pair has   +---------+   empty[buffer]: nobody reads it any more
//                 arrived; consumers wait     BUFFERS      the producer waits
//
// full and empty are mbarriers of local memory. The producer runs ahead of the consumers by up to BUFFERS pairs, so
// that the matrix units do not wait for memory.
//
// In local memory, a tile of an operand consists of lines of 128 bytes, as they lie in global memory: along k, or along
// the rows (columns) of C; those of 8 bits along k only. Longer lines are cut: the first 128 bytes of all lines come
// first, then the next. Lines of 64 bytes fill one half of their 128. The 16-byte chunks of a line are swizzled, so
// that neither copies nor matrix units meet bank conflicts:
//
//     chunk of the line:    0 1 2 3 4 5 6 7
//       line 0 holds        0 1 2 3 4 5 6 7          place of chunk c of line l: c ^ (l % 8)
//       line 1 holds        1 0 3 2 5 4 7 6
//       line 2 holds        2 3 0 1 6 7 4 5  ...
//
// The PTX manual (Parallel Thread Execution ISA, "Asynchronous Warpgroup Level Matrix Instructions") calls this the
// 128-byte swizzle, lines along k "K-major" and the others "MN-major", and defines the descriptors below.
//
//   ML, NL        rows and columns of C per work-group; ML / 64 consumers. 32 rows have one, and half of what it
//                 multiplies is of no use
//   KL            depth of the tiles in local memory: 128 or 256 bytes
//   MS, NS        rows and columns of C per work-item of a consumer: 2 and NL / 4
//   VECTOR_WIDTH  elements per access to C: 8
//   BUFFERS       pairs of tiles in local memory
//   TENSOR_COPIES 1: tensor copies where they can be, tensor_copies.cl
//   SHARES        of packed weights: groups of consumers, of which each multiplies every SHARES-th pair
//
// The kernel is at the end of this file, and reads from there: `produce` (warpgroup_copies.cl, or by tensor copies,
// tensor_copies.cl) and `consume`, which calls `multiply_tile` and writes back (warpgroup_gather.cl,
// warpgroup_update.cl or of a mixed product warpgroup_mixed.cl). They share a Ring (warpgroup_ring.cl), the Turns of
// the work-group and the Call (warpgroup_turns.cl). Everything but the copies, the barriers and the multiplication is
// plain OpenCL C 1.2. To port the family to another architecture, replace the functions that hold PTX.

#define GROUP_Y (32 * (CONSUMERS + 1))

#if !READS_WEIGHTS  // else warpgroup_weights.cl
// A consumer's part of the first pair of tiles.
typedef struct {
  ulong a, b;
} Descriptors;

static ALWAYS_INLINE Descriptors find_descriptors(const Ring* ring, const uint warpgroup) {
  const uint tiles = local_address(ring->tiles);
  // 64 rows are 64 lines of the tile, or a block of 64 elements of each line.
  const Descriptors first = {descriptor(tiles + warpgroup * (A_ALONG_K ? 64 : A_LINES) * 128, A_LINES * 128),
                             descriptor(tiles + A_BYTES, B_LINES * 128)};
  return first;
}

// Starts the multiplication of the ring's pair; `fresh` as for multiply. shown: what the producer copies needs no
// fence, tensor copies.
static ALWAYS_INLINE void multiply_pair(real* sum, Ring* ring, const Descriptors first, const bool shown,
                                        const bool fresh) {
  wait_until_full(ring);
  if (!shown) SHOW_LOCAL_MEMORY;
  const ulong pair = (ulong)ring->buffer * ((A_BYTES + B_BYTES) >> 4);
  START_MULTIPLYING;
  UNROLLED(p, KL * OPERAND_BYTES / 32)
    multiply(sum, first.a + pair + (DEEPER(p, A_LINES, A_ALONG_K) >> 4),
             first.b + pair + (DEEPER(p, B_LINES, B_ALONG_K) >> 4), fresh && p == 0);
  COMMIT_MULTIPLICATIONS;
}

// Adds up the products of all blocks of k of a tile.
#if MIXED && !SUMS_INTEGERS
// The matrix units keep about 14 bits of such a sum, so those of two blocks are added up in float.
static ALWAYS_INLINE void multiply_tile(real sum[SUMS], Ring* ring, const int blocks, const Descriptors first,
                                        const bool shown, const uint item) {
  real of_blocks[SUMS] = {0};
  for (int block = 0; block < blocks; block += 2) {
    int previous = ring->buffer;
    multiply_pair(of_blocks, ring, first, shown, true);
    advance(ring);
    if (block + 1 < blocks) {
      multiply_pair(of_blocks, ring, first, shown, false);
      FINISH_MULTIPLYING("1");
      if (item % 32 == 0) arrive(ring->empty + 8 * previous);
      previous = ring->buffer;
      advance(ring);
    }
    FINISH_MULTIPLYING("0");
    if (item % 32 == 0) arrive(ring->empty + 8 * previous);
    UNROLLED(i, SUMS) sum[i] += of_blocks[i];
  }
}
#else
static ALWAYS_INLINE void multiply_tile(real sum[SUMS], Ring* ring, const int blocks, const Descriptors first,
                                        const bool shown, const uint item) {
  int previous = 0;
  for (int block = 0; block < blocks; ++block) {
    multiply_pair(sum, ring, first, shown, false);
    FINISH_MULTIPLYING("1");
    if (block > 0 && item % 32 == 0) arrive(ring->empty + 8 * previous);
    previous = ring->buffer;
    advance(ring);
  }
  FINISH_MULTIPLYING("0");
  if (TENSOR_COPIES && blocks > 0 && item % 32 == 0) arrive(ring->empty + 8 * previous);
}
#endif

// The consumers: multiply a tile of C and write it back, turn after turn.
static ALWAYS_INLINE void consume(Ring* ring, const Turns* turns, const bool tensor, const bool reads_c,
                                  const Call* call, const uint warpgroup, const uint item) {
  const Descriptors first = find_descriptors(ring, warpgroup);
  for (uint turn = 0; turn < turns->count; ++turn) {
    const Tile tile = tile_of_turn(turns, turn, call);
    if (is_outside(&tile)) continue;
    real sum[SUMS] = {0};
    multiply_tile(sum, ring, blocks_of(&tile), first, tensor, item);
    if (tensor && reads_c && is_last(turns, turn)) WAIT_FOR_OLD_C;
    realv rows[MS][VECTORS];
    gather_rows(rows, sum, item % 4);
    if (call->slice || !is_staged(&tile, call->ldc, call->numbers->steps)) {
      write_rows(rows, &tile, call, item);
      continue;
    }
    write_staged((__local real*)ring->tiles, rows, &tile, call, item);
    if (!is_last(turns, turn)) {
      SHOW_LOCAL_MEMORY;  // the producer's next copies come after what this work-item has read and written
      WAIT_FOR_STAGING(tensor ? 32 : PRODUCERS);
    }
  }
}
#endif

GEMM_KERNEL(LOCAL_X, GROUP_Y) {
  READ_NUMBERS;
  __local uchar tiles[GROUP_BYTES] __attribute__((aligned(1024)));
  __local ulong barriers[2 * BUFFERS];
  Turns turns = find_turns();
  if (turns.count == 0) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
  const uint warpgroup = from_first_lane(item / 128);
  const Call call = CALL;
  const bool reads_c = beta != 0 && !call.slice;
  TensorMaps maps = {0, 0};
#if TENSOR_COPIES
  maps = find_maps(&turns, &call);
#endif
  const bool tensor = maps.a;
  Ring ring = start_ring(tiles, barriers, tensor ? 1 : PRODUCERS, item);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (warpgroup < CONSUMERS) {
    consume(&ring, &turns, tensor, reads_c, &call, warpgroup, item);
  } else if (!tensor) {
    produce(&ring, &turns, &call, item - 128 * CONSUMERS);
  } else if (from_first_lane(item / 32) == 4 * CONSUMERS) {
    produce_by_maps(&ring, &turns, maps, reads_c, &call, item % 32);
  }
}
