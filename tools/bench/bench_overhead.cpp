// `clbake bench overhead`: what the runtime costs on the host beside the driver's own calls.
#include "bench/alternate.hpp"
#include "bench/bench_device.hpp"
#include "bench/peers/peers.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace clbake::tool {
namespace {

// The struct that every kernel gets (kernels/KERNELS.md, "Arguments").
struct Numbers {
  cl_ulong offsets_and_strides[10];
  cl_int m, n, k, lda, ldb, ldc, ldd;
  cl_int first_product, steps, unused;
};
static_assert(sizeof(Numbers) == 120, "no gaps, and all members");

// The problem's kernel and buffers, and the driver calls that an application would write by hand for it.
class BareCalls {
 public:
  static Result<BareCalls> create(const BenchDevice& on, const Problem& problem, const Gemm& gemm,
                                  const cache::Variant& variant) {
    BareCalls bare(problem, variant.launches[0]);
    bare.queue_ = on.session.queue();
    cl_int error = CL_SUCCESS;
    bare.kernel_ = clCreateKernel(gemm.program(), variant.launches[0].kernel_name.c_str(), &error);
    const Extents e = extents(problem);
    const std::size_t element = element_bytes(problem.precision);
    const auto make = [&](std::size_t count) {
      std::vector<float> values = random_elements<float>((count * element + 3) / 4);
      return error != CL_SUCCESS ? nullptr
                                 : clCreateBuffer(on.session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                  count * element, values.data(), &error);
    };
    bare.a = make(e.a);
    bare.b = make(e.b);
    bare.c = make(e.c);
    if (error != CL_SUCCESS) return {Code::opencl, "the benchmark's objects: OpenCL error " + std::to_string(error)};
    return bare;
  }

  // The kernel contract's arguments, then the launch.
  Status enqueue() const {
    cl_uint index = 0;
    cl_int error = CL_SUCCESS;
    const auto set = [&](const auto& value) { error |= clSetKernelArg(kernel_, index++, sizeof value, &value); };
    const cl_mem none = nullptr;  // offsets, bias and D
    for (const cl_mem argument : {a, b, c, none, none, none}) set(argument);
    const auto size = [](std::size_t value) { return static_cast<cl_int>(value); };
    const Numbers numbers{{}, size(p_.m), size(p_.n), size(p_.k), size(p_.lda), size(p_.ldb), size(p_.ldc), 0, 0, 0, 0};
    set(numbers);
    set(cl_float4{{1, 0, 0, 0}});
    if (error == CL_SUCCESS) {
      error = clEnqueueNDRangeKernel(queue_, kernel_, 3, nullptr, global_, local_, 0, nullptr, nullptr);
    }
    return error == CL_SUCCESS ? Status()
                               : Status(Code::opencl, "the bare calls: OpenCL error " + std::to_string(error));
  }

  // C, of which every byte has been 0xff before `run` wrote it.
  Result<std::vector<unsigned char>> c_after(const std::function<Status()>& run) const {
    const std::size_t bytes = extents(p_).c * element_bytes(p_.precision);
    std::vector<unsigned char> data(bytes, 0xff);
    cl_int error = clEnqueueWriteBuffer(queue_, c, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr);
    if (error == CL_SUCCESS) {
      const Status ran = run();
      if (!ran) return ran;
      error = clEnqueueReadBuffer(queue_, c, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr);
    }
    if (error != CL_SUCCESS) return {Code::opencl, "the benchmark's C: OpenCL error " + std::to_string(error)};
    return data;
  }

  cl_command_queue queue() const { return queue_; }
  void finish() const { clFinish(queue_); }

  // Released with the process.
  cl_mem a = nullptr, b = nullptr, c = nullptr;

 private:
  BareCalls(const Problem& p, const cache::Launch& launch) : p_(p) {
    std::copy(launch.local, launch.local + 3, local_);
    global_[0] = (p.n + launch.tile_n - 1) / launch.tile_n * local_[0];
    global_[1] = (p.m + launch.tile_m - 1) / launch.tile_m * local_[1];
    global_[2] = local_[2];
  }

