// Images. An image or a sampler is a register here; in PTX it must be a parameter of the kernel or, for a sampler that
// the source states, a symbol. builder/src/compile/nvidia/ptx_images.cpp puts these in the registers' places.
typedef constant void* Sampler;
Sampler stated_sampler(int bits) __asm__("__translate_sampler_initializer");
__attribute__((always_inline)) Sampler stated_sampler(int bits) { return (Sampler)(ulong)(uint)bits; }
#define NO_SAMPLER "l"((ulong)CLK_FILTER_NEAREST)

#define FETCH(type, form, letter, sampler, coordinates, ...)                              \
  type##4 r;                                                                              \
  __asm__("tex." form " {%0, %1, %2, %3}, [%4, %5, " coordinates "];"                     \
          : "=" letter(r.x), "=" letter(r.y), "=" letter(r.z), "=" letter(r.w)            \
          : "l"(image), sampler, __VA_ARGS__);                                            \
  return r;
#define READS(kind, name, type, letter, form, point, coordinates, ...)                                   \
  FUNCTION type##4 name(read_only image##kind##_t image, sampler_t sampler, point p) {                   \
    FETCH(type, form, letter, "l"(sampler), coordinates, __VA_ARGS__)                                    \
  }
#define READS_PLAIN(kind, name, type, letter, form, point, coordinates, ...)                             \
  FUNCTION type##4 name(read_only image##kind##_t image, point p) {                                      \
    FETCH(type, form, letter, NO_SAMPLER, coordinates, __VA_ARGS__)                                      \
  }
// For the three types of pixels; `whole` and `real` are the forms of whole and of real coordinates.
#define FOR_PIXELS(do, kind, geometry, numbers, ...)                                                     \
  do(kind, read_imagef, float, "f", geometry ".v4.f32." numbers, __VA_ARGS__)                            \
  do(kind, read_imagei, int, "r", geometry ".v4.s32." numbers, __VA_ARGS__)                              \
  do(kind, read_imageui, uint, "r", geometry ".v4.u32." numbers, __VA_ARGS__)

#define HALVES(access, kind, point)                                                                      \
  FUNCTION half4 read_imageh(access image##kind##_t image, point p) {                                    \
    return TO(half, 4, read_imagef(image, p));                                                           \
  }
#define SAMPLED_HALVES(kind, point)                                                                      \
  FUNCTION half4 read_imageh(read_only image##kind##_t image, sampler_t sampler, point p) {              \
    return TO(half, 4, read_imagef(image, sampler, p));                                                  \
  }
#define LAYER(number) "r"(max(number, 0))
#define NEAREST_LAYER(number) "r"(convert_uint_sat_rte(number))
FOR_PIXELS(READS, 1d, "1d", "f32", int, "{%6}", "f"((float)p))
FOR_PIXELS(READS, 1d, "1d", "f32", float, "{%6}", "f"(p))
FOR_PIXELS(READS_PLAIN, 1d, "1d", "f32", int, "{%6}", "f"((float)p))
FOR_PIXELS(READS_PLAIN, 1d_buffer, "1d", "s32", int, "{%6}", "r"(p))
FOR_PIXELS(READS, 2d, "2d", "s32", int2, "{%6, %7}", "r"(p.x), "r"(p.y))
FOR_PIXELS(READS, 2d, "2d", "f32", float2, "{%6, %7}", "f"(p.x), "f"(p.y))
FOR_PIXELS(READS_PLAIN, 2d, "2d", "s32", int2, "{%6, %7}", "r"(p.x), "r"(p.y))
FOR_PIXELS(READS, 3d, "3d", "s32", int4, "{%6, %7, %8, %8}", "r"(p.x), "r"(p.y), "r"(p.z))
FOR_PIXELS(READS, 3d, "3d", "f32", float4, "{%6, %7, %8, %8}", "f"(p.x), "f"(p.y), "f"(p.z))
FOR_PIXELS(READS_PLAIN, 3d, "3d", "s32", int4, "{%6, %7, %8, %8}", "r"(p.x), "r"(p.y), "r"(p.z))
FOR_PIXELS(READS, 1d_array, "a1d", "s32", int2, "{%7, %6}", "r"(p.x), LAYER(p.y))
FOR_PIXELS(READS, 1d_array, "a1d", "f32", float2, "{%7, %6}", "f"(p.x), NEAREST_LAYER(p.y))
FOR_PIXELS(READS_PLAIN, 1d_array, "a1d", "s32", int2, "{%7, %6}", "r"(p.x), LAYER(p.y))
FOR_PIXELS(READS, 2d_array, "a2d", "s32", int4, "{%8, %6, %7, %7}", "r"(p.x), "r"(p.y), LAYER(p.z))
FOR_PIXELS(READS, 2d_array, "a2d", "f32", float4, "{%8, %6, %7, %7}", "f"(p.x), "f"(p.y), NEAREST_LAYER(p.z))
FOR_PIXELS(READS_PLAIN, 2d_array, "a2d", "s32", int4, "{%8, %6, %7, %7}", "r"(p.x), "r"(p.y), LAYER(p.z))

