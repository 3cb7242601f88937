// Packing into images, which only stripe reads: the PAD layout of pack.cl, in texels of TEXEL neighbours of a row. The
// products of a batch lie one below the other.

#if PRECISION == 64
#define TEXEL 2  // two doubles as four 32-bit integers
#else
#define TEXEL 4
#endif

#if LAYOUT_A == IMAGE || LAYOUT_B == IMAGE

static ALWAYS_INLINE void write_square_image(const __local raw tile[PACK_TILE][PACK_TILE + 1],
                                             __write_only image2d_t target, const int product, const int first_p,
                                             const int first_i, const int k, const int extent, const int block) {
  for (int e = (int)get_local_id(0) * TEXEL; e < PACK_TILE * PACK_TILE; e += PACK_ITEMS * TEXEL) {
    const int p = e / PACK_TILE, q = e % PACK_TILE;
    if (first_p + p < round_up(k, KL) && first_i + q < round_up(extent, block)) {
      const int2 at = (int2)((first_i + q) / TEXEL, product * round_up(k, KL) + first_p + p);
#if PRECISION == 64
      write_imageui(target, at, as_uint4((double2)(tile[p][q], tile[p][q + 1])));
#elif BFLOAT16
      write_imageui(target, at, (uint4)(tile[p][q], tile[p][q + 1], tile[p][q + 2], tile[p][q + 3]));
#elif PRECISION == 16
      __local const half* from = (__local const half*)&tile[p][q];
      write_imagef(target, at,
                   (float4)(vload_half(0, from), vload_half(1, from), vload_half(2, from), vload_half(3, from)));
#else
      write_imagef(target, at, (float4)(tile[p][q], tile[p][q + 1], tile[p][q + 2], tile[p][q + 3]));
#endif
    }
  }
}

#define WRITE_IMAGE(block) \
  write_square_image(tile, target, (int)get_group_id(2), (int)first_p, first_i, k, extent, block)
#if LAYOUT_A == IMAGE
PACK_KERNEL(clbake_pack_a, __write_only image2d_t target, , a, 0, m, TRANS_A, WRITE_IMAGE(ML))
#endif
#if LAYOUT_B == IMAGE
PACK_KERNEL(clbake_pack_b, __write_only image2d_t target, , b, 1, n, !TRANS_B, WRITE_IMAGE(NL))
#endif

#endif