  Problem p_;
  cl_command_queue queue_ = nullptr;
  cl_kernel kernel_ = nullptr;
  std::size_t global_[3] = {};
  std::size_t local_[3] = {};
};

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Host times of single calls. The queue is emptied after every 20 of them, which is not timed.
template <typename Call>
Status time_calls(const BareCalls& bare, const Call& call, std::vector<double>& us) {
  for (int i = 0; i < 20; ++i) {
    const auto start = Clock::now();
    const Status status = call();
    us.push_back(us_since(start));
    if (!status) return status;
  }
  bare.finish();
  return {};
}

struct Overhead {
  std::vector<double> bare, prepared, recorded, one_call, door;
};

// CLBlast's single precision GEMM for C by the door from CLBlast, with the bundle's file in the environment.
using ClblastSgemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, float, cl_mem, std::size_t,
                             std::size_t, cl_mem, std::size_t, std::size_t, float, cl_mem, std::size_t, std::size_t,
                             cl_command_queue*, cl_event*);

struct Door {
  ClblastSgemm gemm = nullptr;  // null: not measured
};

Result<Door> open_door(const std::string& path, const std::string& bundle) {
  setenv("CLBAKE_CLBLAST_BUNDLE", bundle.c_str(), 1);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = library ? dlsym(library, "CLBlastSgemm") : nullptr;
  if (!function) return {Code::not_found, std::string("--door: ") + dlerror()};
  return Door{reinterpret_cast<ClblastSgemm>(function)};
}

// `recorded`: prepared by a library with Options::record.
Result<Overhead> measure(const Library& library, Gemm& gemm, Gemm& recorded, const BareCalls& bare,
                         const Problem& problem, std::size_t rounds, const Door& door) {
  Overhead o;
  const Matrix a{bare.a, 0}, b{bare.b, 0}, c{bare.c, 0};
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) o = {};  // the first one warms up
    Status status = time_calls(
        bare, [&] { return bare.enqueue(); }, o.bare);
    if (status)
      status = time_calls(
          bare, [&] { return gemm.enqueue(bare.queue(), 1, a, b, 0, c); }, o.prepared);
    if (status)
      status = time_calls(
          bare, [&] { return recorded.enqueue(bare.queue(), 1, a, b, 0, c); }, o.recorded);
    if (status) {
      status = time_calls(
          bare, [&] { return library.gemm(bare.queue(), problem, 1, a, b, 0, c); }, o.one_call);
    }
    if (status && door.gemm) {
      cl_command_queue queue = bare.queue();
      status = time_calls(
          bare,
          [&] {
            constexpr int kRowMajor = 101, kNo = 111;  // clblast_c.h
            const int code =
                door.gemm(kRowMajor, kNo, kNo, problem.m, problem.n, problem.k, 1, a.buffer, 0, problem.lda, b.buffer,
                          0, problem.ldb, 0, c.buffer, 0, problem.ldc, &queue, nullptr);
            return code == 0 ? Status() : Status(Code::opencl, "the door: status " + std::to_string(code));
          },
          o.door);
    }
    if (!status) return status;
  }
  return o;
}

// Both launch the same kernel, so that C has the same bits.
Status check_same(const BareCalls& bare, Gemm& gemm) {
  const auto by_bare_calls = bare.c_after([&] { return bare.enqueue(); });
  if (!by_bare_calls) return by_bare_calls.status();
  const auto by_prepared_call = bare.c_after([&] {
    return gemm.enqueue(bare.queue(), 1, {bare.a, 0}, {bare.b, 0}, 0, {bare.c, 0});
  });
  if (!by_prepared_call) return by_prepared_call.status();
  if (*by_bare_calls == *by_prepared_call) return {};
  return {Code::wrong_result, "the bare calls compute something else than the prepared one"};
}

