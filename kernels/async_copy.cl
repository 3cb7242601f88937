// Shared by several families: asynchronous copies from global to local memory, which NVIDIA's devices have from sm_80
// on, and the order in which work-groups take their tiles.

#define CHUNK_BYTES 16                            // of a copy
#ifndef LOAD_WIDTH                                // local_tile has it as a parameter
#define LOAD_WIDTH (CHUNK_BYTES / OPERAND_BYTES)  // elements of a chunk
#endif

// The address of local memory that PTX takes.
static ALWAYS_INLINE uint local_address(__local const void* pointer) { return (uint)(uintptr_t)pointer; }

// Starts to copy the first `bytes` bytes of a chunk to an address of local memory; the others become zero, and are not
// read.
#define COPY_ASYNC(address, from, bytes) \
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory")

// The same for `size` bytes, 4 or 8, aligned to that.
#define COPY_PIECE(size, address, from, bytes)                                                                 \
  __asm__ volatile("cp.async.ca.shared.global [%0], [%1], " size ", %2;" ::"r"(address), "l"(from), "r"(bytes) \
                   : "memory")
static ALWAYS_INLINE void copy_piece(const int size, const uint address, __global const operand* from,
                                     const int bytes) {
  if (size == 8) {
    COPY_PIECE("8", address, from, bytes);
  } else {
    COPY_PIECE("4", address, from, bytes);
  }
}

// If `wanted`, the same for a `size` of 4, 8 or 16: by a predicate, as the assembler moves nothing over a branch. Other
// accesses to memory may move past it, but not past the waits and barriers around it.
#define COPY_IF(wanted, kind, size, address, from, bytes)                                                      \
  __asm__ volatile("{.reg .pred p; setp.ne.s32 p, %3, 0; @p cp.async." kind ".shared.global [%0], [%1], " size \
                   ", %2;}" ::"r"(address),                                                                    \
                   "l"(from), "r"(bytes), "r"((int)(wanted)))
static ALWAYS_INLINE void copy_if(const bool wanted, const int size, const uint address, __global const operand* from,
                                  const int bytes) {
  if (size == 16) {
    COPY_IF(wanted, "cg", "16", address, from, bytes);
  } else if (size == 8) {
    COPY_IF(wanted, "ca", "8", address, from, bytes);
  } else {
    COPY_IF(wanted, "ca", "4", address, from, bytes);
  }
}

// The largest power of two, in bytes and up to 128, to which all lines are aligned that start at `pointer` plus a
// multiple of `step` elements.
static ALWAYS_INLINE uint alignment_of(__global const operand* pointer, const ulong step) {
  const uint bits = (uint)(uintptr_t)pointer | OPERAND_BYTES * (uint)step | 128;
  return bits & -bits;
}

// Makes one group of this work-item's copies since the last group.
#define START_COPIES __asm__ volatile("cp.async.commit_group;" ::: "memory")
// Waits for all groups of this work-item but the last `late`, a string.
#define WAIT_FOR_COPIES(late) __asm__ volatile("cp.async.wait_group " late ";" ::: "memory")

// The number that a macro stands for, as a string.
#define TEXT_EXPANDED(x) #x
#define TEXT(x) TEXT_EXPANDED(x)

// The work-group's tile: tile_row, tile_column.
#if SPLIT_K > 0
// Work-groups start in the order of their numbers, x first.
static ALWAYS_INLINE void find_place(size_t* row, size_t* column) {
  const uint columns = (uint)get_num_groups(0);
  find_in_bands((uint)get_group_id(1) * columns + (uint)get_group_id(0), (uint)get_num_groups(1), columns, row, column);
}
#define FIND_PLACE                      \
  size_t tile_row = 0, tile_column = 0; \
  find_place(&tile_row, &tile_column)
#else
#define FIND_PLACE const size_t tile_row = TILE_ROW, tile_column = TILE_COLUMN
#endif
