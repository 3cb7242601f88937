#include "launch/prepared_gemm.hpp"

#include <clbake/joined.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace clbake {
namespace {

bool is_whole(double x) { return x == std::floor(x) && x >= -0x1p31 && x < 0x1p31; }

bool equal(const Scalars& x, const Scalars& y) { return x.alpha == y.alpha && x.beta == y.beta; }

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

Result<std::unique_ptr<PreparedGemm>> PreparedGemm::create(std::shared_ptr<const Parts> parts) {
  std::unique_ptr<PreparedGemm> made(new PreparedGemm(std::move(parts)));
  PreparedGemm& g = *made;
  const Program* const complex = g.parts_->found.complex.get();
  const std::size_t items = complex && !complex->variant.launches.empty() ? complex->variant.launches[0].local[0] : 1;
  Result<LaunchPlan> plan =
      plan_launches(g.parts_->problem, g.program().variant, g.parts_->limits, items, g.parts_->group.get());
  if (!plan) return plan.status();
  g.plan_ = std::move(*plan);
  g.checks_ = OperandChecks(g.plan_.stated, g.parts_->layout);
  Status status = g.create_kernels();
  if (status) status = g.create_offsets();
  if (!status) return status;
  const cache::Variant& variant = g.program().variant;
  if (variant.image_a) status = create_image(g.parts_->context, g.plan_, g.plan_.padded_m, g.workspace_[0]);
  if (status && variant.image_b) status = create_image(g.parts_->context, g.plan_, g.plan_.padded_n, g.workspace_[1]);
  if (status && !g.parts_->caller_workspace) status = g.create_workspace(nullptr, 0);
  if (!status) return status.within(variant.name);
  return made;
}

Result<std::unique_ptr<PreparedGemm>> PreparedGemm::clone() const {
  const auto parts = std::make_shared<Parts>(*parts_);
  parts->found.explanation.loaded = true;
  parts->caller_workspace = false;
  return create(parts);
}

Status PreparedGemm::create_kernel(std::size_t number, cl::Kernel& kernel) const {
  const PlannedKernel& planned = plan_.kernels[number];
  const Program& from = number < program().variant.launches.size() ? program() : *parts_->found.complex;
  const auto& launches = from.variant.launches;
  const auto launch = std::find_if(launches.begin(), launches.end(), [&](const cache::Launch& l) {
    return l.kernel_name == planned.name && std::equal(l.local, l.local + 3, planned.local.begin());
  });
  if (launch == launches.end()) {
    return {Code::malformed, joined({"program ", from.variant.name, " lacks kernel ", planned.name})};
  }
  cl_int error = CL_SUCCESS;
  kernel = cl::Kernel(clCreateKernel(from.program(), launch->kernel_name.c_str(), &error));
  return opencl_status("clCreateKernel", error_of(kernel, error));
}

Status PreparedGemm::create_kernels() {
  kernels_.resize(plan_.kernels.size());
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (Status made = create_kernel(i, kernels_[i].object); !made) return made;
  }
  return {};
}

Status PreparedGemm::create_offsets() {
  const Problem& p = plan_.stated;
  cl_int error = CL_SUCCESS;
  if (!plan_.group.members.empty()) {
    offsets_ = cl::Memory(clCreateBuffer(parts_->context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                         plan_.group.members.size() * sizeof plan_.group.members[0],
                                         plan_.group.members.data(), &error));
    return opencl_status("clCreateBuffer", error_of(offsets_, error));
  }
  if (p.offsets.empty()) return {};
  // place(i) makes the three numbers of product i.
  const auto buffer_of = [&](const auto& place) {
    std::vector<cl_ulong> numbers;
    numbers.reserve(3 * p.offsets.size());
    for (std::size_t i = 0; i < p.offsets.size(); ++i) {
      const std::array<cl_ulong, 3> of_product = place(i);
      numbers.insert(numbers.end(), of_product.begin(), of_product.end());
    }
    cl::Memory buffer(clCreateBuffer(parts_->context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                     numbers.size() * sizeof numbers[0], numbers.data(), &error));
    error = error_of(buffer, error);
    return buffer;
  };
  const auto as_stated = [&](std::size_t i) {
    return std::array<cl_ulong, 3>{p.offsets[i].a, p.offsets[i].b, p.offsets[i].c};
  };
  const bool copied = plan_.bytes_of(Value::copy_a) > 0;
  const auto in_reals = [&](std::size_t i) {
    return std::array<cl_ulong, 3>{copied ? i * plan_.real.a_stride : 2 * p.offsets[i].a, i * plan_.real.b_stride,
                                   2 * p.offsets[i].c};
  };
  if (is_complex(p.precision)) complex_offsets_ = buffer_of(as_stated);
  if (error == CL_SUCCESS) offsets_ = is_complex(p.precision) ? buffer_of(in_reals) : buffer_of(as_stated);
  return opencl_status("clCreateBuffer", error);
}

