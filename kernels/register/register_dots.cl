// register_tile with DOTS: words of four bytes, which AVX512-VNNI multiplies, or of two bfloat16, by AVX512-BF16.
// IN_REAL is how many.

// VNNI's instruction multiplies unsigned by signed bytes. If A's and B's are alike, B's other kind is b + 128 (of int8)
// or b - 128: of these bits, and the sums begin with what this adds to them.
#define ALIKE (SUMS_INTEGERS && A_TYPE == B_TYPE)
#if ALIKE
#define ADDED (A_TYPE == S8 ? 128 : -128)
#define TO_OTHER_KIND(bits) ((bits) ^ 0x80808080u)
#else
#define TO_OTHER_KIND(bits) (bits)
#endif
#if !SUMS_INTEGERS
#define ADD_DOTS(sums, of_a, of_b) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(of_a), "v"(of_b))
#elif A_TYPE == S8
#define ADD_DOTS(sums, of_a, of_b) __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(of_b), "v"(of_a))
#else
#define ADD_DOTS(sums, of_a, of_b) __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(of_a), "v"(of_b))
#endif
typedef uint unaligned __attribute__((aligned(1)));  // a word
typedef uint16 unaligned16 __attribute__((aligned(1)));
#define STRIP_STEP (IN_REAL * VECTOR_WIDTH)  // of k, in the words of a vector
#define BITS (32 / IN_REAL)                  // of an element
#define AS_REAL CONCAT(as_, REAL)
#define AS_REALV CONCAT(AS_REAL, VECTOR_WIDTH)

// A word of a line, from step p on; with zeros beyond `depth`.
static inline uint load_word(__global const operand* line, const ulong step, const int p, const int depth) {
  uint word = 0;
  for (int t = 0; t < min(IN_REAL, depth - p); ++t) word |= (uint)line[(p + t) * step] << BITS * t;
  return word;
}

// Packs the words from p on of `count` columns, which may be negative or more than a vector, and zeros behind.
static inline void pack_words(realv* vector, __global const operand* b, const int ldb, const int p, const int depth,
                              const int count) {
  for (int q = 0; q < VECTOR_WIDTH; ++q) {
    ((uint*)vector)[q] = TO_OTHER_KIND(q < count ? load_word(b + q * B_STEP_J, B_STEP_P, p, depth) : 0);
  }
}

// Packs the depth x columns part of op(B) at b into panels, whose reals are words; in the order of memory.
static inline void pack_block(realv* panels, __global const operand* b, const int ldb, const int depth,
                              const int columns) {
#define IN_PANELS (panels + (v / VECTORS * PANEL + p / IN_REAL * VECTORS + v % VECTORS))
  const int vectors = (columns + NS - 1) / NS * VECTORS;
#if TRANS_B
  for (int v = 0; v < vectors; ++v) {
    const int count = columns - v * VECTOR_WIDTH;
    __global const operand* source = b + v * VECTOR_WIDTH * B_STEP_J;
    int p = 0;
    for (; p + STRIP_STEP <= depth; p += STRIP_STEP) {
      realv square[VECTOR_WIDTH];
      UNROLLED(q, VECTOR_WIDTH) {
        square[q] = AS_REALV(TO_OTHER_KIND((uint16)(0)));
        if (q < count) square[q] = AS_REALV(TO_OTHER_KIND(*(__global const unaligned16*)(source + q * B_STEP_J + p)));
      }
      transpose(square);
      UNROLLED(q, VECTOR_WIDTH) IN_PANELS[q * VECTORS] = square[q];
    }
    for (; p < depth; p += IN_REAL) pack_words(IN_PANELS, source, ldb, p, depth, count);
  }
#else
  for (int p = 0; p < depth; p += IN_REAL) {
    for (int v = 0; v < vectors; ++v) {
      const int count = columns - v * VECTOR_WIDTH;
      __global const operand* source = b + v * VECTOR_WIDTH;
      if (count >= VECTOR_WIDTH && p + IN_REAL <= depth) {
        uint16 words = (uint16)(0);
        UNROLLED(t, IN_REAL) words |= convert_uint16(vload16(0, source + (p + t) * B_STEP_P)) << (uint)(BITS * t);
        *IN_PANELS = AS_REALV(TO_OTHER_KIND(words));
      } else {
        pack_words(IN_PANELS, source, ldb, p, depth, count);
      }
    }
  }
#endif
}

