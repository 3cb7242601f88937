// warpgroup_tile: NVIDIA's devices of architecture sm_90, elements of 16 bits. Matrix units that read their operands
// from local memory; some of a work-group's work-items only load, the others only multiply.
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
// In local memory, a tile of an operand consists of lines of 64 elements (128 bytes), as they lie in global memory:
// along k, or along the rows (columns) of C. Longer lines are cut: the first 64 elements of all lines come first, then
// the next 64. Lines of 32 elements fill one half of their 128 bytes. The 16-byte chunks of a line are swizzled, so
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
//   KL            depth of the tiles in local memory: 64 or 128
//   MS, NS        rows and columns of C per work-item of a consumer: 2 and NL / 4
//   VECTOR_WIDTH  elements per access to C: 8
//   BUFFERS       pairs of tiles in local memory
//   TENSOR_COPIES 1: tensor copies where they can be, tensor_copies.cl
//
// How the producer copies a tile is in warpgroup_copies.cl and tensor_copies.cl. Everything but the copies, the
// barriers and the multiplication is plain OpenCL C 1.2. To port the family to another architecture, replace the
// functions that hold PTX.

#define LOCAL_X 4
#define LOCAL_Y (32 * CONSUMERS + 32)

#define SUMS (NL / 2)  // of a work-item

// ---- The consumers ----

// Where a tile begins and how it is laid out: the matrix descriptor of wgmma. A tile's lines are in groups of 8, 1024
// bytes apart; a block of 64 elements of all lines is `block` bytes from the next.
static ALWAYS_INLINE ulong descriptor(const uint address, const uint block) {
  ulong bits = (ulong)1 << 62 | (ulong)(1024 >> 4) << 32 | (ulong)(block >> 4) << 16 | (address & 0x3ffff) >> 4;
  // Else clang adds the constant part in the loop, and ptxas 12.9 and 13.0 lose the upper half of it.
  __asm__("" : "+l"(bits));
  return bits;
}

// Bytes from a tile's first steps of k to its p-th 16.
#define DEEPER(p, lines, along_k) ((along_k) ? (p) / 4 * ((lines)*128) + (p) % 4 * 32 : (p)*2048)

// The instruction's operands: NL / 2 sums, %0 and so on, then the two descriptors.
#define TEN(d) "%" d "0, %" d "1, %" d "2, %" d "3, %" d "4, %" d "5, %" d "6, %" d "7, %" d "8, %" d "9, "
#define THIRTY TEN("") TEN("1") TEN("2")
#define SIXTY THIRTY TEN("3") TEN("4") TEN("5")
#define NINETY SIXTY TEN("6") TEN("7") TEN("8")
#define HUNDRED_AND_TWENTY NINETY TEN("9") TEN("10") TEN("11")
#define FOUR_SUMS(i) "+f"(sum[i]), "+f"(sum[(i) + 1]), "+f"(sum[(i) + 2]), "+f"(sum[(i) + 3])
#define SIXTEEN_SUMS(i) FOUR_SUMS(i), FOUR_SUMS((i) + 4), FOUR_SUMS((i) + 8), FOUR_SUMS((i) + 12)
#define THIRTY_TWO_SUMS(i) SIXTEEN_SUMS(i), SIXTEEN_SUMS((i) + 16)
#if NL == 32
#define OPERANDS "{" TEN("") "%10, %11, %12, %13, %14, %15}, %16, %17"
#define ALL_SUMS SIXTEEN_SUMS(0)
#elif NL == 64
#define OPERANDS "{" THIRTY "%30, %31}, %32, %33"
#define ALL_SUMS THIRTY_TWO_SUMS(0)
#elif NL == 128
#define OPERANDS "{" SIXTY "%60, %61, %62, %63}, %64, %65"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32)
#elif NL == 192
#define OPERANDS "{" NINETY "%90, %91, %92, %93, %94, %95}, %96, %97"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), THIRTY_TWO_SUMS(64)
#else
#define OPERANDS "{" HUNDRED_AND_TWENTY "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), THIRTY_TWO_SUMS(64), THIRTY_TWO_SUMS(96)
#endif
#if BFLOAT16
#define TYPES "bf16.bf16"
#else
#define TYPES "f16.f16"
#endif
#if A_ALONG_K
#define A_MAJOR "0"
#else
#define A_MAJOR "1"
#endif
#if B_ALONG_K
#define B_MAJOR "0"
#else
#define B_MAJOR "1"
#endif

