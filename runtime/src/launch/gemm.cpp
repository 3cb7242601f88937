#include "launch/gemm.hpp"

#include <clbake/exceptions_to_status.hpp>

#include "launch/aliasing.hpp"
#include "launch/call_checks.hpp"
#include "select/problem.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

namespace clbake {

// Sets arguments in the order of the kernel contract, one after another. A scalar or null that the kernel already has
// is not set again; memory is, as a new object may have an old one's address.
class Gemm::State::Arguments {
 public:
  Arguments(cl_kernel kernel, ArgumentBits& held) : kernel_(kernel), held_(held) {}
  Arguments& memory(cl_mem value) {
    if (!value) return scalar(value);
    held_[index_] = kUnset;
    if (error_ == CL_SUCCESS) error_ = clSetKernelArg(kernel_, index_++, sizeof value, &value);
    return *this;
  }
  Arguments& size(std::size_t value) { return scalar(static_cast<cl_int>(value)); }
  Arguments& distance(std::size_t elements) { return scalar(static_cast<cl_ulong>(elements)); }
  Arguments& real(double value, Precision precision) {
    return precision == Precision::double_precision ? scalar(static_cast<cl_double>(value))
                                                    : scalar(static_cast<cl_float>(value));
  }
  // A vector of OpenCL C. Set again unless it was and is 0, as it is without an epilogue.
  template <typename T>
  Arguments& numbers(std::initializer_list<T> values) {
    const bool zero = std::all_of(values.begin(), values.end(), [](T value) { return value == 0; });
    std::uint64_t& held = held_[index_];
    const cl_uint index = index_++;
    if (error_ != CL_SUCCESS || (zero && held == 0)) return *this;
    error_ = clSetKernelArg(kernel_, index, values.size() * sizeof(T), values.begin());
    held = error_ == CL_SUCCESS && zero ? 0 : kUnset;
    return *this;
  }
  cl_int error() const { return error_; }

  // Marks an argument that is not set. A scalar with these bits is simply set each time.
  static constexpr std::uint64_t kUnset = UINT64_MAX;
  static constexpr std::size_t kMost = 32;

 private:
  template <typename T>
  Arguments& scalar(const T& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    std::uint64_t& held = held_[index_];
    const cl_uint index = index_++;
    if (error_ != CL_SUCCESS || (bits == held && bits != kUnset)) return *this;
    error_ = clSetKernelArg(kernel_, index, sizeof value, &value);
    held = error_ == CL_SUCCESS ? bits : kUnset;
    return *this;
  }

