// Buffers, parts of them, and images, which are buffers of texels.
#include "fake_opencl/objects.hpp"

#include <cstring>

using namespace fake;

namespace {

// Bytes of a texel; 0: a format that kernels/KERNELS.md does not use.
std::size_t texel_bytes(const cl_image_format& format) {
  if (format.image_channel_order != CL_RGBA) return 0;
  switch (format.image_channel_data_type) {
    case CL_HALF_FLOAT:
    case CL_UNSIGNED_INT16: return 8;
    case CL_FLOAT:
    case CL_UNSIGNED_INT32: return 16;
    default: return 0;
  }
}

Memory* allocate(Context* context, std::size_t bytes) {
  auto* memory = new Memory(context, context, bytes);
  memory->owned = std::malloc(bytes);
  memory->data = static_cast<unsigned char*>(memory->owned);
  std::memset(memory->data, 0xFF, bytes);  // NaN in every precision
  return memory;
}

}  // namespace

cl_mem clCreateBuffer(cl_context id, cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
  const Call call(Function::clCreateBuffer);
  auto* context = object<Context>(id);
  const bool wants_host = (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && bytes == 0) result = CL_INVALID_BUFFER_SIZE;
  if (result == CL_SUCCESS && wants_host != (host != nullptr)) result = CL_INVALID_HOST_PTR;
  return create(error, result, [&] {
    Memory* memory = allocate(context, bytes);
    if (flags & CL_MEM_USE_HOST_PTR) memory->data = static_cast<unsigned char*>(host);
    if (flags & CL_MEM_COPY_HOST_PTR) std::memcpy(memory->data, host, bytes);
    return memory;
  });
}

cl_mem clCreateSubBuffer(cl_mem id, cl_mem_flags /*flags*/, cl_buffer_create_type type, const void* info,
                         cl_int* error) {
  const Call call(Function::clCreateSubBuffer);
  auto* buffer = object<Memory>(id);
  const auto* region = static_cast<const cl_buffer_region*>(info);
  cl_int result = call.refusal(buffer);
  if (result == CL_SUCCESS && (type != CL_BUFFER_CREATE_TYPE_REGION || !region)) result = CL_INVALID_VALUE;
  if (result == CL_SUCCESS && region->size == 0) result = CL_INVALID_BUFFER_SIZE;
  if (result == CL_SUCCESS && (region->size > buffer->bytes || region->origin > buffer->bytes - region->size)) {
    result = CL_INVALID_VALUE;
  }
  if (result == CL_SUCCESS && region->origin % 128 != 0) result = CL_MISALIGNED_SUB_BUFFER_OFFSET;
  return create(error, result, [&] {
    auto* part = new Memory(buffer, buffer->context, region->size);
    part->data = buffer->data + region->origin;
    return part;
  });
}

cl_mem clCreateImage(cl_context id, cl_mem_flags /*flags*/, const cl_image_format* format,
                     const cl_image_desc* description, void* /*host*/, cl_int* error) {
  const Call call(Function::clCreateImage);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && (!format || texel_bytes(*format) == 0)) result = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  if (result == CL_SUCCESS && (!description || description->image_type != CL_MEM_OBJECT_IMAGE2D ||
                               description->image_width == 0 || description->image_height == 0)) {
    result = CL_INVALID_IMAGE_DESCRIPTOR;
  }
  return create(error, result, [&] {
    Memory* image = allocate(context, description->image_width * description->image_height * texel_bytes(*format));
    image->type = CL_MEM_OBJECT_IMAGE2D;
    return image;
  });
}

FAKE_OPENCL_REFERENCES(Memory, clRetainMemObject, clReleaseMemObject)

cl_int clGetMemObjectInfo(cl_mem id, cl_mem_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetMemObjectInfo);
  const auto* memory = object<Memory>(id);
  if (const cl_int refused = call.refusal(memory)) return refused;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_MEM_TYPE: return answer.number(memory->type);
    case CL_MEM_SIZE: return answer.number(memory->bytes);
    case CL_MEM_CONTEXT: return answer.number(handle(memory->context));
    case CL_MEM_FLAGS: return answer.number<cl_mem_flags>(CL_MEM_READ_WRITE);
    default: return CL_INVALID_VALUE;
  }
}
