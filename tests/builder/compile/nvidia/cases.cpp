#include "cases.hpp"

#include "expressions.hpp"

namespace clbake::tests {
namespace {

constexpr const char* kWorkItems = R"(
kernel void f(global ulong* o) {
  const size_t i = get_global_linear_id();
  ulong h = get_work_dim();
  for (uint d = 0; d < 4; ++d) {
    h = h * 31 + get_global_id(d);
    h = h * 31 + get_local_id(d);
    h = h * 31 + get_group_id(d);
    h = h * 31 + get_num_groups(d);
    h = h * 31 + get_global_size(d);
    h = h * 31 + get_local_size(d);
    h = h * 31 + get_global_offset(d);
    h = h * 31 + get_enqueued_local_size(d);
  }
  o[i] = h * 31 + get_local_linear_id();
})";

// One work-item, so that what is returned is certain; then all, so that what is left is.
constexpr const char* kAtomics = R"(
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define SEQUENCE(type, prefix, space, p)                                                                  \
  o[n++] = prefix##_add(p, (type)5); o[n++] = prefix##_sub(p, (type)7); o[n++] = prefix##_xchg(p, (type)a); \
  o[n++] = prefix##_inc(p); o[n++] = prefix##_dec(p); o[n++] = prefix##_min(p, (type)b);                   \
  o[n++] = prefix##_max(p, (type)a); o[n++] = prefix##_and(p, (type)b); o[n++] = prefix##_or(p, (type)a);  \
  o[n++] = prefix##_xor(p, (type)b); o[n++] = prefix##_cmpxchg(p, (type)3, (type)4);                       \
  o[n++] = prefix##_cmpxchg(p, *p, (type)4); o[n++] = *p;
kernel void alone(global long* o, global const long* x) {
  local int li; local uint lu; local long ll; local ulong lm;
  if (get_global_id(0) > 0) return;
  const long a = x[0], b = x[1];
  global long* g = o + 500;
  g[0] = g[1] = a; li = (int)a; lu = (uint)b; ll = a; lm = b;
  int n = 0;
  SEQUENCE(int, atomic, global, (global int*)(g + 2)) SEQUENCE(uint, atomic, global, (global uint*)(g + 3))
  SEQUENCE(long, atom, global, g) SEQUENCE(ulong, atom, global, (global ulong*)g + 1)
  SEQUENCE(long, atomic, global, g) SEQUENCE(ulong, atomic, global, (global ulong*)g + 1)
  SEQUENCE(int, atomic, local, &li) SEQUENCE(uint, atomic, local, &lu) SEQUENCE(long, atom, local, &ll)
  SEQUENCE(ulong, atom, local, &lm)
}
kernel void together(global int* o, global const int* x) {
  const int a = x[get_global_id(0)];
  atomic_add(o, a); atomic_min(o + 1, a); atomic_max(o + 2, a); atomic_xor(o + 3, a); atomic_inc(o + 4);
  atom_add((global long*)(o + 6), (long)a); atom_max((global long*)(o + 8), (long)a);
})";

constexpr const char* kC11 = R"(
#define VALUES(type, p, A, B)                                                                          \
  atomic_init(p, A); o[n++] = atomic_load(p); atomic_store(p, B); o[n++] = atomic_exchange(p, A);      \
  o[n++] = atomic_load_explicit(p, memory_order_acquire, memory_scope_device);                         \
  atomic_store_explicit(p, B, memory_order_release, memory_scope_work_group);                          \
  o[n++] = atomic_exchange_explicit(p, A, memory_order_acq_rel);
#define SEQUENCE(type, p, A, B) VALUES(type, p, A, B)                                                  \
  { type e = B; o[n++] = atomic_compare_exchange_strong(p, &e, B); o[n++] = e; }                       \
  { type e = A; o[n++] = atomic_compare_exchange_weak_explicit(p, &e, B, memory_order_relaxed,         \
                                                               memory_order_relaxed, memory_scope_device); o[n++] = e; } \
  { type e = B; o[n++] = atomic_compare_exchange_strong_explicit(p, &e, A, memory_order_acq_rel,       \
                                                                 memory_order_acquire); o[n++] = e; }