  cl_kernel kernel_;
  ArgumentBits& held_;
  cl_uint index_ = 0;
  cl_int error_ = CL_SUCCESS;
};

namespace {

// An operand as the gemm kernel reads it: the caller's matrix, or its copy.
struct Operand {
  cl_mem memory;
  std::size_t offset;
  std::size_t ld;
  std::size_t stride;
};

Operand operand(const Matrix& matrix, std::size_t ld, std::size_t stride, const cl::Memory& packed, std::size_t width,
                std::size_t depth) {
  if (!packed()) return {matrix.buffer, matrix.offset, ld, stride};
  return {packed(), 0, width, width * depth};
}

// Columns and rows of the grid that a launch has to cover, in elements.
std::pair<std::size_t, std::size_t> covered(cache::Role role, const Problem& p, const Workspace& w) {
  if (role == cache::Role::pack_a) return {w.padded_m, w.padded_k};
  if (role == cache::Role::pack_b) return {w.padded_n, w.padded_k};
  if (role == cache::Role::reduce) return {p.m * p.n, 1};
  return {p.n, p.m};
}

// CL_COMPLETE, a negative error, or a positive number while it has not ended; also positive when the query fails.
cl_int status_of(const cl::Event& event) {
  cl_int status = CL_COMPLETE;
  const cl_int error = clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return error == CL_SUCCESS ? status : CL_QUEUED;
}

bool is_in_order(cl_command_queue queue) {
  cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// The contract's argument `epilogue` (ACTIVATION and the bits below it in common.cl).
std::size_t steps_of(const Epilogue& e, bool reads_d) {
  std::size_t steps = 0;
  switch (e.activation) {
    case Activation::none: break;
    case Activation::relu:
    case Activation::clamp: steps = 1; break;
    case Activation::sigmoid: steps = 2; break;
    case Activation::silu: steps = 3; break;
    case Activation::gelu: steps = 4; break;
    case Activation::gelu_tanh: steps = 5; break;
  }
  if (e.bias == Bias::per_row) steps += 8;
  if (e.bias == Bias::per_column) steps += 16;
  return steps + (reads_d ? 32 : 0);
}

bool is_pack(cache::Role role) { return role == cache::Role::pack_a || role == cache::Role::pack_b; }

Status moved_from() { return {Argument::gemm, "the Gemm was moved from"}; }

}  // namespace

Gemm::Gemm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&&) noexcept = default;
Gemm::~Gemm() = default;

const Explanation& Gemm::explanation() const {
  static const Explanation none;
  return state_ ? state_->explanation : none;
}

cl_program Gemm::program() const { return state_ ? state_->program->program() : nullptr; }

std::size_t Gemm::workspace_bytes() const {
  return state_ ? sub_buffer_bytes(state_->workspace, state_->alignment) : 0;
}

Result<Gemm> Gemm::clone() const {
  if (!state_) return moved_from();
  return exceptions_to_status([&] { return state_->clone(); });
}

bool Gemm::outdated(std::uint64_t epoch) const {
  return !state_->explanation.waits_for.empty() && state_->epoch != epoch;
}

bool Gemm::waits_on_another(cl_command_queue queue) const {
  const std::vector<cl::Event>& launches = state_->in_flight;
  return state_->last_queue != queue && !launches.empty() && status_of(launches.back()) > CL_COMPLETE;
}

Status Gemm::use_workspace(cl_mem buffer, std::size_t offset) {
  if (!state_) return moved_from();
  return exceptions_to_status([&] { return state_->use_workspace(buffer, offset); });
}

Status Gemm::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                     cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  return enqueue(queue, alpha, a, b, beta, c, EpilogueBuffers(), wait_count, wait_list, event);
}

Status Gemm::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                     const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  if (!state_) return moved_from();
  return exceptions_to_status([&] {
    return state_->enqueue(queue, alpha, a, b, beta, c, more,
                           {wait_count, wait_count > 0 ? wait_list : nullptr, event});
  });
}

Result<Gemm> Gemm::State::create(const cl::Context& context, const cl::Device& device, Found found,
                                 const Problem& problem, Layout layout, bool caller_workspace, std::uint64_t epoch) {
  auto gemm = std::make_unique<Gemm::State>();
  gemm->program = std::move(found.program);
  gemm->explanation = std::move(found.explanation);
  gemm->context = context;
  gemm->device = device;
  gemm->epoch = epoch;
  gemm->layout = layout;
  gemm->problem = problem;
  gemm->extents = row_major_extents(problem);
  cl_uint bits = 0;
  const cl_int error = device.getInfo(CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits);
  if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
  gemm->alignment = std::max<std::size_t>(bits / 8, 1);
  const cache::Variant& variant = gemm->program->variant;
  Status status = gemm->create_kernels();
  if (status) status = gemm->create_offsets();
  if (!status) return status;
  Result<Workspace> workspace = size_workspace(device, variant, gemm->problem);
  if (!workspace) return workspace.status().within(variant.name);
  gemm->workspace = std::move(*workspace);
  status = create_images(context, variant, gemm->problem, gemm->workspace);
  if (status && !caller_workspace) status = create_buffers(context, gemm->workspace);
  if (!status) return status.within(variant.name);
  return Gemm(std::move(gemm));
}

