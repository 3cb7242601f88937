// Packed weights on the host: what op(B) of a product like half-q4-half is made of. kernels/WEIGHTS.md has the format.
//
//   auto packed = clbake::quantize_weights({4096, 4096}, {floats.data(), floats.size()});  // 4 bits, groups of 32
//   problem.precision = clbake::mixed(clbake::Element::half, clbake::Element::q4, clbake::Element::half);
//
// The functions are in a library of their own, clbake::weights (pkg-config: clbake-weights), which needs no OpenCL.
// They fail with invalid_argument, and the message names what is wrong, or with out_of_memory. Any thread.
#pragma once

#include <clbake/export.h>
#include <clbake/status.hpp>
#include <clbake/weights/format.hpp>

#include <cstdint>
#include <vector>

namespace clbake {

// Numbers of the caller's, read during the call only. A half is its bits.
template <typename T>
struct Elements {
  const T* first = nullptr;
  std::size_t count = 0;
};

using PackedWeights = std::vector<std::uint8_t>;

// That bits and group are known, and k is a multiple of the group. k and n are below 2^31.
CLBAKE_API Status check_weight_format(const WeightFormat& format);

// The weights (code - zero) * scale. codes: k x n, row-major, one in a byte, 0 to 15 or 255. scales: finite halves,
// k / group x n. zeros: as scales, 0 to 16 (the largest of GPTQ's) or 255; none unless the format has them.
CLBAKE_API Result<PackedWeights> pack_weights(const WeightFormat& format, Elements<std::uint8_t> codes,
                                              Elements<std::uint16_t> scales, Elements<std::uint8_t> zeros = {});

// The nearest weights to finite floats, k x n, row-major, with scales that the largest of each group decides. The
// format has no zero points.
CLBAKE_API Result<PackedWeights> quantize_weights(const WeightFormat& format, Elements<float> weights);

// The format in the head of packed weights, which must have all their bytes. Checks all scales and zero points.
CLBAKE_API Result<WeightFormat> weight_format(Elements<std::uint8_t> packed);

// Packed weights as floats, k x n, row-major; exact.
CLBAKE_API Result<std::vector<float>> unpack_weights(Elements<std::uint8_t> packed);

// ---- Without loss from other layouts ----

// GGUF's blocks: Q4_0 with 4 bits, Q8_0 with 8; n rows of k / 32 blocks without gaps, the rows along k.
CLBAKE_API Result<PackedWeights> pack_gguf(std::size_t bits, std::size_t k, std::size_t n,
                                           Elements<std::uint8_t> blocks);

// GPTQ of 4 bits in its sequential order, without a g_idx that permutes k. qweight: k / 8 x n words, the lowest four
// bits the least k. qzeros: groups x n / 8, the lowest four bits the least column; minus_one: the zero points are one
// more than what is stored, as in the format's first version. scales: halves, groups x n.
CLBAKE_API Result<PackedWeights> pack_gptq(std::size_t k, std::size_t n, std::size_t group,
                                           Elements<std::uint32_t> qweight, Elements<std::uint32_t> qzeros,
                                           Elements<std::uint16_t> scales, bool minus_one = true);

// AWQ of 4 bits ("GEMM"). qweight: k x n / 8 words, columns 0, 2, 4, 6, 1, 3, 5, 7 of eight from the lowest four bits
// on; qzeros: groups x n / 8, alike; scales: halves, groups x n.
CLBAKE_API Result<PackedWeights> pack_awq(std::size_t k, std::size_t n, std::size_t group,
                                          Elements<std::uint32_t> qweight, Elements<std::uint32_t> qzeros,
                                          Elements<std::uint16_t> scales);

}  // namespace clbake