#define MODIFY(p, A, B)                                                                                \
  o[n++] = atomic_fetch_add(p, B); o[n++] = atomic_fetch_sub(p, A); o[n++] = atomic_fetch_or(p, B);    \
  o[n++] = atomic_fetch_and(p, A); o[n++] = atomic_fetch_xor(p, B); o[n++] = atomic_fetch_min(p, A);   \
  o[n++] = atomic_fetch_max(p, B);                                                                     \
  o[n++] = atomic_fetch_add_explicit(p, A, memory_order_relaxed, memory_scope_device); o[n++] = atomic_load(p);
int through(volatile atomic_int* p) { return atomic_fetch_add(p, 3); }
kernel void alone(global long* o, global const long* x) {
  local atomic_int li; local atomic_long ll;
  if (get_global_id(0) > 0) return;
  const long a = x[0], b = x[1];
  global long* g = o + 500;
  int n = 0;
  SEQUENCE(int, (global atomic_int*)g, (int)a, (int)b) MODIFY((global atomic_int*)g, (int)a, (int)b)
  SEQUENCE(uint, (global atomic_uint*)g, (uint)a, (uint)b) MODIFY((global atomic_uint*)g, (uint)a, (uint)b)
  SEQUENCE(long, (global atomic_long*)g, a, b) MODIFY((global atomic_long*)g, a, b)
  SEQUENCE(ulong, (global atomic_ulong*)g, (ulong)a, (ulong)b) MODIFY((global atomic_ulong*)g, (ulong)a, (ulong)b)
  SEQUENCE(int, &li, (int)a, (int)b) MODIFY(&li, (int)a, (int)b)
  SEQUENCE(long, &ll, a, b) MODIFY(&ll, a, b)
  VALUES(float, (global atomic_float*)g, 1.5f, 2.5f) VALUES(double, (global atomic_double*)g, 1.5, 2.5)
  o[n++] = through((global atomic_int*)g); o[n++] = through(&li);
  o[n++] = atomic_flag_test_and_set((global atomic_flag*)g); atomic_flag_clear((global atomic_flag*)g);
  o[n++] = atomic_flag_test_and_set((global atomic_flag*)g);
  o[n++] = atomic_flag_test_and_set_explicit((global atomic_flag*)g, memory_order_relaxed, memory_scope_device);
}
kernel void together(global int* o, global const int* x) {
  const int a = x[get_global_id(0)];
  atomic_fetch_add((global atomic_int*)o, a);
  atomic_fetch_max_explicit((global atomic_int*)o + 1, a, memory_order_relaxed, memory_scope_device);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
})";

// The identities that the driver takes for exclusive scans of reals are FLT_MIN and the like: not compared.
constexpr const char* kWorkGroups = R"(
#define ALL(type, n, scan)                                                                                             \
  { const type v = (type)(x[i] % 1000); global type* p = (global type*)o + n * 9 * get_global_size(0) + 9 * i;     \
    p[0] = work_group_reduce_add(v); p[1] = work_group_reduce_min(v); p[2] = work_group_reduce_max(v);             \
    p[3] = work_group_scan_inclusive_add(v); p[4] = work_group_scan_exclusive_add(v);                              \
    p[5] = work_group_scan_inclusive_min(v); p[6] = work_group_scan_##scan##_max(v);                              \
    p[7] = work_group_broadcast(v, 5); p[8] = work_group_scan_##scan##_min(v); }
kernel void f(global ulong* o, global const int* x) {
  const size_t i = get_global_id(0);
  ALL(int, 0, exclusive) ALL(uint, 1, exclusive) ALL(long, 1, exclusive) ALL(ulong, 2, exclusive)
  ALL(float, 6, inclusive) ALL(double, 4, inclusive)
}
kernel void votes(global int* o, global const int* x) {
  const int v = x[get_global_id(0)];
  o[get_global_id(0)] = work_group_all(v < 2000000000) + 2 * work_group_any(v > 2000000000);
})";

