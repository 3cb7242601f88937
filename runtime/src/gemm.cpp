#include "gemm.hpp"

#include <clbake/guard.hpp>

#include "problem.hpp"

#include <utility>

namespace clbake {
namespace {

Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device) {
  if (!queue) return {Code::invalid_argument, "queue is null"};
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context, nullptr);
  if (error == CL_SUCCESS) {
    error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, nullptr);
  }
  if (error != CL_SUCCESS) return {Code::invalid_argument, "queue: " + opencl_error(error)};
  if (queue_context != context()) return {Code::invalid_argument, "queue belongs to another context"};
  if (queue_device != device()) return {Code::invalid_argument, "queue belongs to another device"};
  return {};
}

Status check_buffer(const char* name, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element) {
  if (!matrix.buffer) return {Code::invalid_argument, std::string(name) + ": the buffer is null"};
  std::size_t bytes = 0;
  cl_context owner = nullptr;
  cl_int error = clGetMemObjectInfo(matrix.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr);
  if (error != CL_SUCCESS) return {Code::invalid_argument, std::string(name) + ": " + opencl_error(error)};
  if (owner != context())
    return {Code::invalid_argument, std::string(name) + ": the buffer belongs to another context"};
  const std::size_t elements = bytes / bytes_per_element;
  if (extent <= elements && matrix.offset <= elements - extent) return {};
  return {Code::invalid_argument, std::string(name) + " needs " + std::to_string(extent) + " elements from offset " +
                                      std::to_string(matrix.offset) + ", its buffer has " + std::to_string(elements)};
}

// Arguments in the order of the kernel contract. Counts on argument i + 1 following argument i.
class Arguments {
 public:
  explicit Arguments(cl_kernel kernel) : kernel_(kernel) {}
  template <typename T>
  Arguments& add(const T& value) {
    if (error_ == CL_SUCCESS) error_ = clSetKernelArg(kernel_, index_++, sizeof value, &value);
    return *this;
  }
  Arguments& size(std::size_t value) { return add(static_cast<cl_int>(value)); }
  Arguments& distance(std::size_t elements) { return add(static_cast<cl_ulong>(elements)); }
  Arguments& real(double value, Precision precision) {
    return precision == Precision::double_precision ? add(static_cast<cl_double>(value))
                                                    : add(static_cast<cl_float>(value));
  }
  cl_int error() const { return error_; }

 private:
  cl_kernel kernel_;
  cl_uint index_ = 0;
  cl_int error_ = CL_SUCCESS;
};

// An operand as the gemm kernel finds it: the caller's matrix, or its copy.
struct Operand {
  cl_mem memory;
  std::size_t offset;
  std::size_t ld;
  std::size_t stride;
};

Operand operand(const Matrix& matrix, std::size_t ld, std::size_t stride, const cl::Memory& copy, std::size_t width,
                std::size_t depth) {
  if (!copy()) return {matrix.buffer, matrix.offset, ld, stride};
  return {copy(), 0, width, width * depth};
}

// Columns and rows of the grid that a launch has to cover, in elements.
std::pair<std::size_t, std::size_t> covered(cache::Role role, const Problem& p, const Workspace& w) {
  if (role == cache::Role::copy_a) return {w.padded_m, w.padded_k};
  if (role == cache::Role::copy_b) return {w.padded_n, w.padded_k};
  if (role == cache::Role::reduce) return {p.m * p.n, 1};
  return {p.n, p.m};
}

// Whether commands that depend on it can still come to their turn late because of it; one that failed would make all
// that wait for it fail, too.
bool pending(const cl::Event& event) {
  cl_int status = CL_COMPLETE;
  if (!event() ||
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) != CL_SUCCESS)
    return false;
  return status > CL_COMPLETE;
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

bool is_copy(cache::Role role) { return role == cache::Role::copy_a || role == cache::Role::copy_b; }

}  // namespace

Gemm::Gemm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&&) noexcept = default;
Gemm::~Gemm() = default;