Status PreparedGemm::use_workspace(cl_mem buffer, std::size_t offset) {
  const std::size_t bytes = plan_.workspace_bytes();
  if (bytes == 0) return {};
  if (offset % plan_.limits.alignment != 0) {
    return {Argument::workspace, joined({"the workspace's offset of ", offset, " bytes is no multiple of the device's ",
                                         plan_.limits.alignment})};
  }
  const Status fits = check_buffer(kWorkspace, {buffer, offset}, parts_->context, bytes, 1);
  return fits ? create_workspace(buffer, offset) : fits;
}

// The buffers: new ones, or sub-buffers of `memory`, from `offset` bytes on. A failure leaves the workspace as it was.
Status PreparedGemm::create_workspace(cl_mem memory, std::size_t offset) {
  std::array<cl::Memory, kWorkspaceParts> made = workspace_;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const cl_buffer_region region{offset, plan_.bytes[i]};
    if (region.size == 0) continue;
    cl_int error = CL_SUCCESS;
    made[i] =
        cl::Memory(memory ? clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error)
                          : clCreateBuffer(parts_->context(), CL_MEM_READ_WRITE, region.size, nullptr, &error));
    error = error_of(made[i], error);
    if (error != CL_SUCCESS) return opencl_status(memory ? "clCreateSubBuffer" : "clCreateBuffer", error);
    offset += round_up(region.size, plan_.limits.alignment);
  }
  workspace_ = std::move(made);
  return {};
}

bool PreparedGemm::has_workspace() const {
  for (std::size_t i = 0; i < workspace_.size(); ++i) {
    if (plan_.bytes[i] > 0 && !workspace_[i]()) return false;
  }
  return true;
}

// Sets what any of the products reads.
Status PreparedGemm::check_scalars(const ScalarList& scalars, Call& call) const {
  const bool complex = is_complex(plan_.stated.precision);
  const bool whole = element_c(plan_.stated.precision) == Element::int32;
  bool reads_operands = false;
  bool reads_d = false;
  for (std::size_t i = 0; i < scalars.count; ++i) {
    const Scalars& s = scalars.first[i];
    if (!complex && s.alpha.imag() != 0) return {Argument::alpha, "alpha is complex, the problem is not"};
    if (!complex && s.beta.imag() != 0) return {Argument::beta, "beta is complex, the problem is not"};
    if (whole && !is_whole(s.alpha.real())) return {Argument::alpha, "alpha is no whole number of 32 bits, C is int32"};
    if (whole && !is_whole(s.beta.real())) return {Argument::beta, "beta is no whole number of 32 bits, C is int32"};
    set_scalars(plan_, s, call);
    reads_operands = reads_operands || call.reads_operands;
    reads_d = reads_d || call.reads_d;
  }
  call.reads_operands = reads_operands;
  call.reads_d = reads_d;
  return {};
}

// As the caller gave it, but for a column-major problem's exchange.
Call PreparedGemm::call_of(Matrix a, Matrix b, Matrix c, const EpilogueBuffers& more) const {
  Call call;
  call.a = a;
  call.b = b;
  call.c = c;
  call.more = more;
  if (parts_->layout == Layout::column_major) {
    std::swap(call.a, call.b);
    std::swap(call.more.row_scales, call.more.column_scales);
  }
  const std::size_t offsets = a.offset | b.offset | c.offset | more.bias.offset | more.d.offset |
                              more.row_scales.offset | more.column_scales.offset;
  if ((offsets & (Matrix::svm_flag | Matrix::usm_flag)) == 0) return call;
  const auto take_flags = [&](Value value, Matrix& matrix) {
    if (matrix.offset & Matrix::svm_flag) {
      call.svm |= bit_of(value);
    } else if (matrix.offset & Matrix::usm_flag) {
      call.usm |= bit_of(value);
    }
    matrix.offset &= Matrix::usm_flag - 1;
  };
  take_flags(Value::a, call.a);
  take_flags(Value::b, call.b);
  take_flags(Value::c, call.c);
  take_flags(Value::bias, call.more.bias);
  take_flags(Value::d, call.more.d);
  take_flags(Value::row_scales, call.more.row_scales);
  take_flags(Value::column_scales, call.more.column_scales);
  return call;
}

Status PreparedGemm::check_call(cl_command_queue queue, const Call& call, const Events& events) {
  Status status = check_queue(queue, parts_->context, parts_->device);
  if (status && !has_workspace()) status = {Argument::workspace, kNoWorkspace};
  if (status) status = check_wait_list(events.wait_count, events.wait_list);
  return status ? checks_.check(parts_->context, parts_->device, call) : status;
}

// The plan's, or others, as products with different scalars share no launch, and alpha = 0 reads no operands.
const std::vector<Step>& PreparedGemm::steps_of(const ScalarList& scalars, const Call& call) {
  const bool as_planned = scalars.count == 1 && call.reads_operands == (plan_.real.k > 0);
  if (as_planned || plan_.variant->is_group()) return plan_.steps;
  other_steps_.clear();
  for (std::size_t first = 0, end = 0; first < batch(); first = end) {
    end = scalars.count == 1 ? batch() : first + 1;
    while (end < batch() && equal(scalars.first[end], scalars.first[first])) ++end;
    Call run;
    set_scalars(plan_, scalars.first[first], run);
    append_steps(plan_, first, end - first, run.reads_operands, other_steps_);
  }
  return other_steps_;
}

