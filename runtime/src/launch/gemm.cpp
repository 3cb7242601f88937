#include "launch/gemm.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>

#include "launch/aliasing.hpp"
#include "launch/call_checks.hpp"
#include "select/problem.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace clbake {

namespace {

// Where the caller's matrix begins or, of a complex product, its copy, which begins with product number `first` of the
// batch: the offset, which may be "negative", takes the kernel there.
cl_ulong start(const Matrix& matrix, std::size_t stride, const cl::Buffer& copy, std::size_t first) {
  return copy() ? 0 - cl_ulong{first} * stride : matrix.offset;
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Columns and rows of the grid that a launch has to cover, in elements.
std::pair<std::size_t, std::size_t> covered(cache::Role role, std::size_t m, std::size_t n, const Workspace& w) {
  if (role == cache::Role::pack_a) return {w.padded_m, w.padded_k};
  if (role == cache::Role::pack_b) return {w.padded_n, w.padded_k};
  if (role == cache::Role::reduce) return {m * n, 1};
  return {n, m};
}

// The contract's number `steps` (ACTIVATION and the bits below it in common.cl).
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
  return state_->last_queue != queue && state_->latest_running();
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
  gemm->extents = clbake::extents(complex ? complex->problem : problem);
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
  gemm->each_has_event = each_has_event;
  gemm->ends_with_event = ends_with_event;
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
  set.assign(kernels.size(), HeldArguments());
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
    if (overlap(operand_a(p, call.a.offset), operand_c(p, c))) return shares(exchanged ? "B" : "A");
    apart_a = a_starts;
  }
  const std::array<std::size_t, 2> b_starts{call.b.offset, c};
  if (call.b.buffer == call.c.buffer && apart_b != b_starts) {
    if (overlap(operand_b(p, call.b.offset), operand_c(p, c))) return shares(exchanged ? "A" : "B");
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
    if (!same && overlap(operand_d(problem, d_starts[0]), operand_c(problem, c))) {
      return {Argument::d_alias, "C and D share elements of one buffer, but are not the same matrix"};
    }
    apart_d = d_starts;
  }
  const std::array<std::size_t, 2> bias_starts{call.more.bias.offset, c};
  if (extents.bias > 0 && call.more.bias.buffer == call.c.buffer && apart_bias != bias_starts) {
    if (overlap(operand_bias(problem, bias_starts[0]), operand_c(problem, c))) {
      return {Argument::bias_alias, "C and the bias share elements of one buffer"};
    }
    apart_bias = bias_starts;
  }
  return {};
}

std::size_t Gemm::State::rows_of(const Call& call) const {
  return std::min(workspace.rows, problem.m - call.first_row);
}

KernelNumbers Gemm::State::numbers_of(const Call& call, std::size_t first_product) const {
  const Problem& p = problem;
  const Epilogue& e = p.epilogue;
  const std::size_t row = call.first_row;
  const auto number = [](std::size_t value) { return static_cast<cl_int>(value); };
  KernelNumbers x{};
  x.a_offset = start(call.a, p.a_stride, workspace.copy_a, first_product) + row * (p.trans_a ? 1 : p.lda);
  x.b_offset = start(call.b, p.b_stride, workspace.copy_b, first_product);
  x.c_offset = call.c.offset + row * p.ldc;
  x.a_stride = p.a_stride;
  x.b_stride = p.b_stride;
  x.c_stride = p.c_stride;
  x.m = number(rows_of(call));
  x.n = number(p.n);
  x.k = number(call.reads_operands ? p.k : 0);
  x.lda = number(p.lda);
  x.ldb = number(p.ldb);
  x.ldc = number(p.ldc);
  x.first_product = number(first_product);
  x.steps = number(steps_of(e, call.reads_d));
  if (extents.bias > 0) {
    x.bias_offset = call.more.bias.offset + (e.bias == Bias::per_row ? row : 0);
    x.bias_stride = e.bias_stride;
  }
  if (call.reads_d) {
    x.d_offset = call.more.d.offset + row * e.ldd;
    x.d_stride = e.d_stride;
    x.ldd = number(e.ldd);
  }
  return x;
}

// alpha, beta, and the bounds of a clamp.
std::array<double, 4> Gemm::State::scalars_of(const Call& call) const {
  const Epilogue& e = problem.epilogue;
  const bool clamps = e.activation == Activation::clamp;
  const bool relu = e.activation == Activation::relu;
  return {call.alpha, call.beta, clamps ? e.low : 0,
          clamps ? e.high
          : relu ? std::numeric_limits<double>::infinity()
                 : 0};
}

