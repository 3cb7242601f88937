#include "bench/gemm/host_calls.hpp"

#include "bench/alternate.hpp"
#include "bench/peers/opencl_peer.hpp"
#include "cli/arguments.hpp"

#include <clbake/builder/gemm_run.hpp>

namespace clbake::tool {
namespace {

// The struct that every kernel gets (kernels/KERNELS.md, "Arguments").
struct Numbers {
  cl_ulong offsets_and_strides[10];
  cl_int m, n, k, lda, ldb, ldc, ldd;
  cl_int first_product, steps, unused;
};
static_assert(sizeof(Numbers) == 120, "no gaps, and all members");

// The OpenCL calls that an application would write by hand for a variant's kernel.
class BareCalls : public OpenClPeer {
 public:
  BareCalls(cl_program program, const cache::Launch& launch)
      : kernel_(cl::Program(program, true), launch.kernel_name.c_str()), launch_(launch) {}
  const char* name() const override { return "bare calls"; }

  // Sets the arguments of the kernel contract, then launches.
  void enqueue(cl_event* event) override {
    cl_uint index = 0;
    cl_int error = CL_SUCCESS;
    const auto set = [&](const auto& value) { error |= clSetKernelArg(kernel_(), index++, sizeof value, &value); };
    const cl_mem none = nullptr;  // offsets, bias and D
    for (const cl_mem argument : {a_(), b_(), c_(), none, none, none}) set(argument);
    const Problem& p = problem_;
    const auto size = [](std::size_t value) { return static_cast<cl_int>(value); };
    set(Numbers{{}, size(p.m), size(p.n), size(p.k), size(p.lda), size(p.ldb), size(p.ldc), 0, 0, 0, 0});
    set(cl_float4{{1, 0, 0, 0}});
    need_success("clSetKernelArg", error);
    const std::size_t local[] = {launch_.local[0], launch_.local[1], launch_.local[2]};
    const std::size_t global[] = {(p.n + launch_.tile_n - 1) / launch_.tile_n * local[0],
                                  (p.m + launch_.tile_m - 1) / launch_.tile_m * local[1], local[2]};
    launch(kernel_, 3, global, local, event);
  }

  Matrix a() const { return {a_()}; }
  Matrix b() const { return {b_()}; }
  Matrix c() const { return {c_()}; }

 private:
  cl::Kernel kernel_;
  cache::Launch launch_;
};

// The only launch of the variant.
cache::Launch launch_of(const Bundle& bundle, const std::string& variant) {
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const cache::Variant found = need(bundle.variant(i));
    if (found.name == variant && found.launches.size() == 1) return found.launches[0];
  }
  throw Failure(variant + " launches more than one kernel; choose another of --sizes");
}

}  // namespace

Json host_times(const BenchBundle& bundle, const Problem& problem, std::size_t rounds) {
  Options recording;
  recording.record = true;
  const Library library = open_library(bundle.on, bundle.bundle);
  const Library recorder = open_library(bundle.on, bundle.bundle, recording);
  Gemm gemm = need(library.prepare(problem));
  Gemm recorded = need(recorder.prepare(problem));
  const std::string variant = gemm.explanation().variant;
  BareCalls bare(gemm.program(), launch_of(bundle.bundle, variant));
  bare.attach(&bundle.on.session);
  bare.set(problem);
  check_single(bare, problem);

  const Matrix a = bare.a(), b = bare.b(), c = bare.c();
  cl_command_queue queue = bundle.on.session.queue();
  std::vector<std::pair<const char*, TimedCall>> calls = {
      {"bare_us", {[&] { bare.enqueue(nullptr); }}},
      {"prepared_us", {[&] { need(gemm.enqueue(queue, 1, a, b, 0, c)); }}},
      {"recorded_us", {[&] { need(recorded.enqueue(queue, 1, a, b, 0, c)); }}},
      {"one_call_us", {[&] { need(library.gemm(queue, problem, 1, a, b, 0, c)); }}},
  };
  // In turns; the queue is emptied after each turn, which is not timed.
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (auto& [name, timed] : calls) {
      if (round == 1) timed.us.clear();  // the first round warms up
      for (std::size_t i = 0; i < host_calls_per_round; ++i) timed.us.push_back(time_us(timed.call));
      clFinish(queue);
    }
  }
  Json json = {{"size", name(Size{problem.m, problem.n, problem.k})}, {"variant", variant}};
  for (const auto& [name, call] : calls) json[name] = builder::median(call.us);
  return json;
}

}  // namespace clbake::tool
