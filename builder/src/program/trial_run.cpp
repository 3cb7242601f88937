#include "program/trial_run.hpp"

#include <clbake/builder/gemm_run.hpp>
#include "process/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

constexpr std::size_t kGuardBytes = 4096;  // on each side of a buffer
constexpr std::uint8_t kGuard = 0xA5;
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // of a buffer, on the host

Status failure(const std::string& call, cl_int error) {
  const bool memory = error == CL_OUT_OF_HOST_MEMORY || error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? Code::out_of_memory : Code::opencl, call + ": error " + std::to_string(error), error};
}

std::string argument_name(std::size_t number) { return "argument " + std::to_string(number); }

// "float" of "float*", "float4" of "float4"; the names that OpenCL C has for the unsigned types in place of theirs in
// C.
std::string plain_type(std::string name) {
  for (const auto& [c, opencl] : {std::pair{"unsigned char", "uchar"},
                                  {"unsigned short", "ushort"},
                                  {"unsigned int", "uint"},
                                  {"unsigned long", "ulong"}}) {
    if (name == c) return opencl;
  }
  return name;
}

const char* kind_name(TrialArgument::Kind kind) {
  switch (kind) {
    case TrialArgument::Kind::buffer: return "a buffer";
    case TrialArgument::Kind::scalar: return "a scalar";
    case TrialArgument::Kind::local: break;
  }
  return "local memory";
}

// The driver checks the size of a scalar whose type is no number's, such as a typedef.
Status check_argument(const cl::Kernel& kernel, std::size_t number, const TrialArgument& given) {
  const auto index = static_cast<cl_uint>(number);
  cl_int error = CL_SUCCESS;
  const auto address = kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index, &error);
  if (error != CL_SUCCESS) return {};  // the driver does not tell
  std::string type = kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index, &error);
  type = error == CL_SUCCESS ? plain_type(type.c_str()) : "";
  using Kind = TrialArgument::Kind;
  const bool is_image = type.rfind("image", 0) == 0 || type == "sampler_t";
  if (is_image)
    return {Code::invalid_argument, argument_name(number) + " is an image or a sampler, which no trial can give"};
  if (type.rfind("struct ", 0) == 0)
    return {Code::invalid_argument, argument_name(number) + " is a " + type + ", which no trial can give"};
  const Kind taken = address == CL_KERNEL_ARG_ADDRESS_LOCAL     ? Kind::local
                     : address == CL_KERNEL_ARG_ADDRESS_PRIVATE ? Kind::scalar
                                                                : Kind::buffer;
  if (taken != given.kind) {
    return {Code::invalid_argument, argument_name(number) + " of the kernel is " + kind_name(taken) +
                                        ", and the trial gives " + kind_name(given.kind)};
  }
  if (taken == Kind::local) return {};
  // A buffer's numbers may be read as vectors of them.
  const std::string of_kernel = plain_type(type.substr(0, type.find_first_of("*0123456789")));
  const bool is_number = number_type(of_kernel) != nullptr;
  if (taken == Kind::buffer && (!is_number || of_kernel == given.type->name)) return {};
  const std::string of_trial = given.type->name + (given.width > 1 ? std::to_string(given.width) : std::string());
  if (!is_number || type == of_trial) return {};
  return {Code::invalid_argument,
          argument_name(number) + " of the kernel is of type " + type + ", and the trial gives " + of_trial};
}

}  // namespace

Status check_signature(cl_kernel id, const Trial& trial) {
  const cl::Kernel kernel(id, true);
  cl_int error = CL_SUCCESS;
  const cl_uint taken = kernel.getInfo<CL_KERNEL_NUM_ARGS>(&error);
  if (error != CL_SUCCESS) return failure("clGetKernelInfo", error);
  if (taken != trial.arguments.size()) {
    return {Code::invalid_argument, "the kernel takes " + std::to_string(taken) + " arguments, and the trial gives " +
                                        std::to_string(trial.arguments.size())};
  }
  Status status;
  for (std::size_t i = 0; status && i < trial.arguments.size(); ++i)
    status = check_argument(kernel, i, trial.arguments[i]);
  return status;
}

namespace {

// A number in [0, 1) that depends on the argument and the index alone (splitmix64).
double random_part(std::size_t number, std::uint64_t index) {
  std::uint64_t z = (number + 1) * 0xD1B54A32D192ED03U + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 32) / 4294967296.0;
}

}  // namespace