// From the call to the end of the product, alternating with the peer.
Status time_peer(Peer& peer, const BenchDevice& on, Gemm& gemm, const BareCalls& bare, const Problem& problem,
                 std::size_t rounds, double& ours_us, double& peer_us) {
  Status status = peer.attach(&on.session);
  if (status) status = peer.set(problem);
  if (!status) return status;
  const auto run = [&]() -> Status {
    return builder::finish_timed(on.session, [&](cl_event* event) {
      return gemm.enqueue(bare.queue(), 1, {bare.a, 0}, {bare.b, 0}, 0, {bare.c, 0}, 0, nullptr, event);
    });
  };
  std::vector<TimedCall> calls = {{run, {}}, {[&] { return peer.run(); }, {}}};
  status = time_alternately(calls, std::min<std::size_t>(rounds, 100));  // a turn takes 0.14 s
  if (!status) return status;
  ours_us = builder::median(calls[0].us);
  peer_us = builder::median(calls[1].us);
  return {};
}

// The profile's choice, and its record. Fails unless it launches exactly one kernel.
Result<Gemm> prepare_single(const Bundle& bundle, const Library& library, const Problem& problem,
                            cache::Variant& variant) {
  Result<Gemm> chosen = library.prepare(problem);
  if (!chosen) return chosen;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    Result<cache::Variant> v = bundle.variant(i);
    if (!v || v->name != chosen->explanation().variant) continue;
    variant = std::move(*v);
    if (variant.launches.size() == 1) return chosen;
    return {Code::no_variant, variant.name + " launches more than one kernel; choose another --size"};
  }
  return {Code::no_variant, "the chosen variant is not in the bundle"};
}

// Adds what the door takes, if it was measured.
void add_door(Json& json, const Overhead& o) {
  if (o.door.empty()) return;
  json["door_us"] = builder::median(o.door);
  json["door_over_one_call_us"] = builder::median(o.door) - builder::median(o.one_call);
}

Json report(const BenchDevice& on, const Problem& p, const std::string& variant, const Overhead& o) {
  const double bare_us = builder::median(o.bare);
  const double prepared_us = builder::median(o.prepared);
  const double recorded_us = builder::median(o.recorded);
  const double one_call_us = builder::median(o.one_call);
  return {{"device", on.device.target.device_name},
          {"driver", on.device.target.driver_version},
          {"size", name(Size{p.m, p.n, p.k})},
          {"variant", variant},
          {"bare_us", bare_us},
          {"prepared_us", prepared_us},
          {"recorded_us", recorded_us},
          {"one_call_us", one_call_us},
          {"prepared_over_bare_us", prepared_us - bare_us},
          {"recorded_over_prepared_us", recorded_us - prepared_us},
          {"one_call_over_prepared_us", one_call_us - prepared_us}};
}

Status add_peer(Json& json, const std::string& name, const BenchDevice& on, Gemm& gemm, const BareCalls& bare,
                const Problem& problem, std::size_t rounds) {
  const Result<std::unique_ptr<Peer>> peer = make_peer(name, 1);
  if (!peer) return peer.status();
  if (!(*peer)->uses_opencl()) throw UsageError("--peer: '" + name + "' does not run on an OpenCL queue");
  double ours_us = 0;
  double peer_us = 0;
  const Status timed = time_peer(**peer, on, gemm, bare, problem, rounds, ours_us, peer_us);
  if (!timed) return timed;
  json["finish_us"] = ours_us;
  json["peer"] = (*peer)->name();
  json["peer_finish_us"] = peer_us;
  json["ratio"] = peer_us / ours_us;
  return {};
}

