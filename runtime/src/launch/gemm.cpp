#include "launch/gemm.hpp"

#include <clbake/exceptions_to_status.hpp>

#include "launch/aliasing.hpp"
#include "launch/call_checks.hpp"
#include "select/problem.hpp"

#include <algorithm>
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

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Columns and rows of the grid that a launch has to cover, in elements.
std::pair<std::size_t, std::size_t> covered(cache::Role role, std::size_t m, std::size_t n, const Workspace& w) {
  if (role == cache::Role::pack_a) return {w.padded_m, w.padded_k};
  if (role == cache::Role::pack_b) return {w.padded_n, w.padded_k};
  if (role == cache::Role::reduce) return {m * n, 1};
  return {n, m};
}

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
  const std::size_t bias_offset = bias.offset + (has_bias && e.bias == Bias::per_row ? call.first_row : 0);
  const std::size_t d_offset = d.offset + (reads_d ? call.first_row * e.ldd : 0);
  arguments.numbers<cl_ulong>({bias_offset, has_bias ? e.bias_stride : 0, d_offset, reads_d ? e.d_stride : 0});
}

std::size_t Gemm::State::rows_of(const Call& call) const {
  return std::min(workspace.rows, problem.m - call.first_row);
}

cl_int Gemm::State::set_arguments(std::size_t launch, const Call& call, std::size_t first_product) {
  const Problem& p = problem;
  const Workspace& w = workspace;
  const bool split = program->variant.split_k > 1;
  const std::size_t m = rows_of(call);
  const std::size_t padded_m = ceil_div(m, program->variant.block_m) * program->variant.block_m;
  const Matrix c{call.c.buffer, call.c.offset + call.first_row * p.ldc};
  // Operands that are not read may be null; the kernel gets another buffer in their place.
  Operand a = source(call.reads_operands ? call.a : c, p.lda, p.a_stride, w.copy_a, first_product);
  a.offset += call.first_row * (p.trans_a ? 1 : p.lda);
  const Operand b = source(call.reads_operands ? call.b : c, p.ldb, p.b_stride, w.copy_b, first_product);
  Arguments arguments(kernels[launch](), set[launch]);
  switch (program->variant.launches[launch].role) {
    case cache::Role::pack_a:
      arguments.size(m).size(p.k).memory(a.memory).distance(a.offset).size(a.ld).distance(a.stride);
      arguments.memory(offsets()).size(first_product).memory(w.a()).distance(padded_m * w.padded_k);
      break;
    case cache::Role::pack_b:
      arguments.size(p.n).size(p.k).memory(b.memory).distance(b.offset).size(b.ld).distance(b.stride);
      arguments.memory(offsets()).size(first_product).memory(w.b()).distance(w.padded_n * w.padded_k);
      break;
    case cache::Role::gemm: {
      const Operand left = packed_or(a, w.a, padded_m, w.padded_k);
      const Operand right = packed_or(b, w.b, w.padded_n, w.padded_k);
      // Partial sums are plain products; the reduction applies alpha and beta.
      arguments.size(m).size(p.n).size(call.reads_operands ? p.k : 0);
      arguments.real(split && call.reads_operands ? 1 : call.alpha, p.precision);
      arguments.memory(left.memory).distance(left.offset).size(left.ld);
      arguments.memory(right.memory).distance(right.offset).size(right.ld);
      arguments.real(split ? 0 : call.beta, p.precision);
      arguments.memory(split ? w.partials() : c.buffer).distance(split ? 0 : c.offset).size(split ? p.n : p.ldc);
      arguments.distance(left.stride).distance(right.stride).distance(split ? m * p.n : p.c_stride);
      arguments.memory(offsets()).size(first_product);
      set_epilogue(arguments, call, !split);
      break;
    }
    case cache::Role::reduce:
      arguments.size(m).size(p.n).real(call.alpha, p.precision).memory(w.partials()).distance(m * p.n);
      arguments.real(call.beta, p.precision).memory(c.buffer).distance(c.offset).size(p.ldc).distance(p.c_stride);
      arguments.memory(offsets()).size(first_product);
      set_epilogue(arguments, call, true);
      break;
    case cache::Role::kernel: break;  // of an application's program, which is no product
  }
  return arguments.error();
}

cl_int Gemm::State::launch(std::size_t index, cl_command_queue queue, const Call& call, std::size_t products,
                           const Events& events) {
  const cache::Launch& launch = program->variant.launches[index];
  const auto [columns, rows] = covered(launch.role, rows_of(call), problem.n, workspace);
  const std::size_t slices = launch.role == cache::Role::gemm ? program->variant.split_k : 1;
  const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
  // A packing kernel covers all rows with any grid; one of an early bundle, with squares of 16 x 16, only with a whole
  // one.
  const std::size_t most = launch.tile_m > 16 ? kMaxGroups : SIZE_MAX;
  const std::size_t groups_in_y = std::min(ceil_div(rows, launch.tile_m), most);
  const std::size_t global[3] = {ceil_div(columns, launch.tile_n) * local[0], groups_in_y * local[1],
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

}  // namespace clbake