Result<Gemm> Gemm::State::clone() const {
  auto gemm = std::make_unique<Gemm::State>();
  gemm->program = program;
  gemm->explanation = explanation;
  gemm->explanation.loaded = true;
  gemm->context = context;
  gemm->device = device;
  gemm->problem = problem;
  gemm->layout = layout;
  gemm->extents = extents;
  gemm->alignment = alignment;
  gemm->offsets = offsets;  // read only: shared
  gemm->epoch = epoch;
  gemm->calls = calls;
  gemm->workspace = workspace;
  gemm->workspace.a = gemm->workspace.b = cl::Memory();
  gemm->workspace.partials = cl::Buffer();
  Status status = gemm->create_kernels();
  if (status) status = create_images(context, program->variant, problem, gemm->workspace);
  if (status) status = create_buffers(context, gemm->workspace);
  if (!status) return status.within(program->variant.name);
  return Gemm(std::move(gemm));
}

Status Gemm::State::use_workspace(cl_mem buffer, std::size_t offset) {
  const std::size_t bytes = sub_buffer_bytes(workspace, alignment);
  if (bytes == 0) return {};
  if (offset % alignment != 0) {
    return {Argument::workspace, "the workspace's offset of " + std::to_string(offset) +
                                     " bytes is no multiple of the device's " + std::to_string(alignment)};
  }
  if (Status fits = check_buffer(kWorkspace, {buffer, offset}, context, bytes, 1); !fits) return fits;
  Workspace placed = workspace;
  const Status status = create_sub_buffers(buffer, offset, alignment, placed);
  if (status) workspace = std::move(placed);
  return status;
}

bool Gemm::State::has_workspace() const {
  const auto there = [](std::size_t bytes, const cl::Memory& memory) { return bytes == 0 || memory() != nullptr; };
  return there(workspace.a_bytes, workspace.a) && there(workspace.b_bytes, workspace.b) &&
         there(workspace.partials_bytes, workspace.partials);
}

Status Gemm::State::create_kernels() {
  for (const cache::Launch& launch : program->variant.launches) {
    cl_int error = CL_SUCCESS;
    kernels.emplace_back(program->program, launch.kernel_name.c_str(), &error);
    if (Status made = opencl_status("clCreateKernel", error_of(kernels.back(), error)); !made) return made;
  }
  set.assign(kernels.size(), ArgumentBits(Arguments::kMost, Arguments::kUnset));
  return {};
}

Status Gemm::State::create_offsets() {
  if (problem.offsets.empty()) return {};
  std::vector<cl_ulong> numbers;
  numbers.reserve(3 * problem.offsets.size());
  for (const BatchOffsets& product : problem.offsets) {
    numbers.insert(numbers.end(), {cl_ulong{product.a}, cl_ulong{product.b}, cl_ulong{product.c}});
  }
  cl_int error = CL_SUCCESS;
  offsets = cl::Buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, numbers.size() * sizeof numbers[0],
                       numbers.data(), &error);
  return opencl_status("clCreateBuffer", error_of(offsets, error));
}

Status Gemm::State::check_call(cl_command_queue queue, const Call& call, const Events& events) {
  Status status = check_queue(queue, context, device);
  if (status && !has_workspace()) status = {Argument::workspace, "no workspace: call use_workspace first"};
  if (status) status = check_wait_list(events.wait_count, events.wait_list);
  if (!status || problem.m == 0 || problem.n == 0 || problem.batch == 0) return status;
  const std::size_t bytes = element_bytes(problem.precision);
  const bool exchanged = layout == Layout::column_major;
  if (call.reads_operands) {
    status = check_buffer(exchanged ? kBufferB : kBufferA, call.a, context, extents.a, bytes);
    if (status) status = check_buffer(exchanged ? kBufferA : kBufferB, call.b, context, extents.b, bytes);
  }
  if (status) status = check_buffer(kBufferC, call.c, context, extents.c, bytes);
  if (status && call.reads_d) status = check_buffer(kBufferD, call.more.d, context, extents.d, bytes);
  if (status && extents.bias > 0) status = check_buffer(kBias, call.more.bias, context, extents.bias, bytes);
  if (status && call.reads_operands) status = check_apart(call);
  return status ? check_epilogue_apart(call) : status;
}

