// The tiles of local_tile.cl in local memory: how they lie there, and how the work-items load them. local_tile.cl says
// what the maps and cells are.

#define BLOCKED 0
#define CYCLIC 1
#define ZIGZAG 2
#define MMA 3

#define WORK_ITEMS (PLACES * SHARES)
// The content of local memory: reals, or pairs of elements of 16 bits.
#if MAP == MMA
#define MULTIPLY_PAIRS "mma.sync.aligned.m16n8k16.row.col.f32." PTX_TYPE "." PTX_TYPE ".f32"
#define PAIRED 1
#define DEPTH (KL / 2)  // rows of a tile
typedef uint cell;
typedef CONCAT(uint, VECTOR_WIDTH) cellv;
#else
#define PAIRED 0
#define DEPTH KL
typedef real cell;
typedef realv cellv;
#endif
#define A_ROW (ML + PADDING)  // cells of one row of a tile
#define B_ROW (NL + PADDING)
#define A_TILE (DEPTH * A_ROW)
#define B_TILE (DEPTH * B_ROW)

// a[MS] is read in vectors, too, where MS allows.
#if MS % VECTOR_WIDTH == 0
#define ROW_WIDTH VECTOR_WIDTH
typedef cellv rowv;
#else
#define ROW_WIDTH 1
typedef cell rowv;
#endif
#define ROW_PIECES (MS / ROW_WIDTH)

#if PAIRED
#define STEP 8  // rows of the tiles that are multiplied at once
#else
#define STEP 1
#endif

// First row of piece u of the work-items in row y of the work-group, first column of piece w of those in column x.
#if MAP == BLOCKED
#define ROW(u, y) (MS * (y) + ROW_WIDTH * (u))
#define COLUMN(w, x) (NS * (x) + VECTOR_WIDTH * (w))
#else
#define ROW(u, y) (ROW_WIDTH * (LOCAL_Y * (u) + (y)))
#define COLUMN(w, x) (VECTOR_WIDTH * (LOCAL_X * (w) + (x)))
#endif

// In global memory a tile consists of lines: along k, in which case it is transposed, or along the rows (columns) of C.
#define A_PACKED (LAYOUT_A != ROW_MAJOR)  // whole and aligned
#define B_PACKED (LAYOUT_B != ROW_MAJOR)
// Loads of a work-item for a tile. Unless the loads divide EVENly, some work-items have one less.
#define LOADS(lines, line) (((lines) * (line) / LOAD_WIDTH + WORK_ITEMS - 1) / WORK_ITEMS)
#define EVEN(lines, line) ((lines) * (line) / LOAD_WIDTH % WORK_ITEMS == 0)
#define IN_CELL (PAIRED ? 2 : 1)  // elements of a cell
// Lines that a work-item takes at a time, to interleave them.
#define APART(transposed) (PAIRED && !(transposed) ? 2 : 1)
#define STAGED(lines, line, transposed) (APART(transposed) * LOADS((lines) / APART(transposed), line))
#define A_STAGED STAGED(A_LINES, A_LINE, A_ALONG_K)
#define B_STAGED STAGED(B_LINES, B_LINE, B_ALONG_K)
// A constant for the bounds of loops: bounded by LOADS, the loop of store_tile is unrolled only by half by clang 15
// (single, nt), and the array leaves the registers.
#define MOST_STAGED (A_STAGED > B_STAGED ? A_STAGED : B_STAGED)

// Loads LOAD_WIDTH neighbours from an address that is aligned to as many elements. Not by vloadN, which promises no
// alignment: NVIDIA's compiler turns it into single loads.
#if PAIRED
typedef ushort stored, loaded;  // the bits of an element
#define LOAD_ONE(pointer, type) (*(pointer))
#else
typedef operand stored;
typedef real loaded;
#define LOAD_ONE(pointer, type) LOAD_OPERAND(pointer, type)
#endif

#if PAIRED
typedef CONCAT(ushort, LOAD_WIDTH) realw;
#define LOADW(pointer, type) (*(__global const realw*)(pointer))
#elif LOAD_WIDTH == 1
typedef real realw;
#define LOADW(pointer, type) LOAD_OPERAND(pointer, type)
#else
typedef CONCAT(REAL, LOAD_WIDTH) realw;
#if MIXED
#define LOADW(pointer, type) FROM_BYTES(LOAD_WIDTH, *(__global const CONCAT(uchar, LOAD_WIDTH)*)(pointer), type)
#elif BFLOAT16
#define LOADW(pointer, type) WIDENED(LOAD_WIDTH, *(__global const CONCAT(ushort, LOAD_WIDTH)*)(pointer))
#elif PRECISION == 16
#define LOADW(pointer, type) CONCAT(vload_half, LOAD_WIDTH)(0, pointer)
#else
#define LOADW(pointer, type) (*(__global const realw*)(pointer))
#endif
#endif

// True if all lines that start at `pointer` plus a multiple of `step` are aligned.
static ALWAYS_INLINE bool aligned(__global const operand* pointer, const ulong step) {
  return (uintptr_t)pointer % (LOAD_WIDTH * sizeof(operand)) == 0 && step % LOAD_WIDTH == 0;
}

