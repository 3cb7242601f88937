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

namespace {

// An operand as a kernel reads it: the caller's matrix, or a copy of it.
struct Operand {
  cl_mem memory;
  cl_ulong offset;
  std::size_t ld;
  std::size_t stride;
};

// The caller's matrix or, of a complex product, its copy, which begins with product number `first` of the batch: the
// offset, which may be "negative", takes the kernel there.
Operand source(const Matrix& matrix, std::size_t ld, std::size_t stride, const cl::Buffer& copy, std::size_t first) {
  if (!copy()) return {matrix.buffer, matrix.offset, ld, stride};
  return {copy(), 0 - cl_ulong{first} * stride, ld, stride};
}

Operand packed_or(const Operand& source, const cl::Memory& packed, std::size_t width, std::size_t depth) {
  if (!packed()) return source;
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

// The error of an enqueue that should have made an event.
cl_int with_event(cl_command_queue queue, const cl_event* event, cl_int error) {
  if (error != CL_SUCCESS || !event || *event) return error;
  clFinish(queue);  // success without an event: nothing could wait for what runs now
  return CL_INVALID_EVENT;
}

bool is_pack(cache::Role role) { return role == cache::Role::pack_a || role == cache::Role::pack_b; }

bool equal(const Scalars& x, const Scalars& y) { return x.alpha == y.alpha && x.beta == y.beta; }

std::complex<double> rounded(std::complex<double> value, Precision precision) {
  if (real_precision(precision) == Precision::double_precision) return value;
  return std::complex<float>(value);
}

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

Status Gemm::enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta,
                     Matrix c, cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  return enqueue(queue, alpha, a, b, beta, c, EpilogueBuffers(), wait_count, wait_list, event);
}

Status Gemm::enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta,
                     Matrix c, const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list,
                     cl_event* event) {
  if (!state_) return moved_from();
  return exceptions_to_status([&] {
    const Scalars scalars{alpha, beta};
    return state_->enqueue(queue, {&scalars, 1}, a, b, c, more,
                           {wait_count, wait_count > 0 ? wait_list : nullptr, event});
  });
}

Status Gemm::enqueue(cl_command_queue queue, const std::vector<Scalars>& each, Matrix a, Matrix b, Matrix c,
                     const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  if (!state_) return moved_from();
  if (each.size() != state_->problem.batch) {
    return {Argument::scalars, "there are scalars for " + std::to_string(each.size()) + " products, batch is " +
                                   std::to_string(state_->problem.batch)};
  }
  return exceptions_to_status([&] {
    return state_->enqueue(queue, {each.data(), each.size()}, a, b, c, more,
                           {wait_count, wait_count > 0 ? wait_list : nullptr, event});
  });
}