// Starts the multiplication of 64 rows of a by b, 16 steps of k: sum += a * b.
static ALWAYS_INLINE void multiply(float* sum, const ulong a, const ulong b) {
  __asm__ volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(NL) "k16.f32." TYPES " " OPERANDS ", 1, 1, 1, " A_MAJOR
                                                                ", " B_MAJOR ";"
                   : ALL_SUMS
                   : "l"(a), "l"(b));
}

#define START_MULTIPLYING __asm__ volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT_MULTIPLICATIONS __asm__ volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
// Waits for all multiplications but those of the last `late` blocks.
#define FINISH_MULTIPLYING(late) __asm__ volatile("wgmma.wait_group.sync.aligned " late ";" ::: "memory")

// The same value in all lanes of a warp, which the compiler then knows.
static ALWAYS_INLINE uint from_first_lane(const uint value) {
  uint result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(result) : "r"(value));
  return result;
}

#define NEXT_BUFFER                                \
  buffer = buffer + 1 == BUFFERS ? 0 : buffer + 1; \
  parity ^= buffer == 0

// The producer's part of a block of k.
#define COPY_BLOCK(copies, stored)                              \
  wait_for(empty + 8 * buffer, parity ^ 1);                     \
  __local uchar* a_tile = tiles + buffer * (A_BYTES + B_BYTES); \
  copies;                                                       \
  arrive_with_copies(full + 8 * buffer, stored);                \
  a_source += A_BLOCK_STEP;                                     \
  b_source += B_BLOCK_STEP;                                     \
  NEXT_BUFFER
#define COPY_CHUNKS                                                                        \
  copy_chunks(a_tile, a_source, A_LINE_STEP, A_LINES, A_LINE, A_ALONG_K, false, ML, mine); \
  copy_chunks(a_tile + A_BYTES, b_source, B_LINE_STEP, B_LINES, B_LINE, B_ALONG_K, false, NL, mine)
#define COPY_TILES(whole, steps)                                                                                 \
  copy_existing(a_tile, a_source, A_LINE_STEP, A_LINES, A_LINE, A_ALONG_K, a_alignment, whole, steps, tile.rows, \
                mine);                                                                                           \
  copy_existing(a_tile + A_BYTES, b_source, B_LINE_STEP, B_LINES, B_LINE, B_ALONG_K, b_alignment, whole, steps,  \
                tile.columns, mine)

// The places of the tensor maps, in the tile that is computed last.
#define FIND_MAPS                                                  \
  {                                                                \
    FIND_LAST;                                                     \
    FIND_TILE(TURNS - 1);                                          \
    maps = find_maps(&tile, A_LINE_STEP, B_LINE_STEP, ldc, slice); \
  }

