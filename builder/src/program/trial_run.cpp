#include "program/trial_run.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/program_text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

namespace clbake::builder::program {
namespace {

constexpr std::size_t kLeastGuard = 4096;
constexpr std::uint8_t kGuard = 0xA5;

Status failure(const std::string& call, cl_int error) {
  const bool memory = error == CL_OUT_OF_HOST_MEMORY || error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? Code::out_of_memory : Code::opencl, call + ": error " + std::to_string(error), error};
}

std::string argument_name(std::size_t number) { return "argument " + std::to_string(number); }

const char* kind_name(TrialArgument::Kind kind) {
  switch (kind) {
    case TrialArgument::Kind::buffer: return "a buffer";
    case TrialArgument::Kind::scalar: return "a scalar";
    case TrialArgument::Kind::local: break;
  }
  return "local memory";
}

// More options where something is compiled, which a linked program's own options are not for.
void add_options(ProgramText& text, const std::string& more) {
  if (text.parts.empty()) text.options += more;
  for (ProgramText& part : text.parts) add_options(part, more);
}

}  // namespace

Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options) {
  Job bare{job.target, job.source, job.variant, {}, {}};
  Result<ProgramText> text = decode_program_text(bare.source.text);
  if (!text) return text.status();
  text->options = job.variant.build_options;
  add_options(*text, more_options);
  bare.variant.build_options = std::exchange(text->options, {});
  bare.source.text = encode(*text);
  enable_encoded_programs();
  const Result<cache::Bytes> bytes = encode_job(bare, cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::copy_of({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  const Result<Library> library = Library::create(session.context(), device.id, {*bundle});
  if (!library) return library.status();
  return library->program(job.variant.name);
}

Status check_signature(cl_kernel id, const Trial& trial) {
  const cl::Kernel kernel(id, true);
  cl_int error = CL_SUCCESS;
  const cl_uint taken = kernel.getInfo<CL_KERNEL_NUM_ARGS>(&error);
  if (error != CL_SUCCESS) return failure("clGetKernelInfo", error);
  if (taken != trial.arguments.size()) {
    return {Code::invalid_argument, "the kernel takes " + std::to_string(taken) + " arguments, and the trial gives " +
                                        std::to_string(trial.arguments.size())};
  }
  for (cl_uint i = 0; i < taken; ++i) {
    const auto address = kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(i, &error);
    if (error != CL_SUCCESS) return {};  // the driver does not tell
    using Kind = TrialArgument::Kind;
    const Kind kind = address == CL_KERNEL_ARG_ADDRESS_LOCAL     ? Kind::local
                      : address == CL_KERNEL_ARG_ADDRESS_PRIVATE ? Kind::scalar
                                                                 : Kind::buffer;
    const TrialArgument& given = trial.arguments[i];
    std::string type = kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(i, &error);  // "unsigned int" by some drivers
    const bool is_image = type.rfind("image", 0) == 0;
    const bool is_number = kind == Kind::scalar && number_type(type) && kind == given.kind && given.width == 1;
    const bool is_other = is_number && given.type != number_type(type);
    if (kind == given.kind && !is_image && !is_other) continue;
    if (!is_image && !is_other) type = kind_name(kind);
    return {Code::invalid_argument, argument_name(i) + " of the kernel is " + type + ", and the trial gives " +
                                        (is_other ? given.type->name : kind_name(given.kind))};
  }
  return {};
}

cache::Bytes content_of(const TrialArgument& argument, std::size_t number) {
  const NumberType& type = *argument.type;
  std::mt19937_64 random(number);
  cache::Bytes bytes(argument.bytes());
  for (std::uint64_t i = 0; i < argument.count; ++i) {
    double value = 0;
    if (argument.values.empty()) {
      const double part = static_cast<double>(random() >> 32U) / 4294967296.0;
      const double width = argument.high - argument.low;
      value = argument.low +
              (type.is_float() ? part * width : static_cast<double>(static_cast<std::int64_t>(part * (width + 1))));
    } else {
      value = argument.values[argument.values.size() == 1 ? 0 : i];
    }
    type.store(value, &bytes[i * type.bytes]);
  }
  return bytes;
}

void announce(const TrialCase& tried) { std::fprintf(stderr, "%s%s\n", process::kTriedMark, tried.name().c_str()); }

Status TrialRun::add_buffer(std::size_t number) {
  const TrialArgument& argument = tried_.trial.arguments[number];
  const cache::Bytes inner = content_of(argument, number);
  cache::Bytes& content = content_[number];
  content.assign(inner.size() + 2 * guard_, kGuard);
  std::copy(inner.begin(), inner.end(), content.begin() + static_cast<std::ptrdiff_t>(guard_));
  cl_int error = CL_SUCCESS;
  whole_[number] =
      cl::Buffer(cl::Context(session_.context(), true), CL_MEM_READ_WRITE, content.size(), nullptr, &error);
  if (error != CL_SUCCESS) return failure(argument_name(number) + ": clCreateBuffer", error);
  const cl_buffer_region region = {guard_, inner.size()};
  inner_[number] = whole_[number].createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  return error == CL_SUCCESS ? Status() : failure(argument_name(number) + ": clCreateSubBuffer", error);
}

Status TrialRun::set(std::size_t number) {
  const TrialArgument& argument = tried_.trial.arguments[number];
  const auto index = static_cast<cl_uint>(number);
  cl_int error = CL_SUCCESS;
  if (argument.kind == TrialArgument::Kind::buffer) {
    error = kernel_.setArg(index, inner_[number]);
  } else if (argument.kind == TrialArgument::Kind::local) {
    error = kernel_.setArg(index, static_cast<std::size_t>(argument.count), nullptr);
  } else {
    const std::uint32_t stored = argument.width == 3 ? 4 : argument.width;  // as OpenCL's vectors of three
    cache::Bytes bytes(std::size_t{stored} * argument.type->bytes);
    for (std::uint32_t i = 0; i < argument.width; ++i) {
      argument.type->store(argument.values[i], &bytes[std::size_t{i} * argument.type->bytes]);
    }
    error = kernel_.setArg(index, bytes.size(), bytes.data());
  }
  if (error == CL_SUCCESS) return {};
  return {Code::invalid_argument,
          argument_name(number) + " does not fit the kernel: clSetKernelArg: error " + std::to_string(error), error};
}

Result<TrialRun> TrialRun::create(const Session& session, const Device& device, cl_program program,
                                  const TrialCase& tried) {
  const Trial& trial = tried.trial;
  TrialRun run(session, tried);
  cl_int error = CL_SUCCESS;
  run.kernel_ = cl::Kernel(cl::Program(program, true), tried.kernel.name.c_str(), &error);
  if (error != CL_SUCCESS) return failure("clCreateKernel", error);
  const Status fits = check_signature(run.kernel_(), trial);
  if (!fits) return fits;
  run.queue_ = cl::CommandQueue(session.queue(), true);
  const std::size_t aligned = cl::Device(device.id, true).getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  run.guard_ = std::max(kLeastGuard, aligned);
  const std::size_t count = trial.arguments.size();
  run.whole_.resize(count);
  run.inner_.resize(count);
  run.content_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_buffer = trial.arguments[i].kind == TrialArgument::Kind::buffer;
    Status status = is_buffer ? run.add_buffer(i) : Status();
    if (status) status = run.set(i);
    if (!status) return status;
  }
  return run;
}

Result<double> TrialRun::run() {
  for (std::size_t i = 0; i < whole_.size(); ++i) {
    if (content_[i].empty()) continue;
    const cl_int error = queue_.enqueueWriteBuffer(whole_[i], CL_TRUE, 0, content_[i].size(), content_[i].data());
    if (error != CL_SUCCESS) return failure("clEnqueueWriteBuffer", error);
  }
  const Extents3& g = tried_.trial.global;
  const Extents3& l = tried_.size;
  cl::Event event;
  const auto start = std::chrono::steady_clock::now();
  const cl_int error = queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(g[0], g[1], g[2]),
                                                   cl::NDRange(l[0], l[1], l[2]), nullptr, &event);
  if (error != CL_SUCCESS) return failure("clEnqueueNDRangeKernel", error);
  clRetainEvent(event());
  const Status finished = finish(queue_(), event());
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (!finished) return finished;
  return took.count();
}

Result<std::vector<cache::Bytes>> TrialRun::results() const {
  std::vector<cache::Bytes> all(content_.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (content_[i].empty()) continue;
    cache::Bytes bytes(content_[i].size());
    const cl_int error = queue_.enqueueReadBuffer(whole_[i], CL_TRUE, 0, bytes.size(), bytes.data());
    if (error != CL_SUCCESS) return failure("clEnqueueReadBuffer", error);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(guard_);
    const auto end = bytes.end() - static_cast<std::ptrdiff_t>(guard_);
    const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
    if (!std::all_of(bytes.begin(), begin, is_guard) || !std::all_of(end, bytes.end(), is_guard)) {
      return {Code::wrong_result, "wrote outside the buffer of " + argument_name(i)};
    }
    all[i].assign(begin, end);
  }
  return all;
}

}  // namespace clbake::builder::program
