#include "launch/workspace.hpp"

#include <algorithm>

namespace clbake {
namespace {

cl_image_format image_format(Precision precision) {
  switch (precision) {
    case Precision::half_precision: return {CL_RGBA, CL_HALF_FLOAT};
    case Precision::single_precision: return {CL_RGBA, CL_FLOAT};
    case Precision::bfloat16: return {CL_RGBA, CL_UNSIGNED_INT16};
    default: break;
  }
  return {CL_RGBA, CL_UNSIGNED_INT32};
}

Status create_image(const cl::Context& context, const LaunchPlan& plan, std::size_t width, cl::Memory& memory) {
  cl_int error = CL_SUCCESS;
  const cl_image_format format = image_format(plan.real.precision);
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = std::max<std::size_t>(width / texel_elements(plan.real.precision), 1);
  shape.image_height = std::max<std::size_t>(plan.most.products * plan.padded_k, 1);
  memory = cl::Memory(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &error));
  return opencl_status("clCreateImage", error_of(memory, error));
}

}  // namespace

Result<DeviceLimits> limits_of(const cl::Device& device) {
  DeviceLimits limits;
  cl_uint units = 0;
  cl_uint alignment_bits = 0;
  cl_ulong largest = 0;
  cl_int error = cl::info(device, CL_DEVICE_MAX_COMPUTE_UNITS, units);
  if (error == CL_SUCCESS) error = cl::info(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, largest);
  if (error == CL_SUCCESS) error = cl::info(device, CL_DEVICE_IMAGE2D_MAX_WIDTH, limits.image_width);
  if (error == CL_SUCCESS) error = cl::info(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, limits.image_height);
  if (error == CL_SUCCESS) error = cl::info(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, alignment_bits);
  if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
  limits.units = units;
  limits.alignment = std::max<std::size_t>(alignment_bits / 8, 1);
  limits.largest_buffer = largest;
  return limits;
}

Result<Workspace> Workspace::create(const cl::Context& context, const LaunchPlan& plan) {
  Workspace made;
  Status status;
  if (plan.variant->image_a) status = create_image(context, plan, plan.padded_m, made.parts_[0]);
  if (status && plan.variant->image_b) status = create_image(context, plan, plan.padded_n, made.parts_[1]);
  if (!status) return status;
  return made;
}

Status Workspace::allocate(const cl::Context& context, const LaunchPlan& plan) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (plan.bytes[i] == 0) continue;
    cl_int error = CL_SUCCESS;
    parts_[i] = cl::Memory(clCreateBuffer(context(), CL_MEM_READ_WRITE, plan.bytes[i], nullptr, &error));
    if (Status made = opencl_status("clCreateBuffer", error_of(parts_[i], error)); !made) return made;
  }
  return {};
}

Status Workspace::place(cl_mem memory, std::size_t offset, const LaunchPlan& plan) {
  Workspace placed = *this;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (plan.bytes[i] == 0) continue;
    cl_int error = CL_SUCCESS;
    const cl_buffer_region region{offset, plan.bytes[i]};
    offset += round_up(plan.bytes[i], plan.limits.alignment);
    placed.parts_[i] =
        cl::Memory(clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    if (Status made = opencl_status("clCreateSubBuffer", error_of(placed.parts_[i], error)); !made) return made;
  }
  *this = std::move(placed);
  return {};
}

bool Workspace::complete(const LaunchPlan& plan) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (plan.bytes[i] > 0 && !parts_[i]()) return false;
  }
  return true;
}

}  // namespace clbake
