// The ring of warpgroup_tile: BUFFERS pairs of tiles in local memory, and the barriers at which the producer and the
// consumers meet. warpgroup_tile.cl has the pictures.

#define PRODUCERS 128  // work-items of the producer
// Warpgroups: those that read a pair, and all.
#if READS_WEIGHTS
#define READERS (NL / 64)
#else
#define READERS ((ML + 63) / 64)
#endif
#define CONSUMERS (READERS * SHARES)

// 160 and 224 columns have room for whole lines of 128 bytes.
#undef B_COLUMNS
#define B_COLUMNS (NL > 64 ? (NL + 63) / 64 * 64 : NL)

// Blocks of a line, and elements of each. In local memory each block of each line takes 128 bytes, half of them unused
// by lines of 32 elements of 16 bits.
#define LINE_ELEMENTS (128 / OPERAND_BYTES)
#define BLOCKS(line) ((line) < LINE_ELEMENTS ? 1 : (line) / LINE_ELEMENTS)
#define BLOCK(line) ((line) < LINE_ELEMENTS ? (line) : LINE_ELEMENTS)
#define A_BYTES (A_LINES * BLOCKS(A_LINE) * 128)  // of a tile
#if READS_WEIGHTS
#define CHUNKS_OF_K (KL / CHUNK)
#define WORD_BYTES (WORDS * PANEL * 4)                        // of a chunk of a panel
#define PIECE_BYTES (CHUNKS_OF_K * (WORD_BYTES + 3 * PANEL))  // of a panel, with the heads of groups
#define B_BYTES ((NL / PANEL * PIECE_BYTES + 1023) / 1024 * 1024)
#else
#define B_BYTES (B_LINES * BLOCKS(B_LINE) * 128)
#endif

// Bytes of local memory. The sums of a tile take the place of the ring on their way to C, in rows that avoid bank
// conflicts.
#define TILES_BYTES (BUFFERS * (A_BYTES + B_BYTES))
#define STAGED_ROW (NL + 4)  // sums
#define STAGED_BYTES (ML * STAGED_ROW * 4)
#define GROUP_BYTES (TILES_BYTES > STAGED_BYTES ? TILES_BYTES : STAGED_BYTES)

#define SYNCHRONIZE_WARP __asm__ volatile("bar.warp.sync -1;" ::: "memory")
#define SYNCHRONIZE_CONSUMERS __asm__ volatile("bar.sync 1, %0;" ::"r"(128 * CONSUMERS) : "memory")
// Between the consumers and one warp of the producer: C has again what it had before tensor copies.
#define WAIT_FOR_OLD_C __asm__ volatile("bar.sync 2, %0;" ::"r"(128 * CONSUMERS + 32) : "memory")
// Between the consumers and `producers` work-items: the sums of a tile have left local memory.
#define WAIT_FOR_STAGING(producers) __asm__ volatile("bar.sync 3, %0;" ::"r"(128 * CONSUMERS + (producers)) : "memory")

// Orders what was copied or stored to local memory before what the matrix units or tensor copies do there.
#define SHOW_LOCAL_MEMORY __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory")

// The same value in all lanes of a warp, which the compiler then knows.
static ALWAYS_INLINE uint from_first_lane(const uint value) {
  uint result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(result) : "r"(value));
  return result;
}

// ---- Barriers of local memory (mbarrier), by their addresses ----

static ALWAYS_INLINE void start_barrier(const uint barrier, const int arrivals) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

static ALWAYS_INLINE void arrive(const uint barrier) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives when all copies that this work-item has started are complete; does not wait for that. stored: it has also
// stored to local memory, which only an arrival of its own orders.
static ALWAYS_INLINE void arrive_with_copies(const uint barrier, const bool stored) {
  if (stored) {
    __asm__ volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");  // one more to expect
    arrive(barrier);
  } else {
    __asm__ volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
  }
}

// Waits until the phase with this parity is over.
static ALWAYS_INLINE void wait_for(const uint barrier, const uint parity) {
  __asm__ volatile(
      "{\n"
      ".reg .pred over;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- The ring ----

typedef struct {
  __local uchar* tiles;  // the pairs, one after the other: the tile of op(A), then that of op(B)
  uint full;             // the first of BUFFERS barriers: a pair has arrived
  uint empty;            // the first of BUFFERS barriers: no consumer reads the pair any more
  int buffer;            // the pair whose turn it is
  uint parity;           // of the phase that its consumers wait for
} Ring;

// The ring at its first pair. `arrivals` of the producer's work-items fill a pair. All of the work-group calls it, and
// waits at a barrier afterwards.
static ALWAYS_INLINE Ring start_ring(__local uchar* tiles, __local ulong* barriers, const int arrivals,
                                     const uint item) {
  const uint full = local_address(barriers);
  const Ring ring = {tiles, full, full + 8 * BUFFERS, 0, 0};
  if (item == 0) {
    for (int i = 0; i < BUFFERS; ++i) {
      start_barrier(ring.full + 8 * i, arrivals);
      start_barrier(ring.empty + 8 * i, 4 * READERS);  // one of each warp
    }
  }
  return ring;
}

static ALWAYS_INLINE void advance(Ring* ring) {
  ring->buffer = ring->buffer + 1 == BUFFERS ? 0 : ring->buffer + 1;
  ring->parity ^= ring->buffer == 0;
}

static ALWAYS_INLINE uint full_barrier(const Ring* ring) { return ring->full + 8 * ring->buffer; }
static ALWAYS_INLINE uint empty_barrier(const Ring* ring) { return ring->empty + 8 * ring->buffer; }

// For the producer, which may fill the pair then.
static ALWAYS_INLINE void wait_until_empty(const Ring* ring) { wait_for(empty_barrier(ring), ring->parity ^ 1); }
// For the consumers, which may read it then.
static ALWAYS_INLINE void wait_until_full(const Ring* ring) { wait_for(full_barrier(ring), ring->parity); }