// Checks each pair of starts once: for one handle the answer depends on nothing else.
Status Gemm::State::check_apart(const Call& call) {
  const std::size_t c = call.c.offset;
  const auto shares = [&](const char* name) {
    return Status(Argument::c_alias,
                  std::string("C and ") + name + " share elements of one buffer, or interleave over millions of rows");
  };
  const bool exchanged = layout == Layout::column_major;
  const std::array<std::size_t, 2> a_starts{call.a.offset, c};
  if (call.a.buffer == call.c.buffer && apart_a != a_starts) {
    if (overlap(region_of_a(problem, call.a.offset), region_of_c(problem, c))) return shares(exchanged ? "B" : "A");
    apart_a = a_starts;
  }
  const std::array<std::size_t, 2> b_starts{call.b.offset, c};
  if (call.b.buffer == call.c.buffer && apart_b != b_starts) {
    if (overlap(region_of_b(problem, call.b.offset), region_of_c(problem, c))) return shares(exchanged ? "A" : "B");
    apart_b = b_starts;
  }
  return {};
}

// As check_apart. A D that is C, element for element, is fine.
Status Gemm::State::check_epilogue_apart(const Call& call) {
  const std::size_t c = call.c.offset;
  const Epilogue& e = problem.epilogue;
  const std::array<std::size_t, 2> d_starts{call.more.d.offset, c};
  if (call.reads_d && call.more.d.buffer == call.c.buffer && apart_d != d_starts) {
    const bool same = d_starts[0] == c && e.ldd == problem.ldc &&
                      (problem.batch == 1 || !problem.offsets.empty() || e.d_stride == problem.c_stride);
    if (!same && overlap(region_of_d(problem, d_starts[0]), region_of_c(problem, c))) {
      return {Argument::d_alias, "C and D share elements of one buffer, but are not the same matrix"};
    }
    apart_d = d_starts;
  }
  const std::array<std::size_t, 2> bias_starts{call.more.bias.offset, c};
  if (extents.bias > 0 && call.more.bias.buffer == call.c.buffer && apart_bias != bias_starts) {
    if (overlap(region_of_bias(problem, bias_starts[0]), region_of_c(problem, c))) {
      return {Argument::bias_alias, "C and the bias share elements of one buffer"};
    }
    apart_bias = bias_starts;
  }
  return {};
}

// The contract's last arguments. A product whose slices are added up by another kernel has no epilogue itself.
void Gemm::State::set_epilogue(Arguments& arguments, const Call& call, bool applied) const {
  const Epilogue& e = problem.epilogue;
  const std::size_t steps = applied ? steps_of(e, call.reads_d) : 0;
  const bool clamps = applied && e.activation == Activation::clamp;
  const bool relu = applied && e.activation == Activation::relu;
  const bool has_bias = applied && extents.bias > 0;
  const bool reads_d = applied && call.reads_d;
  arguments.numbers<cl_int>({static_cast<cl_int>(steps), static_cast<cl_int>(reads_d ? e.ldd : 0)});
  const double low = clamps ? e.low : 0;
  const double high = clamps ? e.high : relu ? std::numeric_limits<double>::infinity() : 0;
  if (problem.precision == Precision::double_precision) {
    arguments.numbers<cl_double>({low, high});
  } else {
    arguments.numbers<cl_float>({static_cast<cl_float>(low), static_cast<cl_float>(high)});
  }
  arguments.memory(has_bias ? call.more.bias.buffer : nullptr).memory(reads_d ? call.more.d.buffer : nullptr);
  const Matrix none;
  const Matrix& bias = has_bias ? call.more.bias : none;
  const Matrix& d = reads_d ? call.more.d : none;
  arguments.numbers<cl_ulong>({bias.offset, has_bias ? e.bias_stride : 0, d.offset, reads_d ? e.d_stride : 0});
}

