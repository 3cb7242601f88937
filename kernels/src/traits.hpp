// Consequences of a point's parameters that several rules share.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// A_ALONG_K and B_ALONG_K of common.cl.
inline bool is_along_k(Layout layout, bool stored_along_k) {
  return layout == Layout::k_major || (layout == Layout::row_major && stored_along_k);
}
inline bool a_is_along_k(const Params& p) { return is_along_k(p.layout_a, !p.trans_a); }
inline bool b_is_along_k(const Params& p) { return is_along_k(p.layout_b, p.trans_b || has_weights(p.precision)); }
inline std::uint32_t operand_bytes(const Params& p) { return bytes_of(element_a(multiplied(p))); }
inline bool has_bytes(const Params& p) { return is_mixed(p.precision) && !has_weights(p.precision); }
// True if local memory holds pairs of elements, which matrix units multiply: PAIRED of tile_loads.cl.
inline bool has_pairs(const Params& p) { return p.map == Map::mma; }
// True if asynchronous copies fill a ring of tiles: RING of local_tile.cl.
inline bool has_ring(const Params& p) { return p.family == Family::local_tile && p.buffers > 2; }
// weight_mma.cl.
inline bool has_matrix_weights(const Params& p) { return p.family == Family::weight_tile && p.map == Map::mma; }

}  // namespace clbake::kernels
