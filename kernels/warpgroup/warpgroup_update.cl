// How the consumers of warpgroup_tile write rows of 8 neighbours to C: straight, where they are aligned, else through
// local memory. Those of mixed products: warpgroup_mixed.cl.

#define PIECES_AT_ONCE (VECTORS <= 4 ? VECTORS : VECTORS % 2 == 0 ? 2 : 1)  // of what C had

// Stores 8 sums, aligned to 16 bytes. Like the next function by instructions of its own, as OpenCL's vload and vstore
// promise no alignment.
static ALWAYS_INLINE void store_sums(__global real* to, const realv sum) {
  __global float4* halves = (__global float4*)to;
  halves[0] = sum.lo;
  halves[1] = sum.hi;
}

// Updates 8 elements of C that are aligned to 16 bytes.
#if WRITES_C
static ALWAYS_INLINE uint narrowed(const float low, const float high) {
  uint bits;
  __asm__("cvt.rn." PTX_TYPE "x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
static ALWAYS_INLINE realv widened(const uint4 bits) {
#if BFLOAT16
  return WIDENED(8, as_ushort8(bits));
#else
  return vload_half8(0, (const half*)&bits);
#endif
}
static ALWAYS_INLINE void update_aligned(__global output* c, const uint4 old, const realv sum, const real alpha,
                                         const real beta) {
  realv x = alpha * sum;
  if (beta != 0) x += beta * widened(old);
  *(__global uint4*)c = (uint4)(narrowed(x.s0, x.s1), narrowed(x.s2, x.s3), narrowed(x.s4, x.s5), narrowed(x.s6, x.s7));
}
#else
static ALWAYS_INLINE void update_aligned(__global output* c, const uint4 old, const realv sum, const real alpha,
                                         const real beta) {
  store_sums(c, alpha * sum);  // partial sums: beta is 0
}
#endif

// A tile's or a slice's sums of a work-item, rows of 8 neighbours, from registers. Partial sums of a slice have room
// for the whole tile.
static ALWAYS_INLINE void write_rows(realv rows[MS][VECTORS], const Tile* tile, const Call* call, const uint item) {
  UNROLLED(i, MS) {
    const int row = item / 32 * 16 + item % 32 / 4 + 8 * i;
    if (call->slice) {
      if (ML < 64 && row >= ML) break;
      UNROLLED(w, VECTORS) store_sums(call->slice + (row * NL + 32 * w + item % 4 * 8), rows[i][w]);
    } else if (row < tile->rows) {
      __global output* c_row = tile->c + (row * (ulong)call->ldc + item % 4 * 8);
      const int columns = tile->columns - (int)(item % 4 * 8);
      // The old C is read before any of it is written: the compiler must not exchange the two.
#pragma unroll
      for (int first = 0; first < VECTORS; first += PIECES_AT_ONCE) {
        uint4 old[PIECES_AT_ONCE] = {0};
        if (call->beta != 0) {
          UNROLLED(w, PIECES_AT_ONCE) {
            if (32 * (first + w) < columns) old[w] = *(__global const uint4*)(c_row + 32 * (first + w));
          }
        }
        UNROLLED(w, PIECES_AT_ONCE) {
          if (32 * (first + w) < columns)
            update_aligned(c_row + 32 * (first + w), old[w], rows[i][first + w], call->alpha, call->beta);
        }
      }
    }
  }
}

// ---- Through local memory: a warp puts its 16 rows there, so that its lanes then update neighbours ----

static ALWAYS_INLINE void stage_rows(__local float* staged, realv rows[MS][VECTORS], const int lane) {
  UNROLLED(i, MS) {
    UNROLLED(w, VECTORS) {
      __local float4* to = (__local float4*)(staged + (lane / 4 + 8 * i) * STAGED_ROW + 32 * w + lane % 4 * 8);
      to[0] = rows[i][w].lo;
      to[1] = rows[i][w].hi;
    }
  }
  SYNCHRONIZE_WARP;
}

#if WRITES_C
// x = alpha * x + beta * d and the epilogue, for `count` staged rows, of which the first is `first_row` of the tile.
static ALWAYS_INLINE void finish_staged(__local float* staged, const Tile* tile, const Call* call, const int first_row,
                                        const int count, __global output* c_row, const int lane) {
  const Numbers* x = call->numbers;
  const Epilogue e = find_epilogue(tile->row, tile->column, (ulong)tile->product + x->first_product, call->offsets,
                                   x->steps, call->scalars.z, call->scalars.w, call->bias, x->bias_offset,
                                   x->bias_stride, call->d, x->d_offset, x->d_stride, x->ldd);
  __global const element* old_row = e.d ? e.d + first_row * (ulong)e.ldd : c_row;
#pragma unroll 1
  for (int r = 0; r < count; ++r) {
    __local float* sums = staged + (r * STAGED_ROW + lane);
    real old[NL / 32] = {0};
    UNROLLED(w, NL / 32) {
      if (call->beta != 0 && 32 * w + lane < tile->columns) old[w] = call->beta * LOAD(old_row + 32 * w + lane);
    }
    UNROLLED(w, NL / 32) {
      const int column = min(32 * w + lane, tile->columns - 1);
      const real shift = e.bias ? LOAD(e.bias + (e.steps & ROW_BIAS ? first_row + r : column)) : 0;
      sums[32 * w] = activate(call->alpha * sums[32 * w] + old[w] + shift, &e);
    }
    old_row += e.d ? e.ldd : call->ldc;
  }
}
#endif

// Stores `count` staged rows, several at once, as each takes time from local memory to C.
#define ROWS_AT_ONCE 4
static ALWAYS_INLINE void store_staged(__local const float* staged, const Tile* tile, const Call* call, const int count,
                                       __global output* c_row, const real factor, const int lane) {
#pragma unroll 1
  for (int r = 0; r < count; r += ROWS_AT_ONCE) {
    real x[ROWS_AT_ONCE][NL / 32];
    UNROLLED(i, ROWS_AT_ONCE)
      UNROLLED(w, NL / 32) x[i][w] = staged[(r + i) * STAGED_ROW + 32 * w + lane];
    UNROLLED(i, ROWS_AT_ONCE) {
      if (r + i < count) {
        UNROLLED(w, NL / 32) {
          if (32 * w + lane < tile->columns) STORE_OUTPUT(factor * x[i][w], c_row + (32 * w + lane));
        }
      }
      c_row += call->ldc;
    }
  }
}

// Writes `count` rows of the tile, from `first_row` on, that a warp has in local memory.
static ALWAYS_INLINE void write_staged_rows(__local float* staged, const Tile* tile, const Call* call,
                                            const int first_row, const int count, const int lane) {
  __global output* c_row = tile->c + first_row * (ulong)call->ldc;
  real factor = call->alpha;
#if WRITES_C
  if (call->beta != 0 || call->numbers->steps != 0) {
    finish_staged(staged, tile, call, first_row, count, c_row, lane);
    factor = 1;
  }
#endif
  store_staged(staged, tile, call, count, c_row, factor, lane);
}

static ALWAYS_INLINE void write_staged(__local float* sums, realv rows[MS][VECTORS], const Tile* tile, const Call* call,
                                       const uint item) {
  SYNCHRONIZE_CONSUMERS;  // all have multiplied the last tiles
  __local float* staged = sums + item / 32 * (16 * STAGED_ROW);
  const int lane = item % 32, first_row = item / 32 * 16;
  stage_rows(staged, rows, lane);
  write_staged_rows(staged, tile, call, first_row, min(16, tile->rows - first_row), lane);
}