void fill(const TrialArgument& argument, std::size_t number, std::uint64_t first, std::uint64_t count,
          std::uint8_t* bytes) {
  const NumberType& type = *argument.type;
  for (std::uint64_t i = 0; i < count; ++i) {
    double value = 0;
    if (argument.values.empty()) {
      const double part = random_part(number, first + i);
      const double width = argument.high - argument.low;
      value = argument.low +
              (type.is_float ? part * width : static_cast<double>(static_cast<std::int64_t>(part * (width + 1))));
    } else {
      value = argument.values[argument.values.size() == 1 ? 0 : first + i];
    }
    store_number(type, value, &bytes[i * type.bytes]);
  }
}

struct TrialRun::State {
  Session session;
  const Trial& trial;
  Extents3 local;
  std::size_t guard = kGuardBytes;
  cl::CommandQueue queue;
  cl::Kernel kernel;
  std::vector<cl::Buffer> whole;  // by argument: the buffer with its guards
  std::vector<cl::Buffer> inner;  // ... and what the kernel gets of it

  Status add_buffer(const cl::Context& context, const TrialArgument& argument, std::size_t number);
  Status write(std::size_t number);
  Status check_guard(std::size_t number, std::size_t offset) const;
  Status set(std::size_t number);
};

Status TrialRun::State::add_buffer(const cl::Context& context, const TrialArgument& argument, std::size_t number) {
  const std::size_t bytes = argument.bytes();
  cl_int error = CL_SUCCESS;
  whole[number] = cl::Buffer(context, CL_MEM_READ_WRITE, bytes + 2 * guard, nullptr, &error);
  if (error != CL_SUCCESS) return failure(argument_name(number) + ": clCreateBuffer", error);
  const cl_buffer_region region = {guard, bytes};
  inner[number] = whole[number].createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  return error == CL_SUCCESS ? Status() : failure(argument_name(number) + ": clCreateSubBuffer", error);
}

// The numbers that a piece of this argument's buffer has at most.
std::uint64_t piece_of(const TrialArgument& argument) {
  return std::min<std::uint64_t>(argument.count, kPieceBytes / argument.type->bytes);
}

// The first content of the buffer and its guards.
Status TrialRun::State::write(std::size_t number) {
  const TrialArgument& argument = trial.arguments[number];
  const std::uint64_t most = piece_of(argument);
  const std::vector<std::uint8_t> guards(guard, kGuard);
  cl_int error = queue.enqueueWriteBuffer(whole[number], CL_TRUE, 0, guard, guards.data());
  if (error == CL_SUCCESS) {
    error = queue.enqueueWriteBuffer(whole[number], CL_TRUE, guard + argument.bytes(), guard, guards.data());
  }
  std::vector<std::uint8_t> piece(most * argument.type->bytes);
  for (std::uint64_t first = 0; error == CL_SUCCESS && first < argument.count; first += most) {
    const std::uint64_t count = std::min(most, argument.count - first);
    fill(argument, number, first, count, piece.data());
    error = queue.enqueueWriteBuffer(whole[number], CL_TRUE, guard + first * argument.type->bytes,
                                     count * argument.type->bytes, piece.data());
  }
  return error == CL_SUCCESS ? Status() : failure("clEnqueueWriteBuffer", error);
}

// One of the guards, which begins at `offset` in the whole.
Status TrialRun::State::check_guard(std::size_t number, std::size_t offset) const {
  std::vector<std::uint8_t> bytes(guard);
  const cl_int error = queue.enqueueReadBuffer(whole[number], CL_TRUE, offset, guard, bytes.data());
  if (error != CL_SUCCESS) return failure("clEnqueueReadBuffer", error);
  const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
  if (std::all_of(bytes.begin(), bytes.end(), is_guard)) return {};
  return {Code::wrong_result, "wrote outside the buffer of " + argument_name(number)};
}

