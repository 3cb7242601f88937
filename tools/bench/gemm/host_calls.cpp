#include "bench/gemm/host_calls.hpp"

#include "bench/peers/peers.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <chrono>
#include <cstdio>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

constexpr std::size_t kCallsOfARound = 20;

// The struct that every kernel gets (kernels/KERNELS.md, "Arguments").
struct Numbers {
  cl_ulong offsets_and_strides[10];
  cl_int m, n, k, lda, ldb, ldc, ldd;
  cl_int first_product, steps, unused;
};
static_assert(sizeof(Numbers) == 120, "no gaps, and all members");

Status opencl_status(const char* call, cl_int error) {
  if (error == CL_SUCCESS) return {};
  return {Code::opencl, std::string(call) + ": OpenCL error " + std::to_string(error), error};
}

// The problem's kernel and buffers, and the OpenCL calls that an application would write by hand for it.
class BareCalls {
 public:
  static Result<BareCalls> create(const BenchDevice& on, const Problem& problem, const Gemm& gemm,
                                  const cache::Launch& launch) {
    BareCalls bare(problem, launch);
    bare.queue_ = cl::CommandQueue(on.session.queue(), true);
    cl_int error = CL_SUCCESS;
    bare.kernel_ = cl::Kernel(cl::Program(gemm.program(), true), launch.kernel_name.c_str(), &error);
    const Extents e = extents(problem);
    const auto make = [&](std::size_t count) {
      if (error != CL_SUCCESS) return cl::Buffer();
      std::vector<float> values = random_elements<float>(count);
      return cl::Buffer(cl::Context(on.session.context(), true), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                        count * sizeof(float), values.data(), &error);
    };
    bare.a_ = make(e.a);
    bare.b_ = make(e.b);
    bare.c_ = make(e.c);
    if (error != CL_SUCCESS) return opencl_status("the kernel and buffers of the bare calls", error);
    return bare;
  }

  // Sets the arguments of the kernel contract, then launches.
  Status enqueue() const {
    cl_uint index = 0;
    cl_int error = CL_SUCCESS;
    const auto set = [&](const auto& value) { error |= clSetKernelArg(kernel_(), index++, sizeof value, &value); };
    const cl_mem none = nullptr;  // offsets, bias and D
    for (const cl_mem argument : {a_(), b_(), c_(), none, none, none}) set(argument);
    const auto size = [](std::size_t value) { return static_cast<cl_int>(value); };
    set(Numbers{{}, size(p_.m), size(p_.n), size(p_.k), size(p_.lda), size(p_.ldb), size(p_.ldc), 0, 0, 0, 0});
    set(cl_float4{{1, 0, 0, 0}});
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    return opencl_status("clEnqueueNDRangeKernel",
                         clEnqueueNDRangeKernel(queue_(), kernel_(), 3, nullptr, global_, local_, 0, nullptr, nullptr));
  }

  // C, of which every byte has been 0xff before `run` wrote it.
  template <typename Run>
  Result<std::vector<unsigned char>> c_after(const Run& run) const {
    std::vector<unsigned char> data(extents(p_).c * sizeof(float), 0xff);
    cl_int error = queue_.enqueueWriteBuffer(c_, CL_TRUE, 0, data.size(), data.data());
    if (error != CL_SUCCESS) return opencl_status("clEnqueueWriteBuffer", error);
    const Status ran = run();
    if (!ran) return ran;
    error = queue_.enqueueReadBuffer(c_, CL_TRUE, 0, data.size(), data.data());
    if (error != CL_SUCCESS) return opencl_status("clEnqueueReadBuffer", error);
    return data;
  }

  cl_command_queue queue() const { return queue_(); }
  Matrix a() const { return {a_()}; }
  Matrix b() const { return {b_()}; }
  Matrix c() const { return {c_()}; }

 private:
  BareCalls(const Problem& p, const cache::Launch& launch) : p_(p) {
    std::copy(launch.local, launch.local + 3, local_);
    global_[0] = (p.n + launch.tile_n - 1) / launch.tile_n * local_[0];
    global_[1] = (p.m + launch.tile_m - 1) / launch.tile_m * local_[1];
    global_[2] = local_[2];
  }

  Problem p_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  cl::Buffer a_, b_, c_;
  std::size_t global_[3] = {};
  std::size_t local_[3] = {};
};