HALVES(read_only, 1d, int) HALVES(read_only, 1d_buffer, int) HALVES(read_only, 2d, int2) HALVES(read_only, 3d, int4)
HALVES(read_only, 1d_array, int2) HALVES(read_only, 2d_array, int4)
SAMPLED_HALVES(1d, int) SAMPLED_HALVES(2d, int2) SAMPLED_HALVES(3d, int4) SAMPLED_HALVES(1d_array, int2)
SAMPLED_HALVES(2d_array, int4)
SAMPLED_HALVES(1d, float) SAMPLED_HALVES(2d, float2) SAMPLED_HALVES(3d, float4) SAMPLED_HALVES(1d_array, float2)
SAMPLED_HALVES(2d_array, float4)

// A surface holds its channels in the order of memory.
FUNCTION int4 in_memory(int4 pixel, int order) {
  switch (order) {
    case CLK_A: return pixel.wyzx;
    case CLK_RA: return pixel.xwzy;
    case CLK_BGRA: return pixel.zyxw;
    case CLK_ARGB: return pixel.wxyz;
    default: return pixel;
  }
}
FUNCTION int4 bits_of_halves(half4 pixel) { return as_int4(TO(float, 4, pixel)); }
#define WRITES(access, kind, name, type, to, geometry, point, coordinates, ...)                              \
  FUNCTION void name(access image##kind##_t image, point p, type##4 pixel) {                                 \
    const int4 bits = in_memory(to(pixel), get_image_channel_order(image));                                  \
    __asm__ volatile("sust.p." geometry ".v4.b32.trap [%4, " coordinates "], {%0, %1, %2, %3};"              \
                     :: "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w), "l"(image), __VA_ARGS__          \
                     : "memory");                                                                            \
  }
#define WRITES_ALL(access, kind, ...)                                 \
  WRITES(access, kind, write_imagef, float, as_int4, __VA_ARGS__)     \
  WRITES(access, kind, write_imagei, int, , __VA_ARGS__)              \
  WRITES(access, kind, write_imageui, uint, as_int4, __VA_ARGS__)     \
  WRITES(access, kind, write_imageh, half, bits_of_halves, __VA_ARGS__)

#define QUERY(access, kind, instruction, name, what)                                                         \
  FUNCTION int name(access image##kind##_t image) {                                                          \
    int answer;                                                                                              \
    __asm__(instruction "." what ".b32 %0, [%1];" : "=r"(answer) : "l"(image));                              \
    return answer;                                                                                           \
  }
#define QUERIES(access, kind, instruction)                                                \
  QUERY(access, kind, instruction, get_image_width, "width")                              \
  QUERY(access, kind, instruction, get_image_channel_order, "channel_order")              \
  QUERY(access, kind, instruction, get_image_channel_data_type, "channel_data_type")
#define QUERIES_2D(access, kind, instruction)                                             \
  QUERIES(access, kind, instruction)                                                      \
  QUERY(access, kind, instruction, get_image_height, "height")                            \
  FUNCTION int2 get_image_dim(access image##kind##_t image) {                             \
    return (int2)(get_image_width(image), get_image_height(image));                       \
  }
#define QUERIES_3D(access, instruction)                                                   \
  QUERIES(access, 3d, instruction)                                                        \
  QUERY(access, 3d, instruction, get_image_height, "height")                              \
  QUERY(access, 3d, instruction, get_image_depth, "depth")                                \
  FUNCTION int4 get_image_dim(access image3d_t image) {                                   \
    return (int4)(get_image_width(image), get_image_height(image), get_image_depth(image), 0); \
  }
#define LAYERS(access, kind, instruction)                                                 \
  QUERY(access, kind, instruction, layers_of, "array_size")                               \
  FUNCTION size_t get_image_array_size(access image##kind##_t image) { return layers_of(image); }
#define ACCESS(access, instruction)                       \
  QUERIES(access, 1d, instruction)                        \
  QUERIES(access, 1d_buffer, instruction)                 \
  QUERIES(access, 1d_array, instruction)                  \
  LAYERS(access, 1d_array, instruction)                   \
  QUERIES_2D(access, 2d, instruction)                     \
  QUERIES_2D(access, 2d_array, instruction)               \
  LAYERS(access, 2d_array, instruction)                   \
  QUERIES_3D(access, instruction)
#define STORES(access)                                                                                       \
  WRITES_ALL(access, 1d, "1d", int, "{%5}", "r"(p))                                                          \
  WRITES_ALL(access, 2d, "2d", int2, "{%5, %6}", "r"(p.x), "r"(p.y))                                         \
  WRITES_ALL(access, 3d, "3d", int4, "{%5, %6, %7, %7}", "r"(p.x), "r"(p.y), "r"(p.z))                       \
  WRITES_ALL(access, 1d_array, "a1d", int2, "{%6, %5}", "r"(p.x), "r"(p.y))                                  \
  WRITES_ALL(access, 2d_array, "a2d", int4, "{%7, %5, %6, %6}", "r"(p.x), "r"(p.y), "r"(p.z))
ACCESS(read_only, "txq")
ACCESS(write_only, "suq")
ACCESS(read_write, "suq")
STORES(write_only)
STORES(read_write)
