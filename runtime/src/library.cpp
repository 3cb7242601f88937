#include <clbake/clbake.hpp>
#include <clbake/guard.hpp>

#include "choose.hpp"
#include "cl.hpp"
#include "problem.hpp"
#include "program.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace clbake {
namespace {

// Where to look for a program: a variant of one of the library's bundles.
struct Candidate {
  std::size_t shelf = 0;
  std::uint32_t variant = 0;
};

// What a program is kept under. A request by name is another one than a profile's choice: when the variant does not
// fit the device, only the latter may be served by another variant.
struct Key {
  Candidate candidate;
  bool named = false;
  bool operator<(const Key& other) const {
    return std::tie(candidate.shelf, candidate.variant, named) <
           std::tie(other.candidate.shelf, other.candidate.variant, other.named);
  }
};

// A program that is loaded at most once, however many threads ask for it. A failure is kept like a success, so that
// a broken program is not tried again at every call.
struct Slot {
  std::once_flag once;
  std::shared_ptr<const Program> program;  // null: see failure
  Status failure;
};

}  // namespace

struct Library::State {
  cl::Context context;
  cl::Device device;
  Target target;
  Options options;
  std::vector<Shelf> shelves;

  std::mutex mutex;  // guards `slots`, never held across a driver call
  std::map<Key, std::shared_ptr<Slot>> slots;

  static Result<Library> create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options);
  Result<Gemm> prepare(const Problem& problem, const std::string& variant);

  std::shared_ptr<Slot> slot_of(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Slot>& slot = slots[key];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

  Result<Program> load(const std::vector<Candidate>& candidates, const Problem& problem, const std::string& name) const;
  Result<Program> compile(const std::vector<Candidate>& candidates, const Problem& problem,
                          const std::string& name) const;
};

namespace {

// The variant that each bundle would use, in the order of the bundles.
Result<std::vector<Candidate>> candidates_for(const std::vector<Shelf>& shelves, const Problem& problem,
                                              const std::string& name) {
  std::vector<Candidate> candidates;
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < shelves.size(); ++i) {
    const Result<std::uint32_t> variant = choose(shelves[i], problem, name);
    if (variant) candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  if (candidates.empty()) return first_failure;
  return candidates;
}

}  // namespace

Result<Program> Library::State::compile(const std::vector<Candidate>& candidates, const Problem& problem,
                                        const std::string& name) const {
  Status failure;
  for (const Candidate& candidate : candidates) {
    Result<Program> program = compile_source(context, device, shelves[candidate.shelf].bundle, candidate.variant);
    if (program || !name.empty()) return program;
    if (failure.ok()) failure = program.status();
  }
  // The choice was made for another device and does not fit this one: any variant that can do the problem will do.
  for (const Candidate& candidate : candidates) {
    const Bundle& bundle = shelves[candidate.shelf].bundle;
    for (const std::uint32_t variant : capable_variants(bundle, problem)) {
      if (variant == candidate.variant) continue;
      Result<Program> program = compile_source(context, device, bundle, variant);
      if (program) return program;
    }
  }
  return failure;
}

Result<Program> Library::State::load(const std::vector<Candidate>& candidates, const Problem& problem,
                                     const std::string& name) const {
  Status miss;
  for (const Candidate& candidate : candidates) {
    const Shelf& shelf = shelves[candidate.shelf];
    Status reason = shelf.target.status();
    if (shelf.target) {
      const Result<cache::EntryInfo> entry = shelf.bundle.find_entry(*shelf.target, candidate.variant);
      Result<Program> program =
          entry ? load_entry(context, device, shelf.bundle, *entry) : Result<Program>(entry.status());
      if (program) return program;
      reason = program.status();
    }
    if (miss.ok()) miss = reason;
  }
  if (options.on_miss == OnMiss::fail) return miss;
  Result<Program> program = compile(candidates, problem, name);
  if (!program) return program;
  program->explanation.miss = miss.code();
  program->explanation.miss_message = miss.message();
  return program;
}

Library::Library(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Library> Library::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options) {
  return guarded([&] { return State::create(context, device, bundles, options); });
}

Result<Library> Library::State::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                       const Options& options) {
  if (!context) return {Code::invalid_argument, "context is null"};
  Result<Target> target = identify(device);
  if (!target) return target.status();
  auto state = std::make_shared<State>();
  state->context = cl::Context(context, true);
  state->device = cl::Device(device, true);
  state->target = std::move(*target);
  state->options = options;
  for (const Bundle& bundle : bundles) state->shelves.push_back(make_shelf(bundle, state->target));
  return Library(std::move(state));
}

const Target& Library::target() const { return state_->target; }

// How an enqueued command hangs together with others: the last three arguments of OpenCL's enqueue calls.
struct Events {
  cl_uint wait_count;
  const cl_event* wait_list;
  cl_event* event;
};

struct Gemm::State {
  std::shared_ptr<const Program> program;
  cl::Context context;
  cl::Device device;
  cl::Kernel kernel;
  Problem problem;                    // row-major
  Layout layout = Layout::row_major;  // the caller's: says whether A and B are exchanged
  Extents extents;                    // of the row-major problem

  Status enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c, const Events& events);
};

