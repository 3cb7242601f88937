// The instruction of warpgroup_tile's consumers, wgmma, and the descriptors of its tiles.

// The columns of the instruction, whose rows are 64: of C or, where weights are its first operand, C's rows.
#if READS_WEIGHTS
#define WIDTH ML
#else
#define WIDTH NL
#endif
#define SUMS (WIDTH / 2)  // of a work-item

// A tile's address and layout: the matrix descriptor of wgmma. A tile's lines are in groups of 8, 1024
// bytes apart; a block of 128 bytes of all lines is `block` bytes from the next.
static ALWAYS_INLINE ulong descriptor(const uint address, const uint block) {
  ulong bits = (ulong)1 << 62 | (ulong)(1024 >> 4) << 32 | (ulong)(block >> 4) << 16 | (address & 0x3ffff) >> 4;
  // Else clang adds the constant part in the loop, and ptxas 12.9 and 13.0 lose the upper half of it.
  __asm__("" : "+l"(bits));
  return bits;
}

// Bytes from a tile's first steps of k to its p-th 16, of 8 bits 32.
#define DEEPER(p, lines, along_k) ((along_k) ? (p) / 4 * ((lines)*128) + (p) % 4 * 32 : (p)*2048)

// The instruction's sums, %0 and so on.
#define TEN(d) "%" d "0, %" d "1, %" d "2, %" d "3, %" d "4, %" d "5, %" d "6, %" d "7, %" d "8, %" d "9, "
#define THIRTY TEN("") TEN("1") TEN("2")
#define SIXTY THIRTY TEN("3") TEN("4") TEN("5")
#define NINETY SIXTY TEN("6") TEN("7") TEN("8")
#define HUNDRED_AND_TWENTY NINETY TEN("9") TEN("10") TEN("11")
#if SUMS_INTEGERS
#define IN_PLACE "+r"
#else
#define IN_PLACE "+f"
#endif
#define FOUR_SUMS(i) IN_PLACE(sum[i]), IN_PLACE(sum[(i) + 1]), IN_PLACE(sum[(i) + 2]), IN_PLACE(sum[(i) + 3])
#define SIXTEEN_SUMS(i) FOUR_SUMS(i), FOUR_SUMS((i) + 4), FOUR_SUMS((i) + 8), FOUR_SUMS((i) + 12)
#define THIRTY_TWO_SUMS(i) SIXTEEN_SUMS(i), SIXTEEN_SUMS((i) + 16)
#if WIDTH == 16
#define SUM_LIST "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define ALL_SUMS FOUR_SUMS(0), FOUR_SUMS(4)
#elif WIDTH == 32
#define SUM_LIST "{" TEN("") "%10, %11, %12, %13, %14, %15}"
#define ALL_SUMS SIXTEEN_SUMS(0)
#elif WIDTH == 64
#define SUM_LIST "{" THIRTY "%30, %31}"
#define ALL_SUMS THIRTY_TWO_SUMS(0)
#elif WIDTH == 128
#define SUM_LIST "{" SIXTY "%60, %61, %62, %63}"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32)
#elif WIDTH == 160
#define SUM_LIST "{" SIXTY TEN("6") "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79}"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), SIXTEEN_SUMS(64)
#elif WIDTH == 224
#define SUM_LIST "{" NINETY TEN("9") TEN("10") "%110, %111}"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), THIRTY_TWO_SUMS(64), SIXTEEN_SUMS(96)
#elif WIDTH == 192
#define SUM_LIST "{" NINETY "%90, %91, %92, %93, %94, %95}"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), THIRTY_TWO_SUMS(64)
#else
#define SUM_LIST "{" HUNDRED_AND_TWENTY "%120, %121, %122, %123, %124, %125, %126, %127}"
#define ALL_SUMS THIRTY_TWO_SUMS(0), THIRTY_TWO_SUMS(32), THIRTY_TWO_SUMS(64), THIRTY_TWO_SUMS(96)
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

// The instruction: 32 bytes of k, the types of sums, a and b; and its last operands, of which `added` is "1" to add to
// the sums, "0" to replace them.
#if !MIXED
#define MULTIPLY "k16.f32." PTX_TYPE "." PTX_TYPE
#define LAST_OPERANDS(added) ", " added ", 1, 1, " A_MAJOR ", " B_MAJOR ";"
#elif SUMS_INTEGERS
#define MULTIPLY "k32.s32." PTX_NAME(A_TYPE) "." PTX_NAME(B_TYPE)
#define LAST_OPERANDS(added) ", " added ";"
#else
#define MULTIPLY "k32.f32." PTX_NAME(A_TYPE) "." PTX_NAME(B_TYPE)
#define LAST_OPERANDS(added) ", " added ", 1, 1;"
#endif
#define WGMMA(added)                                                                                            \
  __asm__ volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(WIDTH) MULTIPLY " " SUM_LIST                        \
                                                                            ", %[a], %[b]" LAST_OPERANDS(added) \
                   : ALL_SUMS                                                                                   \
                   : [a] "l"(a), [b] "l"(b))

// Starts the multiplication of 64 rows of a by b, 32 bytes of k: sum += a * b, or, with `fresh`, a constant, sum = a *
// b.
static ALWAYS_INLINE void multiply(real* sum, const ulong a, const ulong b, const bool fresh) {
  if (fresh) {
    WGMMA("0");
  } else {
    WGMMA("1");
  }
}

#define START_MULTIPLYING __asm__ volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT_MULTIPLICATIONS __asm__ volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
// Waits for all multiplications but those of the last `late` blocks.
#define FINISH_MULTIPLYING(late) __asm__ volatile("wgmma.wait_group.sync.aligned " late ";" ::: "memory")
