// The text of the .cl files, embedded by tools/cmake/EmbedText.cmake.
#pragma once

namespace clbake::kernels::embedded {

extern const char common_cl[];
extern const char tile_cl[];
extern const char pack_cl[];
extern const char pack_image_cl[];
extern const char reduce_cl[];
extern const char complex_cl[];
extern const char direct_cl[];
extern const char register_tile_cl[];
extern const char tile_loads_cl[];
extern const char local_tile_cl[];
extern const char share_k_cl[];
extern const char thin_tile_cl[];
extern const char async_copy_cl[];
extern const char warp_tile_cl[];
extern const char warpgroup_ring_cl[];
extern const char warpgroup_copies_cl[];
extern const char tensor_copies_cl[];
extern const char warpgroup_turns_cl[];
extern const char warpgroup_update_cl[];
extern const char warpgroup_tile_cl[];
extern const char exchange_cl[];
extern const char stripe_cl[];

}  // namespace clbake::kernels::embedded