// Line of load number r of a work-item, and the load's place in that line: neighbours load neighbours. REGULAR: the
// work-group loads LINES_AT_ONCE whole lines at a time, so load r lies r * LINES_AT_ONCE lines behind the first, at the
// same place.
#define REGULAR(line) (WORK_ITEMS % ((line) / LOAD_WIDTH) == 0)
#define LINES_AT_ONCE(line) (WORK_ITEMS / ((line) / LOAD_WIDTH))
static ALWAYS_INLINE uint load_line(const int r, const int line, const uint item) {
  const uint loads = line / LOAD_WIDTH;  // in a line
  return REGULAR(line) ? item / loads + r * LINES_AT_ONCE(line) : (item + r * WORK_ITEMS) / loads;
}
static ALWAYS_INLINE uint load_place(const int r, const int line, const uint item) {
  const uint loads = line / LOAD_WIDTH;
  return (REGULAR(line) ? item : item + r * WORK_ITEMS) % loads * LOAD_WIDTH;
}

// From the start of a tile to load number r of a work-item, in line h of those that it interleaves: in elements of
// global memory, `step` from line to line, and in cells of local memory, `row` from row to row.
static ALWAYS_INLINE ulong element_offset(const int r, const int h, const int line, const int apart, const ulong step,
                                          const uint item) {
  return (load_line(r, line, item) * apart + h) * step + load_place(r, line, item);
}
static ALWAYS_INLINE int cell_offset(const int r, const int line, const int row, const bool transposed,
                                     const uint item) {
  const int l = load_line(r, line, item);
  const int place = load_place(r, line, item);
  return transposed ? place / IN_CELL * row + l : l * row + place;
}

// A work-item begins at the offset of its first load. With regular loads the others lie from there as work-item 0's lie
// from the tile's start: the same for all, so that the kernel's loop keeps one address for each operand.
#define BEGIN(line, offset) (REGULAR(line) ? (offset) : 0)
#define FROM_BEGIN(line, item) (REGULAR(line) ? 0 : (item))

// Loads a work-item's part of a tile, `lines` lines of `line` elements that are `step` elements apart, into registers;
// `begin` is where the work-item begins. whole (the same for the whole work-group): all elements exist and lines are
// aligned. Else only full_lines x full_line elements exist; the others become zero.
//
// Pairs: where lines lie along k (transposed), a load is LOAD_WIDTH / 2 cells of one column; else two loads of a
// work-item, of steps 2l and 2l+1 of k, are LOAD_WIDTH cells of row l.
static ALWAYS_INLINE void load_tile(realw* staged, __global const operand* begin, const int type, const ulong step,
                                    const int lines, const int line, const bool transposed, const bool whole,
                                    const int full_lines, const int full_line, const uint item) {
  const int apart = APART(transposed);
  const int loads = LOADS(lines / apart, line);
#define SOURCE ((__global const stored*)begin + element_offset(r, h, line, apart, step, FROM_BEGIN(line, item)))
  if (whole) {
    UNROLLED(i, MOST_STAGED) {
      const int r = i / apart, h = i % apart;
      if (r < loads && (EVEN(lines / apart, line) || load_line(r, line, item) * apart + h < (uint)lines))
        staged[i] = LOADW(SOURCE, type);
    }
  } else {
    UNROLLED(i, MOST_STAGED) {
      const int r = i / apart, h = i % apart;
      if (r < loads) {
        const int l = load_line(r, line, item) * apart + h;
        const int count = l < full_lines ? full_line - (int)load_place(r, line, item) : 0;
        __global const stored* source = SOURCE;
        UNROLLED(q, LOAD_WIDTH) ((loaded*)&staged[i])[q] = q < count ? LOAD_ONE(source + q, type) : 0;
      }
    }
  }
#undef SOURCE
}

// Stores what load_tile has loaded into the tile in local memory, whose rows are `row` cells apart; `begin` is where
// the work-item begins.
static ALWAYS_INLINE void store_tile(__local cell* begin, const realw* staged, const int row, const int lines,
                                     const int line, const bool transposed, const uint item) {
  const int apart = APART(transposed);
  UNROLLED(r, MOST_STAGED) {
    if (r < LOADS(lines / apart, line) &&
        (EVEN(lines / apart, line) || load_line(r, line, item) < (uint)(lines / apart))) {
      __local cell* cells = begin + cell_offset(r, line, row, transposed, FROM_BEGIN(line, item));
      const loaded* low = (const loaded*)&staged[apart * r];
#if PAIRED
      const loaded* high = (const loaded*)&staged[apart * r + apart - 1];
#pragma unroll
      for (int q = 0; q < LOAD_WIDTH; q += 2) {
        if (transposed) {
          cells[q / 2 * row] = low[q] | (uint)low[q + 1] << 16;
        } else {
          *(__local cellv*)(cells + q) = (cellv)(low[q] | (uint)high[q] << 16, low[q + 1] | (uint)high[q + 1] << 16);
        }
      }
#else
      if (LOAD_WIDTH <= VECTOR_WIDTH && !transposed) {
        *(__local realw*)cells = staged[r];
      } else {
        UNROLLED(q, LOAD_WIDTH) cells[transposed ? q * row : q] = low[q];
      }
#endif
    }
  }
}