Result<Gemm> Library::prepare(const Problem& problem, const std::string& variant) const {
  return guarded([&] { return state_->prepare(problem, variant); });
}

Result<Gemm> Library::State::prepare(const Problem& problem, const std::string& variant) {
  const Status possible = check(problem);
  if (!possible) return possible;
  const Problem rows = row_major(problem);
  const Result<std::vector<Candidate>> candidates = candidates_for(shelves, rows, variant);
  if (!candidates) return candidates.status();

  const std::shared_ptr<Slot> slot = slot_of({candidates->front(), !variant.empty()});
  std::call_once(slot->once, [&] {
    Result<Program> loaded = load(*candidates, rows, variant);
    if (loaded) slot->program = std::make_shared<const Program>(std::move(*loaded));
    slot->failure = loaded.status();
  });
  if (!slot->program) return slot->failure;

  auto gemm = std::make_unique<Gemm::State>();
  cl_int error = CL_SUCCESS;
  gemm->program = slot->program;
  gemm->kernel =
      cl::Kernel(slot->program->program, slot->program->variant.launches.front().kernel_name.c_str(), &error);
  if (error != CL_SUCCESS) return opencl_failure("clCreateKernel", error);
  gemm->context = context;
  gemm->device = device;
  gemm->problem = rows;
  gemm->layout = problem.layout;
  gemm->extents = extents(rows);
  return Gemm(std::move(gemm));
}

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
  void add(const T& value) {
    if (error_ == CL_SUCCESS) error_ = clSetKernelArg(kernel_, index_++, sizeof value, &value);
  }
  void add_real(double value, Precision precision) {
    if (precision == Precision::single_precision) {
      add(static_cast<cl_float>(value));
    } else {
      add(static_cast<cl_double>(value));
    }
  }
  cl_int error() const { return error_; }

 private:
  cl_kernel kernel_;
  cl_uint index_ = 0;
  cl_int error_ = CL_SUCCESS;
};

cl_int set_arguments(cl_kernel kernel, const Problem& p, bool reads_operands, double alpha, const Matrix& a,
                     const Matrix& b, double beta, const Matrix& c) {
  Arguments arguments(kernel);
  arguments.add(static_cast<cl_int>(p.m));
  arguments.add(static_cast<cl_int>(p.n));
  arguments.add(static_cast<cl_int>(reads_operands ? p.k : 0));
  arguments.add_real(alpha, p.precision);
  arguments.add(reads_operands ? a.buffer : c.buffer);
  arguments.add(static_cast<cl_ulong>(a.offset));
  arguments.add(static_cast<cl_int>(p.lda));
  arguments.add(reads_operands ? b.buffer : c.buffer);
  arguments.add(static_cast<cl_ulong>(b.offset));
  arguments.add(static_cast<cl_int>(p.ldb));
  arguments.add_real(beta, p.precision);
  arguments.add(c.buffer);
  arguments.add(static_cast<cl_ulong>(c.offset));
  arguments.add(static_cast<cl_int>(p.ldc));
  return arguments.error();
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

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

Status Gemm::State::enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c,
                            const Events& events) {
  const State& s = *this;
  const Problem& p = s.problem;
  Status status = check_queue(queue, s.context, s.device);
  if (status && events.wait_count > 0 && !events.wait_list) {
    status = {Code::invalid_argument, "wait_list is null, wait_count is " + std::to_string(events.wait_count)};
  }
  if (!status) return status;
  if (p.m == 0 || p.n == 0) {
    const cl_int error = clEnqueueMarkerWithWaitList(queue, events.wait_count, events.wait_list, events.event);
    return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueMarkerWithWaitList", error);
  }

  // BLAS: alpha = 0 (as the kernel will see it) does not read A and B, so NaN in them does not spread.
  if (p.precision == Precision::single_precision) alpha = static_cast<float>(alpha);
  const bool reads_operands = p.k > 0 && alpha != 0;
  if (!reads_operands) alpha = 0;  // an infinite alpha times the empty sum would be NaN
  const std::size_t bytes = element_bytes(p.precision);
  const bool exchanged = s.layout == Layout::column_major;
  if (exchanged) std::swap(a, b);
  if (reads_operands) {
    status = check_buffer(exchanged ? "B" : "A", a, s.context, s.extents.a, bytes);
    if (status) status = check_buffer(exchanged ? "A" : "B", b, s.context, s.extents.b, bytes);
  }
  if (status) status = check_buffer("C", c, s.context, s.extents.c, bytes);
  if (!status) return status;

  cl_int error = set_arguments(s.kernel(), p, reads_operands, alpha, a, b, beta, c);
  if (error != CL_SUCCESS) return opencl_failure("clSetKernelArg", error);
  const cache::Launch& launch = s.program->variant.launches.front();
  const std::size_t local[3] = {launch.local[0], launch.local[1], launch.local[2]};
  const std::size_t global[3] = {ceil_div(p.n, launch.tile_n) * local[0], ceil_div(p.m, launch.tile_m) * local[1],
                                 local[2]};
  error = clEnqueueNDRangeKernel(queue, s.kernel(), 3, nullptr, global, local, events.wait_count, events.wait_list,
                                 events.event);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueNDRangeKernel", error);
}

}  // namespace clbake