Result<Gemm> Gemm::State::create(const cl::Context& context, const cl::Device& device, Found found,
                                 const Problem& problem, Layout layout, bool caller_workspace, std::uint64_t epoch,
                                 const std::optional<ComplexPart>& complex) {
  auto gemm = std::make_unique<Gemm::State>();
  gemm->program = std::move(found.program);
  gemm->explanation = std::move(found.explanation);
  gemm->context = context;
  gemm->device = device;
  gemm->epoch = epoch;
  gemm->layout = layout;
  gemm->problem = problem;
  gemm->extents = row_major_extents(complex ? complex->problem : problem);
  cl_uint bits = 0;
  const cl_int error = device.getInfo(CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits);
  if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
  gemm->alignment = std::max<std::size_t>(bits / 8, 1);
  const cache::Variant& variant = gemm->program->variant;
  Status status = gemm->create_kernels();
  if (status && complex) status = gemm->create_complex(*complex);
  if (status) status = gemm->create_offsets();
  if (!status) return status;
  Result<Workspace> workspace = size_workspace(device, variant, gemm->problem, complex ? &complex->problem : nullptr);
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
  gemm->stated_offsets = stated_offsets;
  gemm->epoch = epoch;
  gemm->calls = calls;
  gemm->workspace = workspace;
  gemm->workspace.a = gemm->workspace.b = cl::Memory();
  gemm->workspace.partials = gemm->workspace.copy_a = gemm->workspace.copy_b = cl::Buffer();
  Status status = gemm->create_kernels();
  if (status && complex) status = gemm->create_complex({complex->program(), complex->problem()});
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
         there(workspace.partials_bytes, workspace.partials) && there(workspace.copy_a_bytes, workspace.copy_a) &&
         there(workspace.copy_b_bytes, workspace.copy_b);
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

Status Gemm::State::create_complex(const ComplexPart& part) {
  Result<ComplexKernels> made = ComplexKernels::create(part.program, part.problem);
  if (made) complex.emplace(std::move(*made));
  return made.status();
}

Status Gemm::State::create_offsets() {
  const Problem& p = stated();
  if (p.offsets.empty()) return {};
  cl_int error = CL_SUCCESS;
  // `place` makes the three numbers of product i.
  const auto buffer_of = [&](const auto& place) {
    std::vector<cl_ulong> numbers;
    numbers.reserve(3 * p.offsets.size());
    for (std::size_t i = 0; i < p.offsets.size(); ++i) {
      const std::array<cl_ulong, 3> of_product = place(i, p.offsets[i]);
      numbers.insert(numbers.end(), of_product.begin(), of_product.end());
    }
    cl::Buffer buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, numbers.size() * sizeof numbers[0],
                      numbers.data(), &error);
    error = error_of(buffer, error);
    return buffer;
  };
  cl::Buffer as_stated = buffer_of([](std::size_t, const BatchOffsets& product) {
    return std::array<cl_ulong, 3>{product.a, product.b, product.c};
  });
  if (error == CL_SUCCESS && complex) {
    const bool copied = copies_a(p);
    offsets = buffer_of([&](std::size_t i, const BatchOffsets& product) {
      return std::array<cl_ulong, 3>{copied ? cl_ulong{i} * problem.a_stride : 2 * cl_ulong{product.a},
                                     cl_ulong{i} * problem.b_stride, 2 * cl_ulong{product.c}};
    });
  }
  (complex ? stated_offsets : offsets) = std::move(as_stated);
  return opencl_status("clCreateBuffer", error);
}