Status TrialRun::State::set(std::size_t number) {
  const TrialArgument& argument = trial.arguments[number];
  const auto index = static_cast<cl_uint>(number);
  cl_int error = CL_SUCCESS;
  if (argument.kind == TrialArgument::Kind::buffer) {
    error = kernel.setArg(index, inner[number]);
  } else if (argument.kind == TrialArgument::Kind::local) {
    error = kernel.setArg(index, static_cast<std::size_t>(argument.count), nullptr);
  } else {
    const std::uint32_t stored = argument.width == 3 ? 4 : argument.width;  // as OpenCL's vectors of three
    std::vector<std::uint8_t> bytes(std::size_t{stored} * argument.type->bytes);
    for (std::uint32_t i = 0; i < argument.width; ++i) {
      store_number(*argument.type, argument.values[i], &bytes[std::size_t{i} * argument.type->bytes]);
    }
    error = kernel.setArg(index, bytes.size(), bytes.data());
  }
  if (error == CL_SUCCESS) return {};
  return {Code::invalid_argument,
          argument_name(number) + " does not fit the kernel: clSetKernelArg: error " + std::to_string(error), error};
}

void announce(const TrialCase& tried) { std::fprintf(stderr, "%s%s\n", kTriedMark, tried.name().c_str()); }

TrialRun::TrialRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrialRun::TrialRun(TrialRun&&) noexcept = default;
TrialRun::~TrialRun() = default;

Result<TrialRun> TrialRun::create(const Session& session, const Device& device, cl_program program,
                                  const TrialCase& tried) {
  const Trial& trial = tried.trial;
  auto state = std::unique_ptr<State>(new State{session, trial, tried.size, kGuardBytes, {}, {}, {}, {}});
  cl_int error = CL_SUCCESS;
  state->kernel = cl::Kernel(cl::Program(program, true), tried.kernel.name.c_str(), &error);
  if (error != CL_SUCCESS) return failure("clCreateKernel", error);
  const Status fits = check_signature(state->kernel(), trial);
  if (!fits) return fits;
  state->queue = cl::CommandQueue(session.queue(), true);
  const cl::Context context(session.context(), true);
  const std::size_t aligned = cl::Device(device.id, true).getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  state->guard = std::max(kGuardBytes, aligned);
  const std::size_t count = trial.arguments.size();
  state->whole.resize(count);
  state->inner.resize(count);
  Status status;
  for (std::size_t i = 0; status && i < count; ++i) {
    if (trial.arguments[i].kind == TrialArgument::Kind::buffer)
      status = state->add_buffer(context, trial.arguments[i], i);
    if (status) status = state->set(i);
  }
  if (!status) return status;
  return TrialRun(std::move(state));
}

Result<double> TrialRun::run() {
  State& s = *state_;
  for (std::size_t i = 0; i < s.whole.size(); ++i) {
    const Status written = s.whole[i]() ? s.write(i) : Status();
    if (!written) return written;
  }
  const cl::NDRange global(s.trial.global[0], s.trial.global[1], s.trial.global[2]);
  const cl::NDRange local(s.local[0], s.local[1], s.local[2]);
  cl::Event event;
  const auto start = std::chrono::steady_clock::now();
  const cl_int error = s.queue.enqueueNDRangeKernel(s.kernel, cl::NullRange, global, local, nullptr, &event);
  if (error != CL_SUCCESS) return failure("clEnqueueNDRangeKernel", error);
  clRetainEvent(event());
  const Status finished = finish(s.queue(), event());
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (!finished) return finished;
  return took.count();
}

Status TrialRun::check_guards() const {
  const State& s = *state_;
  for (std::size_t i = 0; i < s.whole.size(); ++i) {
    if (!s.whole[i]()) continue;
    Status intact = s.check_guard(i, 0);
    if (intact) intact = s.check_guard(i, s.guard + s.trial.arguments[i].bytes());
    if (!intact) return intact;
  }
  return {};
}

Status TrialRun::read(std::size_t number, const Visit& visit) const {
  const State& s = *state_;
  const TrialArgument& argument = s.trial.arguments[number];
  const std::uint64_t most = piece_of(argument);
  std::vector<std::uint8_t> piece(most * argument.type->bytes);
  for (std::uint64_t first = 0; first < argument.count; first += most) {
    const std::uint64_t count = std::min(most, argument.count - first);
    const cl_int error = s.queue.enqueueReadBuffer(s.whole[number], CL_TRUE, s.guard + first * argument.type->bytes,
                                                   count * argument.type->bytes, piece.data());
    const Status visited =
        error == CL_SUCCESS ? visit(first, count, piece.data()) : failure("clEnqueueReadBuffer", error);
    if (!visited) return visited;
  }
  return {};
}

}  // namespace clbake::builder
