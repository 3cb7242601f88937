// Whether the C of a problem and an operand in the same buffer have elements in common.
#pragma once

#include <clbake/clbake.hpp>

namespace clbake {

// One of a problem's matrices as it lies in a buffer: `rows` rows of `cols` elements, `ld` apart; a batch of them.
struct Region {
  std::size_t start = 0;  // elements
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t ld = 0;
  std::size_t batch = 1;
  std::size_t stride = 0;                              // of the batch
  const std::vector<BatchOffsets>* offsets = nullptr;  // instead of the stride
  std::size_t BatchOffsets::*member = nullptr;
};

// The regions of a row-major problem whose matrices begin `start` elements after the buffer's start. The problem
// must outlive them.
Region region_of_a(const Problem& p, std::size_t start);
Region region_of_b(const Problem& p, std::size_t start);
Region region_of_c(const Problem& p, std::size_t start);
Region region_of_d(const Problem& p, std::size_t start);
Region region_of_bias(const Problem& p, std::size_t start);

// Exactly: blocks of one matrix, as in a blocked factorisation, may lie between each other's rows. Constant time where
// both have one leading dimension, and there is no batch; otherwise sorts the rows of both. Also true when they
// interleave and are too many to compare (4 million). May throw std::bad_alloc.
bool overlap(const Region& x, const Region& y);

}  // namespace clbake
