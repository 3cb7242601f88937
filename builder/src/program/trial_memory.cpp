#include "program/trial_memory.hpp"

#include <algorithm>

namespace clbake::builder::program {
namespace {

constexpr std::size_t kLeastGuard = 4096;
constexpr std::uint8_t kGuard = 0xA5;
constexpr std::size_t kOrigin[3] = {0, 0, 0};

// `buffer`: of a 1d_buffer; null for other images.
Result<cl::Memory> create_image(const Session& session, const Image& image, cl_mem buffer) {
  cl_image_desc description = {};
  description.image_type = image.shape->value;
  description.image_width = static_cast<std::size_t>(image.width);
  description.image_height = static_cast<std::size_t>(image.height);
  description.image_depth = static_cast<std::size_t>(image.depth);
  description.image_array_size = static_cast<std::size_t>(image.array_size);
  description.buffer = buffer;
  cl_int error = CL_SUCCESS;
  const cl_mem made = clCreateImage(session.context(), CL_MEM_READ_WRITE, &image.format, &description, nullptr, &error);
  if (error != CL_SUCCESS) return opencl_failure("clCreateImage", error);
  return cl::Memory(made, false);
}

}  // namespace

Status opencl_failure(const std::string& call, cl_int error) {
  const bool memory = error == CL_OUT_OF_HOST_MEMORY || error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? Code::out_of_memory : Code::opencl, call + ": error " + std::to_string(error), error};
}

Result<TrialMemory> TrialMemory::create(const Session& session, const Device& device, const TrialArgument& argument,
                                        std::size_t number) {
  TrialMemory memory;
  const bool is_image = argument.kind == TrialArgument::Kind::image;
  const bool of_buffer = is_image && argument.image.shape->value == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  memory.content_ = content_of(argument, number);
  if (is_image && !of_buffer) {
    memory.image_ = &argument.image;
    const Result<cl::Memory> image = create_image(session, argument.image, nullptr);
    if (!image) return image.status();
    memory.whole_ = memory.given_ = *image;
    return memory;
  }
  const std::size_t size = memory.content_.size();
  const std::size_t aligned = cl::Device(device.id, true).getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  memory.after_ = std::max(kLeastGuard, aligned);
  memory.before_ = memory.after_ + static_cast<std::size_t>(argument.offset);
  memory.content_.insert(memory.content_.begin(), memory.before_, kGuard);
  memory.content_.insert(memory.content_.end(), memory.after_, kGuard);
  cl_int error = CL_SUCCESS;
  cl::Buffer whole(cl::Context(session.context(), true), CL_MEM_READ_WRITE, memory.content_.size(), nullptr, &error);
  if (error != CL_SUCCESS) return opencl_failure("clCreateBuffer", error);
  const cl_buffer_region region = {memory.before_, size};
  const cl::Buffer part = whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  if (error == CL_MISALIGNED_SUB_BUFFER_OFFSET) {
    return {Code::invalid_argument, "the offset " + std::to_string(argument.offset) +
                                        " is no multiple of the device's alignment, " + std::to_string(aligned) +
                                        " bytes"};
  }
  if (error != CL_SUCCESS) return opencl_failure("clCreateSubBuffer", error);
  memory.whole_ = whole;
  memory.given_ = part;
  if (!of_buffer) return memory;
  const Result<cl::Memory> image = create_image(session, argument.image, part());
  if (!image) return image.status();
  memory.given_ = *image;
  return memory;
}

Status TrialMemory::fill(const cl::CommandQueue& queue) const {
  if (!whole_()) return {};
  if (!image_) {
    const cl_int error =
        clEnqueueWriteBuffer(queue(), whole_(), CL_TRUE, 0, content_.size(), content_.data(), 0, nullptr, nullptr);
    return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueWriteBuffer", error);
  }
  std::size_t region[3] = {};
  image_->region(region);
  const cl_int error =
      clEnqueueWriteImage(queue(), whole_(), CL_TRUE, kOrigin, region, 0, 0, content_.data(), 0, nullptr, nullptr);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueWriteImage", error);
}

Result<cache::Bytes> TrialMemory::read(const cl::CommandQueue& queue) const {
  cache::Bytes bytes(content_.size());
  if (!whole_()) return bytes;
  if (image_) {
    std::size_t region[3] = {};
    image_->region(region);
    const cl_int error =
        clEnqueueReadImage(queue(), whole_(), CL_TRUE, kOrigin, region, 0, 0, bytes.data(), 0, nullptr, nullptr);
    if (error != CL_SUCCESS) return opencl_failure("clEnqueueReadImage", error);
    return bytes;
  }
  const cl_int error =
      clEnqueueReadBuffer(queue(), whole_(), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr);
  if (error != CL_SUCCESS) return opencl_failure("clEnqueueReadBuffer", error);
  const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(before_);
  const auto end = bytes.end() - static_cast<std::ptrdiff_t>(after_);
  if (!std::all_of(bytes.begin(), begin, is_guard) || !std::all_of(end, bytes.end(), is_guard)) {
    return {Code::wrong_result, "wrote outside the buffer"};
  }
  return cache::Bytes(begin, end);
}

}  // namespace clbake::builder::program