// A strip of op(A): of a transposed A all words are packed, and zeros up to whole vectors; else those that are not
// whole. `begins`: of each row's sums.
typedef struct {
  realv packed[TRANS_A ? (KL + STRIP_STEP - 1) / STRIP_STEP * MS : (MS + VECTOR_WIDTH - 1) / VECTOR_WIDTH];
#if ALIKE
  int begins[MS];
#define BEGINS(strip, i) (strip)->begins[i]
#else
#define BEGINS(strip, i) 0
#endif
} Strip;
#define PACKED(strip, i) ((const uint*)(strip)->packed)[i]

#if ALIKE
static inline void add_bytes(realv* sums, const realv bytes) {
  const realv ones = (realv)(0x01010101);
#if A_TYPE == S8
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(ones), "v"(bytes));
#else
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(bytes), "v"(ones));
#endif
}
#endif

#if TRANS_A
#if ALIKE
static inline void sum_strip(Strip* strip, const int steps) {
  realv sums[MS];
  UNROLLED(i, MS) sums[i] = (realv)(0);
  for (int r = 0; r < steps / STRIP_STEP * MS; r += MS)
    UNROLLED(i, MS) add_bytes(&sums[i], strip->packed[r + i]);
  for (int i = 0; i < MS; ++i) strip->begins[i] = 0;
  for (int i = 0; i < MS * VECTOR_WIDTH; ++i) strip->begins[i % MS] -= ADDED * ((const int*)sums)[i];
}
#endif

// All strips of as many rows as a cache line has.
#define STRIPS ((63 + MS) / MS)
static inline void prepare_strips(Strip* strips, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  const int steps = (depth + STRIP_STEP - 1) / STRIP_STEP * STRIP_STEP;
  for (int p = 0; p < steps; p += IN_REAL) {
    for (int s = 0; s < STRIPS && s * MS < rows; ++s) {
      uint* words = (uint*)strips[s].packed + p / IN_REAL * MS;
      __global const operand* columns = a + s * MS;
#if MS == 8
      if (p + IN_REAL <= depth && (s + 1) * MS <= rows) {
        uint8 eight = 0;
        UNROLLED(t, IN_REAL) eight |= convert_uint8(vload8(0, columns + (p + t) * A_STEP_P)) << (uint)(BITS * t);
        vstore8(eight, 0, words);
        continue;
      }
#endif
      for (int i = 0; i < MS; ++i) {
        words[i] = load_word(columns + min(i, rows - 1 - s * MS), A_STEP_P, p, depth);
      }
    }
  }
#if ALIKE
  for (int s = 0; s < STRIPS && s * MS < rows; ++s) sum_strip(&strips[s], steps);
#endif
}
#else
#define STRIPS 1
static inline void prepare_strips(Strip* strip, __global const operand* a, const int lda, const int depth,
                                  const int rows) {
  for (int i = 0; i < MS; ++i) {
    __global const operand* line = a + min(i, rows - 1) * A_STEP_I;
    ((uint*)strip->packed)[i] = load_word(line, 1, depth / IN_REAL * IN_REAL, depth);
#if ALIKE
    int sum = 0, p = 0;
    realv sums = (realv)(0);
    for (; p + STRIP_STEP <= depth; p += STRIP_STEP)
      add_bytes(&sums, as_int16(*(__global const unaligned16*)(line + p)));
    for (; p < depth; ++p) sum += LOAD_A(line + p);
    for (int q = 0; q < VECTOR_WIDTH; ++q) sum += ((const int*)&sums)[q];
    strip->begins[i] = -ADDED * sum;
#endif
  }
}
#endif
#if TRANS_A
#define WORD_OF_A(i, p) PACKED(strip, (p) / IN_REAL * MS + (i))
#else
#define WORD_OF_A(i, p) *(__global const unaligned*)(a + a_row[i] + (p))
#endif

// One step of the loop.
#define ADD_WORDS(of_a)                                                               \
  UNROLLED(i, MS) {                                                                   \
    const realv word = (realv)(AS_REAL(of_a));                                        \
    UNROLLED(v, VECTORS) ADD_DOTS(sum[i][v], word, panel[p / IN_REAL * VECTORS + v]); \
  }

// sum += strip * panel.
static ALWAYS_INLINE void multiply_dots(realv sum[MS][VECTORS], const Strip* strip, __global const operand* a,
                                        const ulong a_row[MS], const realv* panel, const int depth) {
  int p = 0;
#pragma unroll KS
  for (; p < (TRANS_A ? depth : depth - (IN_REAL - 1)); p += IN_REAL) ADD_WORDS(WORD_OF_A(i, p))
  if (p < depth) ADD_WORDS(PACKED(strip, i))
}