void print_text(const Json& json, std::size_t calls) {
  const auto text = [&](const char* field) { return json[field].get<std::string>(); };
  const auto us = [&](const char* field) { return json[field].get<double>(); };
  std::printf("%s; driver %s; %s by %s; medians of %zu calls\n\n", text("device").c_str(), text("driver").c_str(),
              text("size").c_str(), text("variant").c_str(), calls);
  std::printf("bare calls of the driver  %8.3f us\nprepared enqueue          %8.3f us  (%+.3f)\n", us("bare_us"),
              us("prepared_us"), us("prepared_over_bare_us"));
  std::printf("the same, recorded        %8.3f us  (%+.3f)\n", us("recorded_us"), us("recorded_over_prepared_us"));
  std::printf("gemm in one call          %8.3f us  (%+.3f)\n", us("one_call_us"), us("one_call_over_prepared_us"));
  if (json.contains("door_us")) {
    std::printf("CLBlastSgemm by the door  %8.3f us  (%+.3f to gemm)\n", us("door_us"), us("door_over_one_call_us"));
  }
  if (!json.contains("peer")) return;
  std::printf("call to end               %8.3f us, %s %.3f us: %.2f times as fast\n", us("finish_us"),
              text("peer").c_str(), us("peer_finish_us"), us("ratio"));
}

}  // namespace

int bench_overhead(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench overhead FILE [OPTIONS]",
      "Host time of a prepared enqueue, also with Options::record, of gemm in one call and of the driver's bare calls\n"
      "for the same kernel, in turns: medians of single calls. With --peer also the time from the call to the end of "
      "the product, beside\n"
      "another library.");
  cli.add_device();
  cli.add_value("size", "SIZE", "N or MxNxK, single precision; default 64");
  cli.add_value("rounds", "N", "rounds of 20 calls each; default 200");
  cli.add_value("door", "LIBRARY", "libclbake-clblast.so: CLBlast's GEMM from the same bundle, too");
  cli.add_value("peer", "NAME", "clblast, or launch (an empty kernel)");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 200, 2, 100000);
  const std::vector<Size> sizes = sizes_of(cli.text("size", "64"));
  if (sizes.size() != 1) throw UsageError("--size: give one size");
  const Result<BenchBundle> bundle = open_bundle(cli.file(), cli.text("device"));
  if (!bundle) return fail("bench overhead", bundle.status());
  const Result<Library> library = open_library(bundle->on, bundle->bundle);
  if (!library) return fail("bench overhead", library.status());
  const Problem problem = builder::tight_problem(Precision::single_precision, sizes[0].m, sizes[0].n, sizes[0].k);
  cache::Variant variant;
  Result<Gemm> gemm = prepare_single(bundle->bundle, *library, problem, variant);
  if (!gemm) return fail("bench overhead", gemm.status());
  const Result<BareCalls> bare = BareCalls::create(bundle->on, problem, *gemm, variant);
  if (!bare) return fail("bench overhead", bare.status());
  const Status same = check_same(*bare, *gemm);
  if (!same) return fail("bench overhead", same);
  Options recording;
  recording.record = true;
  const Result<Library> recorder = open_library(bundle->on, bundle->bundle, recording);
  if (!recorder) return fail("bench overhead", recorder.status());
  Result<Gemm> recorded = recorder->prepare(problem);
  if (!recorded) return fail("bench overhead", recorded.status());
  const Result<Door> door = cli.has("door") ? open_door(cli.text("door"), cli.file()) : Result<Door>(Door());
  if (!door) return fail("bench overhead", door.status());
  const Result<Overhead> overhead = measure(*library, *gemm, *recorded, *bare, problem, rounds, *door);
  if (!overhead) return fail("bench overhead", overhead.status());

  Json json = report(bundle->on, problem, variant.name, *overhead);
  add_door(json, *overhead);
  if (cli.has("peer")) {
    const Status added = add_peer(json, cli.text("peer"), bundle->on, *gemm, *bare, problem, rounds);
    if (!added) return fail("bench overhead", added);
  }
  if (cli.has("json")) {
    print(json);
  } else {
    print_text(json, 20 * rounds);
  }
  return kSuccess;
}

}  // namespace clbake::tool