const Explanation& Gemm::explanation() const { return state_->program->explanation; }

cl_program Gemm::program() const { return state_->program->program(); }

Status Gemm::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                     cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  return guarded([&] { return state_->enqueue(queue, alpha, a, b, beta, c, {wait_count, wait_list, event}); });
}

Result<Gemm> Gemm::State::create(std::shared_ptr<const Program> program, const cl::Context& context,
                                 const cl::Device& device, const Problem& problem) {
  auto gemm = std::make_unique<Gemm::State>();
  gemm->program = std::move(program);
  gemm->context = context;
  gemm->device = device;
  gemm->layout = problem.layout;
  gemm->problem = row_major(problem);
  gemm->extents = clbake::extents(gemm->problem);
  Status status = gemm->create_kernels();
  if (status) status = gemm->create_offsets(gemm->problem.offsets);
  if (!status) return status;
  gemm->problem.offsets.clear();
  Result<Workspace> workspace = make_workspace(context, device, gemm->program->variant, gemm->problem);
  if (!workspace) return workspace.status().within(gemm->program->variant.name);
  gemm->workspace = std::move(*workspace);
  return Gemm(std::move(gemm));
}

Status Gemm::State::create_kernels() {
  for (const cache::Launch& launch : program->variant.launches) {
    cl_int error = CL_SUCCESS;
    kernels.emplace_back(program->program, launch.kernel_name.c_str(), &error);
    if (error != CL_SUCCESS) return opencl_failure("clCreateKernel", error);
  }
  return {};
}

Status Gemm::State::create_offsets(const std::vector<BatchOffsets>& all) {
  if (all.empty()) return {};
  std::vector<cl_ulong> numbers;
  numbers.reserve(3 * all.size());
  for (const BatchOffsets& product : all) {
    numbers.insert(numbers.end(), {cl_ulong{product.a}, cl_ulong{product.b}, cl_ulong{product.c}});
  }
  cl_int error = CL_SUCCESS;
  offsets = cl::Buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, numbers.size() * sizeof numbers[0],
                       numbers.data(), &error);
  return error == CL_SUCCESS ? Status() : opencl_failure("clCreateBuffer", error);
}

Status Gemm::State::check_call(cl_command_queue queue, const Call& call, const Events& events) const {
  Status status = check_queue(queue, context, device);
  if (status && events.wait_count > 0 && !events.wait_list) {
    status = {Code::invalid_argument, "wait_list is null, wait_count is " + std::to_string(events.wait_count)};
  }
  if (!status || problem.m == 0 || problem.n == 0 || problem.batch == 0) return status;
  const std::size_t bytes = element_bytes(problem.precision);
  const bool exchanged = layout == Layout::column_major;
  if (call.reads_operands) {
    status = check_buffer(exchanged ? "B" : "A", call.a, context, extents.a, bytes);
    if (status) status = check_buffer(exchanged ? "A" : "B", call.b, context, extents.b, bytes);
  }
  return status ? check_buffer("C", call.c, context, extents.c, bytes) : status;
}