constexpr const char* kSubGroups = R"(
kernel void f(global int* o, global const int* x, local int* shared) {
  const size_t i = get_global_id(0);
  const int v = x[i] % 1000;
  global int* p = o + 20 * i;
  p[0] = get_sub_group_size(); p[1] = get_max_sub_group_size(); p[2] = get_num_sub_groups();
  p[3] = get_sub_group_id(); p[4] = get_sub_group_local_id();
  p[5] = sub_group_reduce_add(v); p[6] = sub_group_reduce_min(v); p[7] = sub_group_reduce_max(v);
  p[8] = sub_group_scan_inclusive_add(v); p[9] = sub_group_scan_exclusive_add(v);
  p[10] = sub_group_scan_inclusive_max(v); p[11] = sub_group_broadcast(v, 3);
  p[12] = sub_group_all(v > -900) != 0; p[13] = sub_group_any(v > 900) != 0;
  p[14] = (int)sub_group_scan_exclusive_add((double)v); p[15] = (int)sub_group_reduce_max((long)v);
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
})";

constexpr const char* kSubGroupsReference = R"(
kernel void f(global int* o, global const int* x, local int* shared) {
  const size_t i = get_global_id(0);
  const int v = x[i] % 1000;
  global int* p = o + 20 * i;
  const int l = get_local_id(0), first = l / 32 * 32, size = min((int)get_local_size(0) - first, 32);
  shared[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0, least = INT_MAX, most = INT_MIN, before = 0, top = INT_MIN;
  for (int k = 0; k < size; ++k) {
    const int w = shared[first + k];
    if (first + k < l) before += w;
    if (first + k <= l) top = max(top, w);
    sum += w; least = min(least, w); most = max(most, w);
  }
  p[0] = size; p[1] = min((int)get_local_size(0), 32); p[2] = ((int)get_local_size(0) + 31) / 32; p[3] = l / 32;
  p[4] = l % 32; p[5] = sum; p[6] = least; p[7] = most; p[8] = before + v; p[9] = before; p[10] = top;
  p[11] = shared[first + 3]; p[12] = least > -900; p[13] = most > 900; p[14] = before; p[15] = most;
})";

constexpr const char* kMemory = R"(
typedef struct { int a; float b; char c[8]; } Given;
kernel void copies(global float* o, global const float* x, local float* l) {
  event_t e = async_work_group_copy(l, x + get_group_id(0) * 64, 64, 0);
  wait_group_events(1, &e);
  prefetch(x, 16);
  o[get_global_id(0)] = l[63 - get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_strided_copy(l, x, 64, 3, 0);
  wait_group_events(1, &e);
  o[1024 + get_global_id(0)] = l[get_local_id(0)];
}
kernel void vectors(global float* o, global const float* x) {
  const size_t i = get_global_id(0);
  vstore3(vload3(i, x), i, o);
  vstore4(vload4(i, x).wzyx, i, o + 4096);
  vstore2(vload2(i, x), i, o + 9000);
}
kernel void halves(global half* o, global const float* x) {
  const size_t i = get_global_id(0);
  vstore_half(x[i], i, o); vstore_half_rtz(x[i], i, o + 1024); vstore_half_rtp(x[i], i, o + 2048);
  vstore_half_rtn(x[i], i, o + 3072); vstore_half_rte(x[i], i, o + 4096);
  vstore_half2((float2)(x[i], x[i + 1]), i, o + 5120); vstore_half4_rte(vload4(i, x), i, o + 8192);
  vstorea_half4((float4)(vload_half(i, o), x[i], 1, 2), i, o + 12288);
}
kernel void arguments(global float* o, Given s, char c, float4 v, int n, local float* l, global const float* x) {
  const size_t i = get_global_id(0);
  l[get_local_id(0)] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  o[i] = s.a + s.b * 2 + s.c[3] + c + v.x + v.w + n + l[get_local_id(0) ^ 1];
}
constant float table[4] = {1, 2, 3, 4};
kernel void inner(global float* o, global const float* x) { o[get_global_id(0)] = x[get_global_id(0)] * table[get_local_id(0) % 4]; }
kernel void outer(global float* o, global const float* x) { inner(o, x); }
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sized(global float* o, global const float* x) { inner(o, x); }
)";

