// warp_tile: NVIDIA's devices from sm_80 on, doubles. Matrix units that take their operands from registers, and tiles
// in local memory that asynchronous copies fill several blocks of k ahead.
//
// A work-group computes an ML x NL tile of C, each of its warps (32 work-items) a part of 8*MS x 4*NS. For each block
// of k, KL steps deep, all work-items together copy a tile of op(A) and one of op(B) into local memory, ahead of their
// use: async_ring.cl.
//
// In local memory a tile consists of lines, as they lie in global memory, with swizzled chunks.
//
// A warp multiplies pieces of 16 x 8 elements of C by KS steps of k. What its lane 4g + t reads and computes of a
// piece:
//
//      op(A): rows g, g+8             op(B): column g               C: rows g, g+8
//             steps t, t+4 ...               steps t, t+4 ...          columns 2t, 2t+1
//
// Each is read on its own, 8 bytes: half a warp reads four lines, two neighbouring chunks of each, and the swizzle puts
// these eight chunks into different banks. Reading whole chunks would take fewer instructions, but leave the elements
// in registers in another order than the matrix units take them in, which costs far more to mend.
//
//   ML, NL        rows and columns of C per work-group
//   KL            depth of the tiles in local memory: 16 or 32
//   MS, NS        rows and columns of C per work-item: even
//   VECTOR_WIDTH  elements of an accumulator: 2
//   BUFFERS       pairs of tiles in local memory: 2 to 6
//   KS            steps of k that are multiplied at once: 4 or 8
//   FRAGMENTS     register sets for the operands of these steps. 2: those of the next steps are read while those of the
//                 current ones are multiplied, across the end of a block, too
//   MAP           MMA: one instruction multiplies a piece. MMA8: four do, of 8 x 8 by 4 steps, which earlier devices
//                 than sm_90 have, too
//   SHARES        groups of warps that compute the same of C, each with its KL / SHARES steps of a block
//
// ML, NL and the number of work-items are powers of two, so that a work-item copies the same piece of several lines.

#define MMA 3
#define MMA8 4

#define WARPS_X (NL / (4 * NS))
#define ROW_PIECES (MS / 2)  // of 16 rows; VECTORS pieces of 8 columns

// ---- Fragments ----

// A work-item's part of both operands for KS steps of k, in the order that the instruction takes.
typedef struct {
  double a[ROW_PIECES][KS / 2];
  double b[VECTORS][KS / 4];
} Fragments;

// The place in a tile of step p (0 to KL - 1) of row or column i, whose tile has `length` of them.
static ALWAYS_INLINE uint place(const uint i, const uint p, const uint length, const bool along_k) {
  const uint line = along_k ? i : p;
  const uint at = along_k ? p : i;
  return line * (along_k ? KL : length) + place_in_line(line, at);
}

static ALWAYS_INLINE void load_fragments(Fragments* fragments, __local const double* pair, const int s,
                                         const int first_row, const int first_column, const int g, const int t) {
  UNROLLED(u, ROW_PIECES)
    UNROLLED(h, KS / 2)
      fragments->a[u][h] = pair[place(first_row + 16 * u + h % 2 * 8 + g, KS * s + h / 2 * 4 + t, ML, A_ALONG_K)];
  UNROLLED(w, VECTORS)
    UNROLLED(h, KS / 4)
      fragments->b[w][h] = pair[ML * KL + place(first_column + 8 * w + g, KS * s + h * 4 + t, NL, B_ALONG_K)];
}

#define C_PIECE "{%0, %1, %2, %3}"
#define C_SUMS "+d"(c.x), "+d"(c.y), "+d"(d.x), "+d"(d.y)
#if KS == 4
#define OPERANDS "{%4, %5}, {%6}"
#define ALL_OPERANDS "d"(a[0]), "d"(a[1]), "d"(b[0])
#else
#define OPERANDS "{%4, %5, %6, %7}, {%8, %9}"
#define ALL_OPERANDS "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1])
#endif

static ALWAYS_INLINE void multiply_piece(double2* upper, double2* lower, const double* a, const double* b) {
  double2 c = *upper;
  double2 d = *lower;
#if MAP == MMA
  __asm__ volatile("mma.sync.aligned.m16n8k" TEXT(KS) ".row.col.f64.f64.f64.f64 " C_PIECE ", " OPERANDS ", " C_PIECE ";"
                   : C_SUMS
                   : ALL_OPERANDS);
#else
#define MULTIPLY_8X8(c, a, b)                                                                        \
  __asm__ volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                   : "+d"(c.x), "+d"(c.y)                                                            \
                   : "d"(a), "d"(b))
  UNROLLED(h, KS / 4) {
    MULTIPLY_8X8(c, a[2 * h], b[h]);
    MULTIPLY_8X8(d, a[2 * h + 1], b[h]);
  }
#endif
  *upper = c;
  *lower = d;
}

static ALWAYS_INLINE void multiply(realv sum[MS][VECTORS], const Fragments* fragments) {
  UNROLLED(u, ROW_PIECES)
    UNROLLED(w, VECTORS) multiply_piece(&sum[2 * u][w], &sum[2 * u + 1][w], fragments->a[u], fragments->b[w]);
}

#define ROW_OF(i) (first_row + 8 * (i) + g)
#define COLUMN_OF(w) (first_column + 8 * (w) + 2 * t)

#define LOAD_FRAGMENTS(to, s) load_fragments(to, pair, share* STEPS + (s), first_row, first_column, g, t)
#define TILES_SIZE (BUFFERS * PAIR)  // elements
#define SUMS_SIZE (SHARES / 2 * ML * NL)

GEMM_KERNEL(LOCAL_X, LOCAL_Y* SHARES) {
  READ_NUMBERS;
  __local double tiles[TILES_SIZE > SUMS_SIZE ? TILES_SIZE : SUMS_SIZE] __attribute__((aligned(CHUNK_BYTES)));
  FIND_PLACE;
  const Tile tile = find_tile(tile_row, tile_column, ML, NL, GEMM_ARGUMENTS);
  if (tile.rows == 0 || tile.columns == 0) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
  const int share = SHARES == 1 ? 0 : item / PLACES;
  const uint place_in_tile = item - share * PLACES;
  const int warp = place_in_tile / 32;
  const int g = item % 32 / 4;
  const int t = item % 4;
  const int first_row = warp / WARPS_X * (8 * MS);
  const int first_column = warp % WARPS_X * (4 * NS);
  realv sum[MS][VECTORS];
  CLEAR_SUM;

  MULTIPLY_RING
#if SHARES > 1
  barrier(CLK_LOCAL_MEM_FENCE);  // all have read the last tiles
  ADD_SHARES((__local realv*)tiles, SHARES, share, PLACES, place_in_tile)
  if (share > 0) return;
#endif
  UPDATE_C(EACH_VECTOR)
}
