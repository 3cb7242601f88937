#include <clbake/kernels/constraints.hpp>

#include "traits.hpp"

#include <algorithm>

namespace clbake::kernels {

std::uint64_t local_memory_bytes(const Params& p) {
  const std::uint64_t tile = std::uint64_t{p.ml} * p.nl;
  const std::uint64_t width = p.vector_width;
  const std::uint64_t real = real_bytes(p.precision);
  switch (p.family) {
    case Family::warpgroup_tile: {  // tiles of elements, later the sums in singles; two barriers of 8 bytes
      // Lines along k as they are, lines along rows or columns of C with room for 64 at least: warpgroup_copies.cl.
      const auto bytes = [&](std::uint32_t side, bool along_k) {
        const std::uint32_t room = side > 64 || !along_k ? (side + 63) / 64 * 64 : side;
        return std::uint64_t{room} * p.kl * operand_bytes(p);
      };
      const std::uint32_t bits = element_b(p.precision) == Element::q4 ? 4 : 8;
      const std::uint64_t packed = std::uint64_t{p.nl} / 16 * (p.kl / 32) * (64 * bits + 48);  // with heads
      const std::uint64_t both = bytes(p.ml, a_is_along_k(p)) +
                                 (reads_weights(p) ? (packed + 1023) / 1024 * 1024 : bytes(p.nl, b_is_along_k(p)));
      const std::uint64_t tiles = p.buffers * both;
      return std::max(tiles, std::uint64_t{p.ml} * (p.nl + 4) * 4) + 16 * std::uint64_t{p.buffers};
    }
    case Family::warp_tile: {
      const std::uint64_t tiles = p.buffers * (std::uint64_t{p.ml} + p.nl) * p.kl;
      return std::max(tiles, p.shares / 2 * tile) * real;
    }
    case Family::local_tile: {
      const std::uint64_t depth = has_pairs(p) ? p.kl / 2 : p.kl;
      const auto tiles = [&](std::uint64_t row) { return (p.buffers * (depth * row) + width - 1) / width * width; };
      const std::uint64_t both = tiles(std::uint64_t{p.ml} + p.padding) + tiles(std::uint64_t{p.nl} + p.padding);
      return std::max(both, p.shares / 2 * tile) * real;
    }
    case Family::stripe: {  // stripe.cl aligns each tile to 16 elements
      const auto aligned = [&](std::uint64_t side) { return (p.kl * side + 15) / 16 * 16; };
      return ((p.local_a ? aligned(p.ml) : 0) + (p.local_b ? aligned(p.nl) : 0)) * real;
    }
    case Family::weight_tile:
      if (has_matrix_weights(p)) return std::uint64_t{4} * p.ml * p.nl * p.kl;   // sums
      return p.kl > 1 ? std::uint64_t{4} * p.ms * (p.ks + p.kl / 2 * p.nl) : 0;  // op(A) as floats, sums
    case Family::direct:
    case Family::thin_tile: return p.kl / 2 * tile * real;
    case Family::register_tile: return 0;
  }
  return 0;
}

}  // namespace clbake::kernels
