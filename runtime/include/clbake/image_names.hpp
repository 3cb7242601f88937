// Names of images and samplers: those of OpenCL's constants without CL_, for manifests and recordings.
#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace clbake::image_names {

struct Shape {
  const char* name;
  cl_mem_object_type value;
  std::uint32_t dimensions;
  bool is_array;
};
inline constexpr Shape kShapes[] = {{"1d", CL_MEM_OBJECT_IMAGE1D, 1, false},
                                    {"2d", CL_MEM_OBJECT_IMAGE2D, 2, false},
                                    {"3d", CL_MEM_OBJECT_IMAGE3D, 3, false},
                                    {"1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true},
                                    {"2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true},
                                    {"1d_buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1, false}};

struct Order {
  const char* name;
  cl_channel_order value;
  std::uint32_t channels;
};
// The last five are of OpenCL 2.0, whose names the headers of 1.2 lack.
inline constexpr Order kOrders[] = {{"R", CL_R, 1},
                                    {"A", CL_A, 1},
                                    {"INTENSITY", CL_INTENSITY, 1},
                                    {"LUMINANCE", CL_LUMINANCE, 1},
                                    {"DEPTH", CL_DEPTH, 1},
                                    {"Rx", CL_Rx, 2},
                                    {"RG", CL_RG, 2},
                                    {"RA", CL_RA, 2},
                                    {"RGx", CL_RGx, 3},
                                    {"RGB", CL_RGB, 3},
                                    {"RGBx", CL_RGBx, 4},
                                    {"RGBA", CL_RGBA, 4},
                                    {"BGRA", CL_BGRA, 4},
                                    {"ARGB", CL_ARGB, 4},
                                    {"sRGB", 0x10BF, 3},
                                    {"sRGBx", 0x10C0, 4},
                                    {"sRGBA", 0x10C1, 4},
                                    {"sBGRA", 0x10C2, 4},
                                    {"ABGR", 0x10C3, 4}};

struct Channel {
  const char* name;
  cl_channel_type value;
  const char* number;  // OpenCL C's type
  bool is_packed;      // a whole pixel is one number
};
// The last is of OpenCL 2.1.
inline constexpr Channel kChannels[] = {{"SNORM_INT8", CL_SNORM_INT8, "char", false},
                                        {"SNORM_INT16", CL_SNORM_INT16, "short", false},
                                        {"UNORM_INT8", CL_UNORM_INT8, "uchar", false},
                                        {"UNORM_INT16", CL_UNORM_INT16, "ushort", false},
                                        {"UNORM_INT24", CL_UNORM_INT24, "uint", true},
                                        {"UNORM_SHORT_565", CL_UNORM_SHORT_565, "ushort", true},
                                        {"UNORM_SHORT_555", CL_UNORM_SHORT_555, "ushort", true},
                                        {"UNORM_INT_101010", CL_UNORM_INT_101010, "uint", true},
                                        {"SIGNED_INT8", CL_SIGNED_INT8, "char", false},
                                        {"SIGNED_INT16", CL_SIGNED_INT16, "short", false},
                                        {"SIGNED_INT32", CL_SIGNED_INT32, "int", false},
                                        {"UNSIGNED_INT8", CL_UNSIGNED_INT8, "uchar", false},
                                        {"UNSIGNED_INT16", CL_UNSIGNED_INT16, "ushort", false},
                                        {"UNSIGNED_INT32", CL_UNSIGNED_INT32, "uint", false},
                                        {"HALF_FLOAT", CL_HALF_FLOAT, "half", false},
                                        {"FLOAT", CL_FLOAT, "float", false},
                                        {"UNORM_INT_101010_2", 0x10E0, "uint", true}};

struct Mode {
  const char* name;
  cl_uint value;
};
inline constexpr Mode kAddressings[] = {{"NONE", CL_ADDRESS_NONE},
                                        {"CLAMP_TO_EDGE", CL_ADDRESS_CLAMP_TO_EDGE},
                                        {"CLAMP", CL_ADDRESS_CLAMP},
                                        {"REPEAT", CL_ADDRESS_REPEAT},
                                        {"MIRRORED_REPEAT", CL_ADDRESS_MIRRORED_REPEAT}};
inline constexpr Mode kFilters[] = {{"NEAREST", CL_FILTER_NEAREST}, {"LINEAR", CL_FILTER_LINEAR}};

// The row with that value; null when there is none.
template <typename Row, std::size_t n>
const Row* row_of(const Row (&rows)[n], cl_uint value) {
  for (const Row& row : rows) {
    if (row.value == value) return &row;
  }
  return nullptr;
}

// Its name, or null.
template <typename Row, std::size_t n>
const char* name_of(const Row (&rows)[n], cl_uint value) {
  const Row* const row = row_of(rows, value);
  return row ? row->name : nullptr;
}

}  // namespace clbake::image_names