// Sets the scalars of the step's products where there is a list; check_scalars has set a single pair.
bool PreparedGemm::selects(const Step& step, const ScalarList& scalars, Call& call) const {
  if (scalars.count > 1) set_scalars(plan_, scalars.first[step.part.first_product], call);
  switch (step.when) {
    case When::always: break;
    case When::beta_is_complex: return call.complex_beta != 1.0;
    case When::beta_is_not_one: return call.beta != 1;
  }
  return true;
}

// Operands that are not read may be null; the kernel gets another buffer in their place.
MemoryArguments PreparedGemm::memory_of(const Call& call) const {
  MemoryArguments memory;
  const auto at = [&](Value value) -> cl_mem& { return memory.at[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < workspace_.size(); ++i) memory.at[i] = workspace_[i]();
  at(Value::a) = call.reads_operands ? call.a.buffer : call.c.buffer;
  at(Value::b) = call.reads_operands ? call.b.buffer : call.c.buffer;
  at(Value::c) = call.c.buffer;
  if (plan_.stated.epilogue.bias != Bias::none) at(Value::bias) = call.more.bias.buffer;
  if (call.reads_d) at(Value::d) = call.more.d.buffer;
  if (plan_.stated.quantization.row_scales) at(Value::row_scales) = call.more.row_scales.buffer;
  if (plan_.stated.quantization.column_scales) at(Value::column_scales) = call.more.column_scales.buffer;
  at(Value::offsets) = plan_.group.counted ? call.counts.buffer : offsets_();
  at(Value::complex_offsets) = complex_offsets_();
  if ((call.svm | call.usm) == 0) return memory;
  const auto kinds = [&](std::uint32_t bits) {
    constexpr std::uint32_t operands = bit_of(Value::a) | bit_of(Value::b);
    return call.reads_operands ? bits : (bits & bit_of(Value::c)) != 0 ? bits | operands : bits & ~operands;
  };
  memory.svm = kinds(call.svm);
  memory.usm = kinds(call.usm);
  memory.set_svm = svm_setter();
  memory.set_usm = checks_.usm().set;
  return memory;
}

cl_int PreparedGemm::set_arguments_of(const Step& step, const Call& call) {
  Kernel& kernel = kernels_[step.kernel];
  return set_arguments(kernel.object(), kernel.held, plan_, step, call, memory_of(call));
}

cl_int PreparedGemm::launch(cl_command_queue queue, const Step& step, const Events& events) {
  const std::array<std::size_t, 3>& local = plan_.kernels[step.kernel].local;
  const std::size_t global[3] = {step.groups[0] * local[0], step.groups[1] * local[1], step.groups[2] * local[2]};
  return with_event(queue, events.event,
                    clEnqueueNDRangeKernel(queue, kernels_[step.kernel].object(), 3, nullptr, global, local.data(),
                                           events.wait_count, events.wait_list, events.event));
}

Status PreparedGemm::walk_chained(cl_command_queue queue, const std::vector<Step>& steps, const ScalarList& scalars,
                                  Call& call) {
  for (const Step& step : steps) {
    if (!selects(step, scalars, call)) continue;
    const cl_int error = set_arguments_of(step, call);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    if (const Status status = chain_.launched(launch(queue, step, chain_.next())); !status) return status;
  }
  return {};
}

Status PreparedGemm::walk(cl_command_queue queue, const std::vector<Step>& steps, const ScalarList& scalars, Call& call,
                          const Events& events) {
  const auto launches = static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return selects(step, scalars, call); }));
  if (launches == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return opencl_status("clEnqueueMarkerWithWaitList", error);
  }
  if (launches == 1) {  // uses no workspace: nothing to order
    const Step& only =
        *std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return selects(step, scalars, call); });
    const cl_int error = set_arguments_of(only, call);
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    return opencl_status("clEnqueueNDRangeKernel", launch(queue, only, events));
  }
  Status status = chain_.begin(queue, events, launches);
  if (status) status = walk_chained(queue, steps, scalars, call);
  chain_.end(status);
  return status;
}

Status PreparedGemm::enqueue(cl_command_queue queue, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                             const EpilogueBuffers& more, Events events, Matrix counts) {
  if (events.wait_count == 0) events.wait_list = nullptr;
  Call call = call_of(a, b, c, more);
  call.counts = counts;
  if (scalars.is_list && plan_.variant->is_group()) {
    return {Argument::scalars, "a variant for groups takes one alpha and beta for all products"};
  }
  if (scalars.is_list && scalars.count != batch()) {
    return {Argument::scalars, joined({"there are scalars for ", scalars.count, " products, batch is ", batch()})};
  }
  Status status = check_scalars(scalars, call);
  if (status) status = check_call(queue, call, events);
  if (status) status = walk(queue, steps_of(scalars, call), scalars, call, events);
  if (status && parts_->calls) parts_->calls->fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace clbake
