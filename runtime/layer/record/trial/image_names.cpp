#include "record/trial/image_names.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <iterator>

namespace clbake::layer::record {
namespace {

struct Name {
  cl_uint value;
  const char* name;
};

constexpr Name kOrders[] = {{CL_R, "R"},
                            {CL_A, "A"},
                            {CL_RG, "RG"},
                            {CL_RA, "RA"},
                            {CL_RGB, "RGB"},
                            {CL_RGBA, "RGBA"},
                            {CL_BGRA, "BGRA"},
                            {CL_ARGB, "ARGB"},
                            {CL_ABGR, "ABGR"},
                            {CL_INTENSITY, "INTENSITY"},
                            {CL_LUMINANCE, "LUMINANCE"},
                            {CL_Rx, "Rx"},
                            {CL_RGx, "RGx"},
                            {CL_RGBx, "RGBx"},
                            {CL_DEPTH, "DEPTH"},
                            {CL_sRGB, "sRGB"},
                            {CL_sRGBx, "sRGBx"},
                            {CL_sRGBA, "sRGBA"},
                            {CL_sBGRA, "sBGRA"}};

constexpr Name kTypes[] = {{CL_SNORM_INT8, "SNORM_INT8"},
                           {CL_SNORM_INT16, "SNORM_INT16"},
                           {CL_UNORM_INT8, "UNORM_INT8"},
                           {CL_UNORM_INT16, "UNORM_INT16"},
                           {CL_UNORM_SHORT_565, "UNORM_SHORT_565"},
                           {CL_UNORM_SHORT_555, "UNORM_SHORT_555"},
                           {CL_UNORM_INT_101010, "UNORM_INT_101010"},
                           {CL_UNORM_INT_101010_2, "UNORM_INT_101010_2"},
                           {CL_SIGNED_INT8, "SIGNED_INT8"},
                           {CL_SIGNED_INT16, "SIGNED_INT16"},
                           {CL_SIGNED_INT32, "SIGNED_INT32"},
                           {CL_UNSIGNED_INT8, "UNSIGNED_INT8"},
                           {CL_UNSIGNED_INT16, "UNSIGNED_INT16"},
                           {CL_UNSIGNED_INT32, "UNSIGNED_INT32"},
                           {CL_HALF_FLOAT, "HALF_FLOAT"},
                           {CL_FLOAT, "FLOAT"}};

constexpr Name kImages[] = {{CL_MEM_OBJECT_IMAGE1D, "1d"},
                            {CL_MEM_OBJECT_IMAGE1D_BUFFER, "1d_buffer"},
                            {CL_MEM_OBJECT_IMAGE1D_ARRAY, "1d_array"},
                            {CL_MEM_OBJECT_IMAGE2D, "2d"},
                            {CL_MEM_OBJECT_IMAGE2D_ARRAY, "2d_array"},
                            {CL_MEM_OBJECT_IMAGE3D, "3d"}};

constexpr Name kAddressings[] = {{CL_ADDRESS_NONE, "NONE"},
                                 {CL_ADDRESS_CLAMP_TO_EDGE, "CLAMP_TO_EDGE"},
                                 {CL_ADDRESS_CLAMP, "CLAMP"},
                                 {CL_ADDRESS_REPEAT, "REPEAT"},
                                 {CL_ADDRESS_MIRRORED_REPEAT, "MIRRORED_REPEAT"}};

constexpr Name kFilters[] = {{CL_FILTER_NEAREST, "NEAREST"}, {CL_FILTER_LINEAR, "LINEAR"}};

template <typename Names>
const char* find(const Names& names, cl_uint value) {
  const auto* const found =
      std::find_if(std::begin(names), std::end(names), [&](const Name& name) { return name.value == value; });
  return found == std::end(names) ? nullptr : found->name;
}

}  // namespace

const char* order_name(cl_channel_order order) { return find(kOrders, order); }
const char* type_name(cl_channel_type type) { return find(kTypes, type); }
const char* image_name(cl_mem_object_type type) { return find(kImages, type); }
const char* addressing_name(cl_addressing_mode mode) { return find(kAddressings, mode); }
const char* filter_name(cl_filter_mode mode) { return find(kFilters, mode); }

}  // namespace clbake::layer::record