constexpr const char* kHalf = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void arithmetic(global half* o, global const half* x, global const half* y) {
  const size_t i = get_global_id(0);
  o[4 * i] = x[i] + y[i]; o[4 * i + 1] = x[i] * y[i]; o[4 * i + 2] = x[i] - y[i]; o[4 * i + 3] = x[i] < y[i];
})";

// The driver lacks functions of half.
constexpr const char* kHalfFunctions = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global half* o, global const half* x, global const half* y) {
  const size_t i = get_global_id(0);
  global half* p = o + 8 * i;
  p[0] = floor(x[i]); p[1] = fmax(x[i], y[i]); p[2] = sqrt(fabs(x[i])); p[3] = convert_half(convert_int_sat_rte(x[i]));
  const half4 v = mad((half4)(x[i], y[i], 1, 2), (half4)(2), (half4)(1));
  p[4] = v.x; p[5] = v.y; p[6] = clamp(v, (half)-1, (half)1).z; p[7] = convert_half_rtz(1.0f + 0x1p-11f + i);
})";
constexpr const char* kHalfFunctionsReference = R"(
kernel void f(global half* o, global const half* x, global const half* y) {
  const size_t i = get_global_id(0);
  global half* p = o + 8 * i;
  const float a = vload_half(i, x), b = vload_half(i, y);
  vstore_half(floor(a), 0, p); vstore_half(fmax(a, b), 1, p); vstore_half(sqrt(fabs(a)), 2, p);
  vstore_half(convert_float(convert_int_sat_rte(a)), 3, p); vstore_half(a * 2 + 1, 4, p); vstore_half(b * 2 + 1, 5, p);
  vstore_half(1.0f, 6, p); vstore_half_rtz(1.0f + 0x1p-11f + i, 7, p);
})";

constexpr const char* kStandards = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global double* o, global half* x, global int* y) {
  const size_t i = get_global_id(0);
  o[i] = x[i] * (half)2 + popcount(y[i]);
})";

constexpr const char* kImages = R"(
constant sampler_t repeat = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
float4 fetched(read_only image2d_t i, sampler_t s, float2 at) { return read_imagef(i, s, at); }
kernel void f(global float4* o, read_only image2d_t i, read_only image2d_t j, write_only image2d_t w, sampler_t s) {
  const sampler_t clamped = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 real = (convert_float2(at) + 0.3f) / 16;
  float4 v = read_imagef(i, clamped, at - 2) + 2 * read_imagef(i, repeat, real * 1.7f) + 4 * fetched(j, s, real);
  v += read_imagef(j, at) + (float4)(get_image_width(i), get_image_height(j), get_image_channel_order(i), get_image_channel_data_type(j));
  o[at.y * get_global_size(0) + at.x] = v;
  write_imagef(w, at, v / 8000);
})";