Status Gemm::State::check_call(cl_command_queue queue, const Call& call, const Events& events) {
  Status status = check_queue(queue, context, device);
  if (status && !has_workspace()) status = {Argument::workspace, "no workspace: call use_workspace first"};
  if (status) status = check_wait_list(events.wait_count, events.wait_list);
  if (!status || problem.m == 0 || problem.n == 0 || problem.batch == 0) return status;
  const std::size_t bytes = element_bytes(stated().precision);
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
  const Problem& p = stated();
  const auto shares = [&](const char* name) {
    return Status(Argument::c_alias,
                  std::string("C and ") + name + " share elements of one buffer, or interleave over millions of rows");
  };
  const bool exchanged = layout == Layout::column_major;
  const std::array<std::size_t, 2> a_starts{call.a.offset, c};
  if (call.a.buffer == call.c.buffer && apart_a != a_starts) {
    if (overlap(region_of_a(p, call.a.offset), region_of_c(p, c))) return shares(exchanged ? "B" : "A");
    apart_a = a_starts;
  }
  const std::array<std::size_t, 2> b_starts{call.b.offset, c};
  if (call.b.buffer == call.c.buffer && apart_b != b_starts) {
    if (overlap(region_of_b(p, call.b.offset), region_of_c(p, c))) return shares(exchanged ? "A" : "B");
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
  arguments.real2(low, high, problem.precision);
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
  // Operands that are not read may be null; the kernel gets another buffer in their place.
  const Operand a = source(call.reads_operands ? call.a : c, p.lda, p.a_stride, w.copy_a, first_product);
  const Operand b = source(call.reads_operands ? call.b : c, p.ldb, p.b_stride, w.copy_b, first_product);
  Arguments arguments(kernels[launch](), set[launch]);
  switch (program->variant.launches[launch].role) {
    case cache::Role::pack_a:
      arguments.size(p.m).size(p.k).memory(a.memory).distance(a.offset).size(a.ld).distance(a.stride);
      arguments.memory(offsets()).size(first_product).memory(w.a()).distance(w.padded_m * w.padded_k);
      break;
    case cache::Role::pack_b:
      arguments.size(p.n).size(p.k).memory(b.memory).distance(b.offset).size(b.ld).distance(b.stride);
      arguments.memory(offsets()).size(first_product).memory(w.b()).distance(w.padded_n * w.padded_k);
      break;
    case cache::Role::gemm: {
      const Operand left = packed_or(a, w.a, w.padded_m, w.padded_k);
      const Operand right = packed_or(b, w.b, w.padded_n, w.padded_k);
      // Partial sums are plain products; the reduction applies alpha and beta.
      arguments.size(p.m).size(p.n).size(call.reads_operands ? p.k : 0);
      arguments.real(split && call.reads_operands ? 1 : call.alpha, p.precision);
      arguments.memory(left.memory).distance(left.offset).size(left.ld);
      arguments.memory(right.memory).distance(right.offset).size(right.ld);
      arguments.real(split ? 0 : call.beta, p.precision);
      arguments.memory(split ? w.partials() : c.buffer).distance(split ? 0 : c.offset).size(split ? p.n : p.ldc);
      arguments.distance(left.stride).distance(right.stride).distance(split ? p.m * p.n : p.c_stride);
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
  return with_event(queue, events.event,
                    clEnqueueNDRangeKernel(queue, kernels[index](), 3, nullptr, global, local, events.wait_count,
                                           events.wait_list, events.event));
}

// In the order of the stated problem's elements, which are complex.
cl_int Gemm::State::set_complex(ComplexKernels::Which which, const Call& call, std::size_t first_product) {
  const auto stated_matrix = [](const Matrix& m) { return Matrix{m.buffer, m.offset / 2}; };
  const Workspace& w = workspace;
  const cl_mem places = stated_offsets();
  switch (which) {
    case ComplexKernels::kCopyA:
      return complex->copy_a({stated_matrix(call.a), w.copy_a(), places, first_product}, problem);
    case ComplexKernels::kCopyB:
      return complex->copy_b({stated_matrix(call.b), w.copy_b(), places, first_product}, problem, call.copy_alpha);
    case ComplexKernels::kScaleC: break;
  }
  return complex->scale_c({stated_matrix(call.c), nullptr, places, first_product}, call.scale_beta);
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

// A launch that waits for the one before it, as the queue may be out of order. launch(events) enqueues it.
template <typename Launch>
Status Gemm::State::enqueue_next(cl_command_queue queue, const Launch& launch) {
  cl_event done = nullptr;
  const cl_int error =
      launch(Events{static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), &done});
  if (error != CL_SUCCESS) return opencl_status("clEnqueueNDRangeKernel", error);
  in_flight.emplace_back(done);
  last_queue = queue;
  waits.assign(1, done);
  return {};
}

Status Gemm::State::enqueue_complex(cl_command_queue queue, const Call& call, std::size_t first, std::size_t products) {
  using Kernels = ComplexKernels;
  Status status;
  for (const Kernels::Which which : {Kernels::kScaleC, Kernels::kCopyA, Kernels::kCopyB}) {
    const bool needed = which == Kernels::kScaleC  ? call.scale_beta != 1.0
                        : which == Kernels::kCopyA ? call.reads_operands && workspace.copy_a_bytes > 0
                                                   : call.reads_operands;
    if (!status || !needed) continue;
    const cl_int error = set_complex(which, call, first);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    status = enqueue_next(queue, [&](const Events& e) {
      return with_event(queue, e.event, complex->enqueue(which, queue, products, e.wait_count, e.wait_list, e.event));
    });
  }
  return status;
}

// Of the products from `first` on, as many as the workspace holds.
Status Gemm::State::enqueue_products(cl_command_queue queue, const Call& call, std::size_t first,
                                     std::size_t products) {
  Status status = complex ? enqueue_complex(queue, call, first, products) : Status();
  for (std::size_t i = 0; i < kernels.size() && status; ++i) {
    if (is_pack(program->variant.launches[i].role) && !call.reads_operands) continue;
    const cl_int error = set_arguments(i, call, first);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    status = enqueue_next(queue, [&](const Events& events) { return launch(i, queue, products, events); });
  }
  return status;
}

// The first launch also waits for the latest call, which may use the same workspace on another queue.
Status Gemm::State::enqueue_launches(cl_command_queue queue, Call& call, const ScalarList& scalars,
                                     const Events& events) {
  forget_finished();
  const auto end_of = [&](std::size_t first) {  // of the products from `first` on with equal scalars
    if (scalars.count == 1) return problem.batch;
    std::size_t end = first + 1;
    while (end < problem.batch && equal(scalars.first[end], scalars.first[first])) ++end;
    return end;
  };
  std::size_t parts = 0;
  for (std::size_t first = 0; first < problem.batch; first = end_of(first)) {
    parts += ceil_div(end_of(first) - first, workspace.products);
  }
  const std::size_t launches = parts * (kernels.size() + (complex ? 3 : 0));
  if (in_flight.capacity() < in_flight.size() + launches) in_flight.reserve(2 * in_flight.size() + launches);
  waits.assign(events.wait_list, events.wait_list + events.wait_count);
  if (!in_flight.empty()) waits.push_back(in_flight.back()());
  Status status;
  for (std::size_t first = 0; first < problem.batch && status;) {
    const std::size_t end = end_of(first);
    set_scalars(call, scalars.first[scalars.count == 1 ? 0 : first]);
    for (; first < end && status; first += std::min(workspace.products, end - first)) {
      status = enqueue_products(queue, call, first, std::min(workspace.products, end - first));
    }
  }
  return status;
}

Status Gemm::State::enqueue_all(cl_command_queue queue, Call& call, const ScalarList& scalars, const Events& events) {
  Status status = enqueue_launches(queue, call, scalars, events);
  if (status && events.event) {
    *events.event = in_flight.back()();
    clRetainEvent(*events.event);
  }
  // The next call may wait for this one on another queue, which only a flush of this one allows; also for what was
  // enqueued before a failure.
  clFlush(queue);
  return status;
}

// BLAS: alpha = 0 (as the kernel will see it) does not read A and B, so NaN in them does not spread.
void Gemm::State::set_scalars(Call& call, const Scalars& scalars) const {
  const std::complex<double> alpha = rounded(scalars.alpha, stated().precision);
  const std::complex<double> beta = rounded(scalars.beta, stated().precision);
  call.reads_operands = problem.k > 0 && alpha != 0.0;
  call.reads_d = problem.epilogue.has_d && beta != 0.0;
  call.copy_alpha = alpha.imag() != 0 ? alpha : 1;
  call.scale_beta = beta.imag() != 0 ? beta : 1;
  call.alpha = alpha.imag() != 0 ? 1 : alpha.real();
  call.beta = beta.imag() != 0 ? 1 : beta.real();
  if (!call.reads_operands) call.alpha = 0;  // an infinite alpha times the empty sum would be NaN
}

// Sets what any of the products reads.
Status Gemm::State::check_scalars(const ScalarList& scalars, Call& call) const {
  bool reads_operands = false;
  bool reads_d = false;
  for (std::size_t i = 0; i < scalars.count; ++i) {
    const Scalars& s = scalars.first[i];
    if (!complex && s.alpha.imag() != 0) return {Argument::alpha, "alpha is complex, the problem is not"};
    if (!complex && s.beta.imag() != 0) return {Argument::beta, "beta is complex, the problem is not"};
    set_scalars(call, s);
    reads_operands = reads_operands || call.reads_operands;
    reads_d = reads_d || call.reads_d;
  }
  call.reads_operands = reads_operands;
  call.reads_d = reads_d;
  return {};
}

Status Gemm::State::enqueue(cl_command_queue queue, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                            const EpilogueBuffers& more, const Events& events) {
  if (layout == Layout::column_major) std::swap(a, b);
  Call call;
  call.a = a;
  call.b = b;
  call.c = c;
  call.more = more;
  Status status = check_scalars(scalars, call);
  if (status) status = check_call(queue, call, events);
  if (!status) return status;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return opencl_status("clEnqueueMarkerWithWaitList", error);
  }
  if (complex) {  // from now on in reals
    for (Matrix* const matrix : {&call.a, &call.b, &call.c}) matrix->offset *= 2;
  }
  const bool at_once = kernels.size() == 1 && problem.batch <= workspace.products && scalars.count == 1 && !complex;
  status = at_once ? enqueue_one(queue, call, events) : enqueue_all(queue, call, scalars, events);
  if (status && calls) calls->fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace clbake