cl_int Gemm::State::set_arguments(std::size_t launch, const Call& call, std::size_t first_product) {
  const Problem& p = problem;
  const Workspace& w = workspace;
  const bool split = program->variant.split_k > 1;
  const Matrix& c = call.c;
  Arguments arguments(kernels[launch](), set[launch]);
  switch (program->variant.launches[launch].role) {
    case cache::Role::pack_a:
      arguments.size(p.m).size(p.k).memory(call.a.buffer).distance(call.a.offset).size(p.lda).distance(p.a_stride);
      arguments.memory(offsets()).size(first_product).memory(w.a()).distance(w.padded_m * w.padded_k);
      break;
    case cache::Role::pack_b:
      arguments.size(p.n).size(p.k).memory(call.b.buffer).distance(call.b.offset).size(p.ldb).distance(p.b_stride);
      arguments.memory(offsets()).size(first_product).memory(w.b()).distance(w.padded_n * w.padded_k);
      break;
    case cache::Role::gemm: {
      // Operands that are not read may be null; the kernel gets another buffer in their place.
      const Operand a = operand(call.reads_operands ? call.a : c, p.lda, p.a_stride, w.a, w.padded_m, w.padded_k);
      const Operand b = operand(call.reads_operands ? call.b : c, p.ldb, p.b_stride, w.b, w.padded_n, w.padded_k);
      // Partial sums are plain products; the reduction applies alpha and beta.
      arguments.size(p.m).size(p.n).size(call.reads_operands ? p.k : 0);
      arguments.real(split && call.reads_operands ? 1 : call.alpha, p.precision);
      arguments.memory(a.memory).distance(a.offset).size(a.ld).memory(b.memory).distance(b.offset).size(b.ld);
      arguments.real(split ? 0 : call.beta, p.precision);
      arguments.memory(split ? w.partials() : c.buffer).distance(split ? 0 : c.offset).size(split ? p.n : p.ldc);
      arguments.distance(a.stride).distance(b.stride).distance(split ? p.m * p.n : p.c_stride);
      arguments.memory(offsets()).size(first_product);
      set_epilogue(arguments, call, !split);
      break;
    }
    case cache::Role::reduce:
      arguments.size(p.m).size(p.n).real(call.alpha, p.precision).memory(w.partials()).distance(p.m * p.n);
      arguments.real(call.beta, p.precision).memory(c.buffer).distance(c.offset).size(p.ldc).distance(p.c_stride);
      arguments.memory(offsets()).size(first_product);
      set_epilogue(arguments, call, true);
      break;
    case cache::Role::kernel: break;  // of an application's program, which is no product
  }
  return arguments.error();
}

cl_int Gemm::State::launch(std::size_t index, cl_command_queue queue, std::size_t products, const Events& events) {
  const cache::Launch& launch = program->variant.launches[index];
  const auto [columns, rows] = covered(launch.role, problem, workspace);
  const std::size_t slices = launch.role == cache::Role::gemm ? program->variant.split_k : 1;
  const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
  const std::size_t global[3] = {ceil_div(columns, launch.tile_n) * local[0], ceil_div(rows, launch.tile_m) * local[1],
                                 products * slices * local[2]};
  const cl_int error = clEnqueueNDRangeKernel(queue, kernels[index](), 3, nullptr, global, local, events.wait_count,
                                              events.wait_list, events.event);
  if (error != CL_SUCCESS || !events.event || *events.event) return error;
  clFinish(queue);  // success without an event: nothing could wait for what runs now
  return CL_INVALID_EVENT;
}

cl_int Gemm::State::widen_reduction(cl_command_queue queue, std::size_t elements) {
  cl_int error = CL_SUCCESS;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const cache::Launch& launch = program->variant.launches[i];
    if (launch.role != cache::Role::reduce || error != CL_SUCCESS) continue;
    const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
    const std::size_t global[3] = {ceil_div(elements, launch.tile_n) * local[0], local[1], local[2]};
    error = clEnqueueNDRangeKernel(queue, kernels[i](), 3, nullptr, global, local, 0, nullptr, nullptr);
  }
  return error;
}

// The usual case: one kernel, all products at once, nothing to order.
Status Gemm::State::enqueue_one(cl_command_queue queue, const Call& call, const Events& events) {
  cl_int error = set_arguments(0, call, 0);
  if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
  error = launch(0, queue, problem.batch, events);
  return opencl_status("clEnqueueNDRangeKernel", error);
}