constexpr const char* kImageKinds = R"(
kernel void reads(global float4* o, read_only image1d_t l, read_only image3d_t v, read_only image1d_array_t a,
                  read_only image2d_array_t p, read_only image1d_buffer_t b, sampler_t s) {
  const int i = get_global_id(0);
  const float x = (i % 16 + 0.3f) / 16;
  float4 r = read_imagef(l, s, x) + 2 * read_imagef(l, i) + 4 * read_imagef(b, i);
  r += 8 * read_imagef(v, s, (float4)(x, x * 0.7f, x * 0.4f, 0)) + 16 * read_imagef(v, (int4)(i % 16, i % 4, i / 64, 0));
  r += 32 * read_imagef(a, s, (float2)(x, i / 16)) + 64 * read_imagef(a, (int2)(i % 16, i / 16));
  r += 128 * read_imagef(p, s, (float4)(x, x * 0.6f, i / 64, 0)) + 256 * read_imagef(p, (int4)(i % 16, i % 4, i / 64, 0));
  o[2 * i] = r;
  o[2 * i + 1] = (float4)(get_image_width(l) + get_image_depth(v), get_image_array_size(a), get_image_array_size(p) + get_image_width(b), get_image_dim(p).y + get_image_dim(v).z);
}
kernel void writes(global int* o, write_only image1d_t l, write_only image1d_array_t a, write_only image2d_array_t p) {
  const int i = get_global_id(0);
  const float4 c = (float4)(i, 255 - i, i / 2, i / 3) / 255;
  write_imagef(l, i, c);
  write_imagef(a, (int2)(i % 16, i / 16), c);
  write_imagef(p, (int4)(i % 16, i / 16 % 4, i / 64, 0), c);
  o[i] = get_image_width(l) + get_image_array_size(a) + get_image_height(p);
}
kernel void whole(global uint4* o, read_only image2d_t u, read_only image2d_t n, write_only image2d_t w, write_only image2d_t z) {
  const int2 at = (int2)(get_global_id(0) % 16, get_global_id(0) / 16);
  const uint4 c = read_imageui(u, at);
  const int4 d = read_imagei(n, at);
  o[get_global_id(0)] = c + as_uint4(d);
  write_imageui(w, at, c.yzwx);
  write_imagei(z, at, d + 1);
})";

// Each macro's value, or -1 where it is not defined.
std::string macros_text() {
  std::string text = "kernel void f(global int* o) {\n  int n = 0;\n";
  for (const char* name : {"__OPENCL_VERSION__",
                           "__OPENCL_C_VERSION__",
                           "CL_VERSION_1_0",
                           "CL_VERSION_1_1",
                           "CL_VERSION_1_2",
                           "CL_VERSION_2_0",
                           "CL_VERSION_2_1",
                           "CL_VERSION_2_2",
                           "CL_VERSION_3_0",
                           "__ENDIAN_LITTLE__",
                           "__IMAGE_SUPPORT__",
                           "__FAST_RELAXED_MATH__",
                           "__FINITE_MATH_ONLY__",
                           "__NV_CL_C_VERSION",
                           "__NVPTX__",
                           "__PTX__",
                           "__clang__",
                           "__LP64__",
                           "__SPIR__",
                           "__CUDA_ARCH__",
                           "__GNUC__",
                           "FP_FAST_FMA",
                           "FP_FAST_FMAF",
                           "cl_khr_fp16",
                           "cl_khr_fp64",
                           "cl_khr_int64_base_atomics",
                           "cl_khr_int64_extended_atomics",
                           "cl_khr_global_int32_base_atomics",
                           "cl_khr_local_int32_extended_atomics",
                           "cl_khr_byte_addressable_store",
                           "cl_khr_3d_image_writes",
                           "cl_khr_subgroups",
                           "cl_khr_icd",
                           "cl_nv_pragma_unroll",
                           "cl_khr_mipmap_image",
                           "cl_khr_depth_images",
                           "__opencl_c_3d_image_writes",
                           "__opencl_c_fp64",
                           "__opencl_c_images",
                           "__opencl_c_int64",
                           "__opencl_c_subgroups",
                           "__opencl_c_generic_address_space",
                           "__opencl_c_atomic_order_seq_cst",
                           "__opencl_c_atomic_scope_device",
                           "__opencl_c_read_write_images",
                           "__opencl_c_program_scope_global_variables",
                           "__opencl_c_work_group_collective_functions",
                           "CLK_LOCAL_MEM_FENCE",
                           "CLK_GLOBAL_MEM_FENCE",
                           "CLK_IMAGE_MEM_FENCE"}) {
    const std::string macro = name;
    text += "#ifdef " + macro + "\n  o[n++] = " + macro + " + 0;\n#else\n  o[n++] = -1;\n#endif\n";
  }
  return text + "}";
}