// Both launch the same kernel, so that C has the same bits.
Status check_same(const BareCalls& bare, Gemm& gemm) {
  const auto by_bare_calls = bare.c_after([&] { return bare.enqueue(); });
  if (!by_bare_calls) return by_bare_calls.status();
  const auto by_prepared_call =
      bare.c_after([&] { return gemm.enqueue(bare.queue(), 1, bare.a(), bare.b(), 0, bare.c()); });
  if (!by_prepared_call) return by_prepared_call.status();
  if (*by_bare_calls == *by_prepared_call) return {};
  return {Code::wrong_result, "the bare calls compute something else than the prepared one"};
}

// The profile's choice, and its only launch.
Result<Gemm> prepare_single(const BenchBundle& bundle, const Library& library, const Problem& problem,
                            cache::Launch& launch) {
  Result<Gemm> chosen = library.prepare(problem);
  if (!chosen) return chosen;
  const std::string& name = chosen->explanation().variant;
  for (std::uint32_t i = 0; i < bundle.bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.bundle.variant(i);
    if (!variant || variant->name != name) continue;
    if (variant->launches.size() != 1) {
      return {Code::no_variant, name + " launches more than one kernel; choose another of --sizes"};
    }
    launch = variant->launches[0];
    return chosen;
  }
  return {Code::no_variant, "the chosen variant " + name + " is not in the bundle"};
}

struct HostCall {
  std::string name;
  std::function<Status()> call;
  std::vector<double> us;
};

// In turns; the queue is emptied after each turn, which is not timed.
Status time_calls(std::vector<HostCall>& calls, std::size_t rounds, cl_command_queue queue) {
  using Clock = std::chrono::steady_clock;
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (HostCall& timed : calls) {
      if (round == 1) timed.us.clear();  // the first round warms up
      for (std::size_t i = 0; i < kCallsOfARound; ++i) {
        const auto start = Clock::now();
        const Status status = timed.call();
        timed.us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        if (!status) return status;
      }
      clFinish(queue);
    }
  }
  return {};
}

}  // namespace

Result<Json> host_times(const BenchBundle& bundle, const Problem& problem, std::size_t rounds) {
  Options recording;
  recording.record = true;
  const Result<Library> library = open_library(bundle.on, bundle.bundle);
  const Result<Library> recorder = open_library(bundle.on, bundle.bundle, recording);
  if (!library || !recorder) return library ? recorder.status() : library.status();
  cache::Launch launch;
  Result<Gemm> gemm = prepare_single(bundle, *library, problem, launch);
  if (!gemm) return gemm.status();
  Result<Gemm> recorded = recorder->prepare(problem);
  if (!recorded) return recorded.status();
  const Result<BareCalls> bare = BareCalls::create(bundle.on, problem, *gemm, launch);
  if (!bare) return bare.status();
  const Status same = check_same(*bare, *gemm);
  if (!same) return same;

  const Matrix a = bare->a(), b = bare->b(), c = bare->c();
  cl_command_queue queue = bare->queue();
  std::vector<HostCall> calls = {
      {"bare", [&] { return bare->enqueue(); }, {}},
      {"prepared", [&] { return gemm->enqueue(queue, 1, a, b, 0, c); }, {}},
      {"recorded", [&] { return recorded->enqueue(queue, 1, a, b, 0, c); }, {}},
      {"one_call", [&] { return library->gemm(queue, problem, 1, a, b, 0, c); }, {}},
  };
  const Status timed = time_calls(calls, rounds, queue);
  if (!timed) return timed;
  Json json = {{"size", name(Size{problem.m, problem.n, problem.k})}, {"variant", gemm->explanation().variant}};
  for (const HostCall& call : calls) json[call.name + "_us"] = builder::median(call.us);
  return json;
}

void print_host_times(const Json& report) {
  constexpr std::pair<const char*, const char*> kColumns[] = {
      {"bare_us", "bare calls"}, {"prepared_us", "prepared"}, {"recorded_us", "recorded"}, {"one_call_us", "one call"}};
  std::printf("%s; microseconds on the host, medians of %zu calls\n\n| %-16s |",
              report["device"].get<std::string>().c_str(), report["rounds"].get<std::size_t>() * kCallsOfARound,
              "m x n x k");
  for (const auto& [field, title] : kColumns) std::printf(" %10s |", title);
  std::printf("\n");
  for (const Json& row : report["rows"]) {
    std::printf("| %-16s |", row["size"].get<std::string>().c_str());
    for (const auto& [field, title] : kColumns) std::printf(" %10.3f |", row[field].get<double>());
    std::printf("\n");
  }
}

}  // namespace clbake::tool
