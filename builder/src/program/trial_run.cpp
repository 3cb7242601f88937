#include "program/trial_run.hpp"

#include "process/need.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/program_text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

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

std::string argument_name(std::size_t number) { return "argument " + std::to_string(number); }

cl::NDRange range_of(const Extents3& extents) { return {extents[0], extents[1], extents[2]}; }

// The size that the kernel's source requires; zeros: none.
Extents3 required_size(cl_kernel kernel, cl_device_id device) {
  std::size_t size[3] = {};
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, nullptr);
  Extents3 extents = {};
  std::transform(size, size + 3, extents.begin(), [](std::size_t n) { return static_cast<std::uint32_t>(n); });
  return extents;
}

// More options where something is compiled, which a linked program's own options are not for.
void add_options(ProgramText& text, const std::string& more) {
  if (text.parts.empty()) text.options += more;
  for (ProgramText& part : text.parts) add_options(part, more);
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

Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options) try {
  Job bare{job.target, job.source, job.variant, {}, {}};
  ProgramText text = need(decode_program_text(bare.source.text));
  text.options = job.variant.build_options;
  add_options(text, more_options);
  bare.variant.build_options = std::exchange(text.options, {});
  bare.source.text = encode(text);
  enable_encoded_programs();
  const cache::Bytes bytes = need(encode_job(bare, cache::Packing::plain));
  const Bundle bundle = need(Bundle::copy_of({bytes.data(), bytes.size()}));
  const Library library = need(Library::create(session.context(), device.id, {bundle}));
  return library.program(job.variant.name);
} catch (const Failure& failure) {
  return failure.status;
}

void announce(const TrialCase& tried) { std::fprintf(stderr, "%s%s\n", process::kTriedMark, tried.name().c_str()); }

Status TrialRun::set(std::size_t number) {
  using Kind = TrialArgument::Kind;
  const TrialArgument& argument = tried_.trial.arguments[number];
  const auto index = static_cast<cl_uint>(number);
  cl_int error = CL_SUCCESS;
  std::uint64_t size = sizeof(cl_mem);
  switch (argument.kind) {
    case Kind::buffer:
    case Kind::image:
    case Kind::same: {
      const cl_mem given = memory_[argument.kind == Kind::same ? argument.count : number].given();
      error = clSetKernelArg(kernel_(), index, sizeof given, &given);
      break;
    }
    case Kind::null: error = clSetKernelArg(kernel_(), index, sizeof(cl_mem), nullptr); break;
    case Kind::sampler: {
      const Sampler& s = argument.sampler;
      samplers_.emplace_back(cl::Context(session_.context(), true), s.normalized ? CL_TRUE : CL_FALSE, s.addressing,
                             s.filter, &error);
      if (error != CL_SUCCESS) return opencl_failure("clCreateSampler", error);
      error = kernel_.setArg(index, samplers_.back());
      break;
    }
    case Kind::value: {
      const cache::Bytes value = content_of(argument, number);
      size = value.size();
      error = kernel_.setArg(index, value.size(), value.data());
      break;
    }
    case Kind::local: error = kernel_.setArg(index, static_cast<std::size_t>(argument.count), nullptr); break;
  }
  if (error == CL_SUCCESS) return {};
  if (error == CL_INVALID_ARG_SIZE) {
    return {Code::invalid_argument,
            "the kernel takes another size than the " + std::to_string(size) + " bytes of the trial", error};
  }
  return {Code::invalid_argument, "does not fit the kernel: clSetKernelArg: error " + std::to_string(error), error};
}

Result<TrialRun> TrialRun::create(const Session& session, const Device& device, cl_program program,
                                  const TrialCase& tried) {
  const std::vector<TrialArgument>& arguments = tried.trial.arguments;
  TrialRun run(session, device, tried);
  cl_int error = CL_SUCCESS;
  run.kernel_ = cl::Kernel(cl::Program(program, true), tried.kernel.name.c_str(), &error);
  if (error != CL_SUCCESS) return opencl_failure("clCreateKernel", error);
  const Status fits = check_signature(run.kernel_(), tried.trial);
  if (!fits) return fits;
  run.queue_ = cl::CommandQueue(session.queue(), true);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Result<TrialMemory> memory =
        arguments[i].is_memory() ? TrialMemory::create(session, device, arguments[i], i) : TrialMemory();
    if (!memory) return memory.status().within(argument_name(i));
    run.memory_.push_back(std::move(*memory));
    const Status set = run.set(i);
    if (!set) return set.within(argument_name(i));
  }
  return run;
}

// CL_INVALID_WORK_GROUP_SIZE stands for several causes.
Status TrialRun::refused_size(cl_int error) const {
  const Extents3 required = required_size(kernel_(), device_);
  const Extents3 &global = tried_.trial.global, &size = tried_.size;
  if (required[0] != 0 && required != size) {
    return {Code::invalid_argument,
            "the kernel requires the work-group size " + size_text(required) + " (reqd_work_group_size)", error};
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (size[d] == 0 || global[d] % size[d] == 0) continue;
    return {Code::invalid_argument,
            "the global size " + size_text(global) + " is no multiple of it, which this driver refuses", error};
  }
  return {Code::invalid_argument, "the driver refuses this work-group size (CL_INVALID_WORK_GROUP_SIZE)", error};
}

Result<double> TrialRun::run() {
  for (const TrialMemory& memory : memory_) {
    const Status filled = memory.fill(queue_);
    if (!filled) return filled;
  }
  const Trial& trial = tried_.trial;
  const cl::NDRange offset = trial.offset == Extents3{} ? cl::NullRange : range_of(trial.offset);
  const cl::NDRange local = tried_.size == kDriversChoice ? cl::NullRange : range_of(tried_.size);
  cl::Event event;
  const auto start = std::chrono::steady_clock::now();
  const cl_int error = queue_.enqueueNDRangeKernel(kernel_, offset, range_of(trial.global), local, nullptr, &event);
  if (error == CL_INVALID_WORK_GROUP_SIZE) return refused_size(error);
  if (error != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", error);
  clRetainEvent(event());
  const Status finished = finish(queue_(), event());
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (!finished) return finished;
  return took.count();
}

Result<std::vector<cache::Bytes>> TrialRun::results() const {
  std::vector<cache::Bytes> all;
  for (const TrialMemory& memory : memory_) {
    Result<cache::Bytes> bytes = memory.read(queue_);
    if (!bytes) return bytes.status().within(argument_name(all.size()));
    all.push_back(std::move(*bytes));
  }
  return all;
}

}  // namespace clbake::builder::program