NvidiaKernel kernel_of(const std::string& name, const std::string& arguments, Input input = Input::bits) {
  NvidiaKernel kernel;
  kernel.name = name;
  kernel.arguments = arguments;
  kernel.input = input;
  return kernel;
}

NvidiaKernel sized(NvidiaKernel kernel, std::size_t x, std::size_t y, std::size_t local_x, std::size_t local_y) {
  kernel.global[0] = x;
  kernel.global[1] = y;
  kernel.local[0] = local_x;
  kernel.local[1] = local_y;
  return kernel;
}

}  // namespace

std::vector<NvidiaProgram> nvidia_programs() {
  std::vector<NvidiaProgram> programs = expressions();
  NvidiaKernel items = sized(kernel_of("f", "o"), 24, 12, 8, 4);
  items.global[2] = 4;
  items.offset[0] = 5;
  items.offset[1] = 7;
  items.offset[2] = 9;
  programs.push_back({"work_items", "-cl-std=CL2.0", kWorkItems, "", {kernel_of("f", "o"), items}});
  programs.push_back({"atomics", "", kAtomics, "", {kernel_of("alone", "ox"), kernel_of("together", "ox")}});
  programs.push_back(
      {"atomics12", "-cl-std=CL1.2", kAtomics, "", {kernel_of("alone", "ox"), kernel_of("together", "ox")}});
  for (const char* standard : {"CL2.0", "CL3.0"}) {
    programs.push_back({std::string("c11_") + standard,
                        std::string("-cl-std=") + standard,
                        kC11,
                        "",
                        {kernel_of("alone", "ox"), kernel_of("together", "ox")}});
  }
  // Full sub-groups: the driver's work_group_reduce_min of 80 unsigned numbers answers 0.
  programs.push_back({"work_groups",
                      "-cl-std=CL3.0",
                      kWorkGroups,
                      "",
                      {sized(kernel_of("f", "ox"), 256, 1, 128, 1), sized(kernel_of("votes", "ox"), 240, 1, 80, 1)}});
  programs.push_back(
      {"sub_groups", "-cl-std=CL3.0", kSubGroups, kSubGroupsReference, {sized(kernel_of("f", "oxl"), 240, 1, 80, 1)}});
  programs.push_back({"memory",
                      "",
                      kMemory,
                      "",
                      {kernel_of("copies", "oxl"), kernel_of("vectors", "ox"), kernel_of("halves", "ox", Input::floats),
                       kernel_of("arguments", "oScvnlx", Input::floats), kernel_of("inner", "ox", Input::floats),
                       kernel_of("outer", "ox", Input::floats), kernel_of("sized", "ox", Input::floats)}});
  programs.push_back({"half", "", kHalf, "", {kernel_of("arithmetic", "oxy")}});
  programs.push_back({"half_functions", "", kHalfFunctions, kHalfFunctionsReference, {kernel_of("f", "oxy")}});
  for (const char* options :
       {"", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-fast-relaxed-math"}) {
    programs.push_back({std::string("macros") + options, options, macros_text(), "", {kernel_of("f", "o")}});
  }
  NvidiaKernel standards = kernel_of("f", "oxy");
  standards.output = Output::doubles;
  for (const char* standard : {"CL1.2", "CL2.0", "CL3.0"}) {
    programs.push_back(
        {std::string("standard_") + standard, std::string("-cl-std=") + standard, kStandards, "", {standards}});
  }
  programs.push_back({"images", "", kImages, "", {sized(kernel_of("f", "oijws"), 16, 16, 8, 8)}});
  programs.push_back(
      {"image_kinds",
       "",
       kImageKinds,
       "",
       {sized(kernel_of("reads", "o13aAbs"), 256, 1, 64, 1), sized(kernel_of("writes", "o1aA"), 256, 1, 64, 1),
        sized(kernel_of("whole", "ouIuI"), 256, 1, 64, 1)}});
  return programs;
}

}  // namespace clbake::tests