// Drops a failed launch only together with all that depend on it: to wait for a failed event would make the next call
// fail. When the last launch has ended, all have.
void Gemm::State::forget_finished() {
  if (in_flight.empty()) return;
  if (status_of(in_flight.back()) <= CL_COMPLETE) return in_flight.clear();
  in_flight.erase(in_flight.begin(), std::find_if(in_flight.begin(), in_flight.end(), [](const cl::Event& event) {
                    return status_of(event) != CL_COMPLETE;
                  }));
}

// Every launch waits for the one before it, the first also for the latest call, which may use the same workspace on
// another queue. On a queue that is in order, only the last launch has an event: each event more costs NVIDIA's driver
// a microsecond. If a launch fails there, those before it have no event that the next call could wait for, so that this
// one does.
Status Gemm::State::enqueue_launches(cl_command_queue queue, const Call& call, const Events& events) {
  forget_finished();
  const bool in_order = is_in_order(queue);
  const std::size_t launches = ceil_div(problem.batch, workspace.products) * kernels.size();
  if (in_flight.capacity() < in_flight.size() + launches) in_flight.reserve(2 * in_flight.size() + launches);
  waits.assign(events.wait_list, events.wait_list + events.wait_count);
  if (!in_flight.empty() && !(in_order && queue == last_queue)) waits.push_back(in_flight.back()());
  bool unfinished = false;  // launches without an event
  const auto failed = [&](const char* what, cl_int error) {
    if (unfinished) clFinish(queue);
    return opencl_status(what, error);
  };
  for (std::size_t first = 0; first < problem.batch; first += workspace.products) {
    const std::size_t products = std::min(workspace.products, problem.batch - first);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (is_pack(program->variant.launches[i].role) && !call.reads_operands) continue;
      cl_int error = set_arguments(i, call, first);
      if (error != CL_SUCCESS) return failed("clSetKernelArg", error);
      const bool last = i + 1 == kernels.size() && first + products == problem.batch;
      const bool wants_event = last || !in_order;
      cl_event done = nullptr;
      error = launch(
          i, queue, products,
          {static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), wants_event ? &done : nullptr});
      if (error != CL_SUCCESS) return failed("clEnqueueNDRangeKernel", error);
      waits.clear();
      unfinished = !wants_event;
      if (!wants_event) continue;
      in_flight.emplace_back(done);
      last_queue = queue;
      if (!in_order) waits.assign(1, done);
    }
  }
  return {};
}

Status Gemm::State::enqueue_all(cl_command_queue queue, const Call& call, const Events& events) {
  Status status = enqueue_launches(queue, call, events);
  if (status && events.event) {
    *events.event = in_flight.back()();
    clRetainEvent(*events.event);
  }
  // The next call may wait for this one on another queue, which only a flush of this one allows; also for what was
  // enqueued before a failure.
  clFlush(queue);
  return status;
}

Status Gemm::State::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                            const EpilogueBuffers& more, const Events& events) {
  // BLAS: alpha = 0 (as the kernel will see it) does not read A and B, so NaN in them does not spread.
  if (problem.precision != Precision::double_precision) {
    alpha = static_cast<float>(alpha);
    beta = static_cast<float>(beta);
  }
  if (layout == Layout::column_major) std::swap(a, b);
  Call call{alpha, beta, a, b, c, more, problem.k > 0 && alpha != 0, problem.epilogue.has_d && beta != 0};
  if (!call.reads_operands) call.alpha = 0;  // an infinite alpha times the empty sum would be NaN
  const Status possible = check_call(queue, call, events);
  if (!possible) return possible;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return opencl_status("clEnqueueMarkerWithWaitList", error);
  }
  const bool at_once = kernels.size() == 1 && problem.batch <= workspace.products;
  Status status = at_once ? enqueue_one(queue, call, events) : enqueue_all(queue, call, events);
  if (status && calls) calls->fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace clbake