GEMM_KERNEL(LOCAL_X, LOCAL_Y) {
  READ_NUMBERS;
  __local uchar tiles[GROUP_BYTES] __attribute__((aligned(1024)));
  __local ulong barriers[2 * BUFFERS];
  FIND_TURNS;
  if (TURNS == 0) {
    return;  // the whole work-group returns, so no barrier is left waiting
  }
  const uint item = (uint)get_local_id(1) * LOCAL_X + (uint)get_local_id(0);
  const uint warpgroup = from_first_lane(item / 128);
  const uint full = local_address(barriers);
  const uint empty = full + 8 * BUFFERS;
  __global real* slice = SLICE_SUMS;
#if TENSOR_COPIES
  const bool reads_c = beta != 0 && !slice;
  TensorMaps maps;
  FIND_MAPS;
#if SPLIT_K > 0
  if (!maps.a && TURNS > 1) {
    turns.swapped = true;
    FIND_MAPS;
  }
#endif
  const bool tensor = maps.a;
#else
  const bool tensor = false;
#endif
  if (item == 0) {
    for (int i = 0; i < BUFFERS; ++i) {
      start_barrier(full + 8 * i, tensor ? 1 : PRODUCERS);
      start_barrier(empty + 8 * i, 4 * CONSUMERS);  // one of each warp
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int buffer = 0;
  uint parity = 0;

  if (warpgroup == CONSUMERS) {
#if TENSOR_COPIES
    if (tensor) {
      if (from_first_lane(item / 32) != 4 * CONSUMERS) {
        return;
      }
      const uint lane = item % 32;
      const OldC old = read_old_c(maps, reads_c, lane);
      {
        FIND_TILE(TURNS - 1);
        make_maps(maps, &tile, tile.a - tile.row * A_STEP_I, A_LINE_STEP, tile.b - tile.column * B_STEP_J, B_LINE_STEP,
                  m, n, tiles, lane);
      }
      EACH_TURN {
        FIND_TILE(turn);
        const int blocks = blocks_of(&tile);
        for (int block = 0; block < blocks; ++block) {
          if (lane == 0) {
            wait_for(empty + 8 * buffer, parity ^ 1);
            copy_block(maps, &tile, block, local_address(tiles) + buffer * (A_BYTES + B_BYTES), full + 8 * buffer);
          }
          NEXT_BUFFER;
        }
        SYNCHRONIZE_WARP;
        if (!IS_LAST && !OUTSIDE_C && is_staged(&tile, ldc, numbers.steps)) {
          WAIT_FOR_STAGING(32);
        }
      }
      if (reads_c) {
        for (int i = 0; i < BUFFERS; ++i) {
          wait_for(empty + 8 * buffer, parity ^ 1);  // all copies have arrived
          NEXT_BUFFER;
        }
        put_back(maps, old, lane);
      }
      return;
    }
#endif
    const uint mine = item - 128 * CONSUMERS;
    EACH_TURN {
      FIND_TILE(turn);
      __global const element* a_source = tile.a;
      __global const element* b_source = tile.b;
      const uint a_alignment = alignment_of(a_source, A_LINE_STEP);
      const uint b_alignment = alignment_of(b_source, B_LINE_STEP);
      const uint alignment = min(a_alignment, b_alignment);
      const int blocks = blocks_of(&tile);
      // Variants with tensor copies seldom come here, and have no registers for more loops.
      const bool fast = !TENSOR_COPIES && is_whole(A_ALONG_K, tile.rows, a_alignment) &&
                        is_whole(B_ALONG_K, tile.columns, b_alignment);
      const int whole = fast ? min(blocks, tile.depth / KL) : 0;
      int block = 0;
      // A loop for each kind of copies: with small tiles the consumers wait for the producer's instructions.
      if (alignment >= CHUNK_BYTES && tile.rows == ML && tile.columns == NL) {
        for (; block < whole; ++block) {
          COPY_BLOCK(COPY_CHUNKS, false);
        }
      }
      for (; block < whole; ++block) {
        COPY_BLOCK(COPY_TILES(true, KL), alignment < 4);
      }
      for (; block < blocks; ++block) {
        const int left = tile.depth - block * KL;
        COPY_BLOCK(COPY_TILES(false, left), alignment < 4);
      }
      if (!IS_LAST && !OUTSIDE_C && is_staged(&tile, ldc, numbers.steps)) {
        WAIT_FOR_STAGING(PRODUCERS);
      }
    }
    return;  // copies may still be on their way: the consumers wait for every block
  }

  const uint tiles_address = local_address(tiles);
  // 64 rows are 64 lines of the tile, or a block of 64 elements of each line.
  const ulong a_first = descriptor(tiles_address + warpgroup * (A_ALONG_K ? 64 : A_LINES) * 128, A_LINES * 128);
  const ulong b_first = descriptor(tiles_address + A_BYTES, B_LINES * 128);
  EACH_TURN {
    FIND_TILE(turn);
    if (OUTSIDE_C) {
      continue;
    }
    float sum[SUMS] = {0};
    const int blocks = blocks_of(&tile);
    int previous = 0;
    for (int block = 0; block < blocks; ++block) {
      wait_for(full + 8 * buffer, parity);
      if (!tensor) {
        SHOW_LOCAL_MEMORY;
      }
      const ulong pair = (ulong)buffer * ((A_BYTES + B_BYTES) >> 4);
      START_MULTIPLYING;
#pragma unroll
      for (int p = 0; p < KL / 16; ++p) {
        multiply(sum, a_first + pair + (DEEPER(p, A_LINES, A_ALONG_K) >> 4),
                 b_first + pair + (DEEPER(p, B_LINES, B_ALONG_K) >> 4));
      }
      COMMIT_MULTIPLICATIONS;
      FINISH_MULTIPLYING("1");
      if (block > 0 && item % 32 == 0) {
        arrive(empty + 8 * previous);
      }
      previous = buffer;
      NEXT_BUFFER;
    }
    FINISH_MULTIPLYING("0");
#if TENSOR_COPIES
    if (blocks > 0 && item % 32 == 0) {
      arrive(empty + 8 * previous);
    }
    if (tensor && reads_c && IS_LAST) {
      WAIT_FOR_OLD_C;
    }
#endif

    realv rows[MS][COLUMN_PIECES];
    gather_rows(rows, sum, item % 4);
    if (slice || !is_staged(&tile, ldc, numbers.steps)) {
#pragma unroll
      for (int i = 0; i < MS; ++i) {
        const int row = item / 32 * 16 + item % 32 / 4 + 8 * i;
        if (slice) {
          if (ML < 64 && row >= ML) {
            break;
          }
#pragma unroll
          for (int w = 0; w < COLUMN_PIECES; ++w) {
            store_sums(slice + (row * NL + 32 * w + item % 4 * 8), rows[i][w]);
          }
        } else if (row < tile.rows) {
          __global output* c_row = tile.c + (row * (ulong)ldc + item % 4 * 8);
          const int columns = tile.columns - (int)(item % 4 * 8);
          // What C had is read before any of it is written: the compiler must not exchange the two.
#pragma unroll
          for (int first = 0; first < COLUMN_PIECES; first += PIECES_AT_ONCE) {
            uint4 old[PIECES_AT_ONCE] = {0};
            if (beta != 0) {
#pragma unroll
              for (int w = 0; w < PIECES_AT_ONCE; ++w) {
                if (32 * (first + w) < columns) {
                  old[w] = *(__global const uint4*)(c_row + 32 * (first + w));
                }
              }
            }
#pragma unroll
            for (int w = 0; w < PIECES_AT_ONCE; ++w) {
              if (32 * (first + w) < columns) {
                update_aligned(c_row + 32 * (first + w), old[w], rows[i][first + w], alpha, beta);
              }
            }
          }
        }
      }
      continue;
    }
    // Else through local memory, where a warp puts its 16 rows, so that its lanes then update neighbours.
    SYNCHRONIZE_CONSUMERS;  // all have multiplied the last tiles
    __local float* staged = (__local float*)tiles + item / 32 * (16 * STAGED_ROW);
    const int lane = item % 32;
#pragma unroll
    for (int i = 0; i < MS; ++i) {
#pragma unroll
      for (int w = 0; w < COLUMN_PIECES; ++w) {
        __local float4* to = (__local float4*)(staged + (lane / 4 + 8 * i) * STAGED_ROW + 32 * w + lane % 4 * 8);
        to[0] = rows[i][w].lo;
        to[1] = rows[i][w].hi;
      }
    }
    SYNCHRONIZE_WARP;
    const int first_row = item / 32 * 16;
    const int rows_left = min(16, tile.rows - first_row);
    __global output* c_row = tile.c + first_row * (ulong)ldc;
    real factor = alpha;
#if WRITES_C
    if (beta != 0 || numbers.steps != 0) {
      const Epilogue e = TILE_EPILOGUE;
      __global const element* old_row = e.d ? e.d + first_row * (ulong)e.ldd : c_row;
#pragma unroll 1
      for (int r = 0; r < rows_left; ++r) {
        __local float* x = staged + (r * STAGED_ROW + lane);
        real old[NL / 32] = {0};
#pragma unroll
        for (int w = 0; w < NL / 32; ++w) {
          if (beta != 0 && 32 * w + lane < tile.columns) {
            old[w] = beta * LOAD(old_row + 32 * w + lane);
          }
        }
#pragma unroll
        for (int w = 0; w < NL / 32; ++w) {
          const int column = min(32 * w + lane, tile.columns - 1);
          const real shift = e.bias ? LOAD(e.bias + (e.steps & ROW_BIAS ? first_row + r : column)) : 0;
          x[32 * w] = activate(alpha * x[32 * w] + old[w] + shift, &e);
        }
        old_row += e.d ? e.ldd : ldc;
      }
      factor = 1;
    }
#endif
    // Several rows at once, as each takes time from local memory to C.
#define ROWS_AT_ONCE 4
#pragma unroll 1
    for (int r = 0; r < rows_left; r += ROWS_AT_ONCE) {
      real x[ROWS_AT_ONCE][NL / 32];
#pragma unroll
      for (int i = 0; i < ROWS_AT_ONCE; ++i) {
#pragma unroll
        for (int w = 0; w < NL / 32; ++w) {
          x[i][w] = staged[(r + i) * STAGED_ROW + 32 * w + lane];
        }
      }
#pragma unroll
      for (int i = 0; i < ROWS_AT_ONCE; ++i) {
        if (r + i < rows_left) {
#pragma unroll
          for (int w = 0; w < NL / 32; ++w) {
            if (32 * w + lane < tile.columns) {
              STORE_OUTPUT(factor * x[i][w], c_row + (32 * w + lane));
            }
          }
        }
        c_row += ldc;
      }
    }
    if (!IS_LAST) {
      SHOW_LOCAL_MEMORY;  // the producer's next copies come after what this work-item has read and written
      WAIT_FOR_STAGING(tensor ? 32 : PRODUCERS);
    }
  }
}