// Of the products of one launch; without a tail unless split_k is 0.
Tail Gemm::State::tail_of_launch(const Call& call, std::size_t products) const {
  const cache::Variant& v = program->variant;
  if (v.split_k != 0) return {};
  const std::size_t tiles = tiles_of(v, rows_of(call), problem.n) * products;
  return tail_of(tiles, workspace.units, call.reads_operands ? problem.k : 0, v.block_k);
}

// The last one, the reduction, only where k is cut.
std::size_t Gemm::State::launches_with(const Tail& tail) const {
  const bool reduces = program->variant.split_k != 0 || tail.slices > 1;
  return kernels.size() - (reduces ? 0 : 1);
}

cl_int Gemm::State::set_arguments(std::size_t launch, const Call& call, std::size_t first_product, const Tail& tail) {
  const Workspace& w = workspace;
  const bool cuts_tail = program->variant.split_k == 0;
  const std::array<cl_int, 2> cut{static_cast<cl_int>(tail.whole), static_cast<cl_int>(tail.slices)};
  // Operands that are not read may be null; the kernel gets another buffer in their place.
  const cl_mem a = !call.reads_operands ? call.c.buffer : w.copy_a() ? w.copy_a() : call.a.buffer;
  const cl_mem b = !call.reads_operands ? call.c.buffer : w.copy_b() ? w.copy_b() : call.b.buffer;
  Arguments arguments(kernels[launch](), set[launch]);
  const cache::Role role = program->variant.launches[launch].role;
  switch (role) {
    case cache::Role::pack_a: arguments.memory(a).memory(w.a()); break;
    case cache::Role::pack_b: arguments.memory(b).memory(w.b()); break;
    case cache::Role::gemm:
      arguments.memory(w.a() ? w.a() : a).memory(w.b() ? w.b() : b);
      arguments.memory(program->variant.split_k > 1 ? w.partials() : call.c.buffer);
      if (cuts_tail) arguments.memory(w.partials()).number(cut);
      break;
    case cache::Role::reduce:
      arguments.memory(w.partials()).memory(call.c.buffer);
      if (cuts_tail) arguments.number(cut);
      break;
    case cache::Role::kernel: break;  // of an application's program, which is no product
  }
  arguments.memory(offsets());
  const bool computes_c = role == cache::Role::gemm || role == cache::Role::reduce;
  if (computes_c) {
    arguments.memory(extents.bias > 0 ? call.more.bias.buffer : nullptr);
    arguments.memory(call.reads_d ? call.more.d.buffer : nullptr);
  }
  arguments.number(numbers_of(call, first_product));
  if (computes_c) arguments.reals(scalars_of(call), problem.precision);
  return arguments.error();
}

cl_int Gemm::State::launch(std::size_t index, cl_command_queue queue, const Call& call, std::size_t products,
                           const Tail& tail, const Events& events) {
  const cache::Launch& launch = program->variant.launches[index];
  const auto [columns, rows] = covered(launch.role, rows_of(call), problem.n, workspace);
  const std::size_t slices = launch.role == cache::Role::gemm ? program->variant.split_k : 1;
  const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
  std::size_t groups[3] = {ceil_div(columns, launch.tile_n),
                           std::min(ceil_div(rows, launch.tile_m), kMaxGroups),  // packing goes on by itself
                           products * slices};
  if (program->variant.split_k == 0 && launch.role == cache::Role::gemm) {
    groups[0] = tail.whole + tail.parts();
    groups[1] = groups[2] = 1;
  }
  if (program->variant.split_k == 0 && launch.role == cache::Role::reduce) {
    const cache::Launch& product = product_launch(program->variant);
    groups[0] = ceil_div(std::size_t{product.tile_m} * product.tile_n, launch.tile_n);
    groups[1] = tail.tiles;
    groups[2] = 1;
  }
  const std::size_t global[3] = {groups[0] * local[0], groups[1] * local[1], groups[2] * local[2]};
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
    const bool is_wide = launch.role == cache::Role::reduce && program->variant.split_k > 0;
    if (!is_wide || error != CL_SUCCESS) continue;
    const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
    const std::size_t global[3] = {ceil_div(elements, launch.tile_n) * local[0], local[1], local[2]};
    error = clEnqueueNDRangeKernel(queue, kernels[i](), 3, nullptr, global, local, 0, nullptr, nullptr);
  }
  return error;
}

}  // namespace clbake