cl_int Gemm::State::set_arguments(std::size_t launch, const Call& call, std::size_t first_product) {
  const Problem& p = problem;
  const Workspace& w = workspace;
  const bool split = program->variant.split_k > 1;
  const Matrix& c = call.c;
  Arguments arguments(kernels[launch]());
  switch (program->variant.launches[launch].role) {
    case cache::Role::copy_a:
      arguments.size(p.m).size(p.k).add(call.a.buffer).distance(call.a.offset).size(p.lda).distance(p.a_stride);
      arguments.add(offsets()).size(first_product).add(w.a()).distance(w.padded_m * w.padded_k);
      break;
    case cache::Role::copy_b:
      arguments.size(p.n).size(p.k).add(call.b.buffer).distance(call.b.offset).size(p.ldb).distance(p.b_stride);
      arguments.add(offsets()).size(first_product).add(w.b()).distance(w.padded_n * w.padded_k);
      break;
    case cache::Role::gemm: {
      // Operands that are not read may be null; the kernel gets another buffer in their place.
      const Operand a = operand(call.reads_operands ? call.a : c, p.lda, p.a_stride, w.a, w.padded_m, w.padded_k);
      const Operand b = operand(call.reads_operands ? call.b : c, p.ldb, p.b_stride, w.b, w.padded_n, w.padded_k);
      // A slice's part is the plain product; the reduction applies alpha and beta.
      arguments.size(p.m).size(p.n).size(call.reads_operands ? p.k : 0);
      arguments.real(split && call.reads_operands ? 1 : call.alpha, p.precision);
      arguments.add(a.memory).distance(a.offset).size(a.ld).add(b.memory).distance(b.offset).size(b.ld);
      arguments.real(split ? 0 : call.beta, p.precision);
      arguments.add(split ? w.parts() : c.buffer).distance(split ? 0 : c.offset).size(split ? p.n : p.ldc);
      arguments.distance(a.stride).distance(b.stride).distance(split ? p.m * p.n : p.c_stride);
      arguments.add(offsets()).size(first_product);
      break;
    }
    case cache::Role::reduce:
      arguments.size(p.m).size(p.n).real(call.alpha, p.precision).add(w.parts()).distance(p.m * p.n);
      arguments.real(call.beta, p.precision).add(c.buffer).distance(c.offset).size(p.ldc).distance(p.c_stride);
      arguments.add(offsets()).size(first_product);
      break;
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
  return clEnqueueNDRangeKernel(queue, kernels[index](), 3, nullptr, global, local, events.wait_count, events.wait_list,
                                events.event);
}

// The usual case: one kernel, all products at once, nothing to order.
Status Gemm::State::enqueue_one(cl_command_queue queue, const Call& call, const Events& events) {
  cl_int error = set_arguments(0, call, 0);
  if (error != CL_SUCCESS) return opencl_failure("clSetKernelArg", error);
  error = launch(0, queue, problem.batch, events);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueNDRangeKernel", error);
}

// Every launch waits for the one before it, as the queue may be out of order; the first also for the latest call, which
// may use the same workspace on another queue.
Status Gemm::State::enqueue_all(cl_command_queue queue, const Call& call, const Events& events) {
  waits.assign(events.wait_list, events.wait_list + events.wait_count);
  if (pending(last)) waits.push_back(last());
  for (std::size_t first = 0; first < problem.batch; first += workspace.products) {
    const std::size_t products = std::min(workspace.products, problem.batch - first);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (is_copy(program->variant.launches[i].role) && !call.reads_operands) continue;
      cl_int error = set_arguments(i, call, first);
      if (error != CL_SUCCESS) return opencl_failure("clSetKernelArg", error);
      cl_event done = nullptr;
      error = launch(i, queue, products,
                     {static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), &done});
      if (error != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", error);
      last = cl::Event(done);
      waits.assign(1, done);
    }
  }
  if (events.event) {
    *events.event = last();
    clRetainEvent(last());
  }
  clFlush(queue);  // the next call may wait for this one on another queue, which only a flush of this one allows
  return {};
}

Status Gemm::State::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                            const Events& events) {
  // BLAS: alpha = 0 (as the kernel will see it) does not read A and B, so NaN in them does not spread.
  if (problem.precision != Precision::double_precision) alpha = static_cast<float>(alpha);
  if (layout == Layout::column_major) std::swap(a, b);
  Call call{alpha, beta, a, b, c, problem.k > 0 && alpha != 0};
  if (!call.reads_operands) call.alpha = 0;  // an infinite alpha times the empty sum would be NaN
  const Status possible = check_call(queue, call, events);
  if (!possible) return possible;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueMarkerWithWaitList", error);
  }
  const bool at_once = kernels.size() == 1 && problem.batch <= workspace.products;
  return at_once ? enqueue_one(queue, call, events) : enqueue_all(queue, call, events);
}

}  // namespace clbake
