// `clbake bench overhead`: what the runtime costs on the host beside the driver's own calls.
#include "bench/peers/peers.hpp"
#include "bench/race.hpp"
#include "bench/workbench.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;

// Kernel and buffers of the problem, and the sequence of calls that an application would write by hand for it.
class Bare {
 public:
  static Result<Bare> create(const Workbench& workbench, const Problem& problem, const Gemm& gemm,
                             const cache::Variant& variant) {
    Bare bare(problem, variant.launches[0]);
    bare.queue_ = workbench.session.queue();
    cl_int error = CL_SUCCESS;
    bare.kernel_ = clCreateKernel(gemm.program(), variant.launches[0].kernel_name.c_str(), &error);
    const Extents e = extents(problem);
    const std::size_t element = element_bytes(problem.precision);
    const auto make = [&](std::size_t count) {
      std::vector<float> values = random_elements<float>((count * element + 3) / 4);
      return error != CL_SUCCESS ? nullptr
                                 : clCreateBuffer(workbench.session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                  count * element, values.data(), &error);
    };
    bare.a = make(e.a);
    bare.b = make(e.b);
    bare.c = make(e.c);
    if (error != CL_SUCCESS) return {Code::opencl, "the benchmark's objects: OpenCL error " + std::to_string(error)};
    return bare;
  }

  // The kernel contract's arguments (kernels/KERNELS.md), then the launch.
  cl_int enqueue() const {
    cl_uint index = 0;
    cl_int error = CL_SUCCESS;
    const auto set = [&](const auto& value) { error |= clSetKernelArg(kernel_, index++, sizeof value, &value); };
    const auto size = [&](std::size_t value) { set(static_cast<cl_int>(value)); };
    const auto distance = [&](std::size_t value) { set(static_cast<cl_ulong>(value)); };
    const cl_mem none = nullptr;
    size(p_.m);
    size(p_.n);
    size(p_.k);
    set(1.0F);
    set(a);
    distance(0);
    size(p_.lda);
    set(b);
    distance(0);
    size(p_.ldb);
    set(0.0F);
    set(c);
    distance(0);
    size(p_.ldc);
    for (int stride = 0; stride < 3; ++stride) distance(0);
    set(none);
    size(0);
    return error != CL_SUCCESS
               ? error
               : clEnqueueNDRangeKernel(queue_, kernel_, 3, nullptr, global_, local_, 0, nullptr, nullptr);
  }

  cl_command_queue queue() const { return queue_; }
  void finish() const { clFinish(queue_); }

  // Released with the process.
  cl_mem a = nullptr, b = nullptr, c = nullptr;

 private:
  Bare(const Problem& p, const cache::Launch& launch) : p_(p) {
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

// Host times of single calls; the queue is emptied after each few of them, which is not counted.
template <typename Call>
Status time_calls(const Bare& bare, const Call& call, std::vector<double>& us) {
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
  std::vector<double> bare, prepared, one_call;
};

Result<Overhead> measure(const Library& library, Gemm& gemm, const Bare& bare, const Problem& problem,
                         std::size_t rounds) {
  Overhead o;
  const Matrix a{bare.a, 0}, b{bare.b, 0}, c{bare.c, 0};
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) o = {};  // the first one warms up
    Status status = time_calls(
        bare,
        [&] {
          const cl_int error = bare.enqueue();
          return error == CL_SUCCESS ? Status() : Status(Code::opencl, "OpenCL error " + std::to_string(error));
        },
        o.bare);
    if (status)
      status = time_calls(
          bare, [&] { return gemm.enqueue(bare.queue(), 1, a, b, 0, c); }, o.prepared);
    if (status) {
      status = time_calls(
          bare, [&] { return library.gemm(bare.queue(), problem, 1, a, b, 0, c); }, o.one_call);
    }
    if (!status) return status;
  }
  return o;
}

// Call to finish, in turns with the peer.
Status race_peer(Peer& peer, const Workbench& workbench, Gemm& gemm, const Bare& bare, const Problem& problem,
                 std::size_t rounds, double& ours_us, double& peer_us) {
  Status status = peer.attach(&workbench.session);
  if (status) status = peer.set(problem);
  if (!status) return status;
  const auto run = [&]() -> Status {
    cl_event event = nullptr;
    const Status enqueued = gemm.enqueue(bare.queue(), 1, {bare.a, 0}, {bare.b, 0}, 0, {bare.c, 0}, 0, nullptr, &event);
    return enqueued ? builder::finish(bare.queue(), event) : enqueued;
  };
  std::vector<Contender> contenders = {{run, {}}, {[&] { return peer.run(); }, {}}};
  status = race(contenders, std::min<std::size_t>(rounds, 100));  // race() rests before each turn
  if (!status) return status;
  ours_us = builder::median(contenders[0].times);
  peer_us = builder::median(contenders[1].times);
  return {};
}

// The first variant of one launch for the problem: the profile's own choice if it is one.
Result<Gemm> prepare_single(const Bundle& bundle, const Library& library, const Problem& problem,
                            cache::Variant& variant) {
  Result<Gemm> chosen = library.prepare(problem);
  if (!chosen) return chosen;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    Result<cache::Variant> v = bundle.variant(i);
    if (!v || v->name != chosen->explanation().variant) continue;
    variant = std::move(*v);
    if (variant.launches.size() == 1) return chosen;
    return {Code::no_variant, variant.name + " launches more than one kernel: measure another --size"};
  }
  return {Code::no_variant, "the chosen variant is not in the bundle"};
}

}  // namespace

int bench_overhead(const std::vector<std::string>& arguments) {
  Cli cli("bench overhead FILE [OPTIONS]",
          "Host time of a prepared enqueue, of the one-call gemm and of the bare calls of the driver for the same\n"
          "kernel, in turns: medians of single calls. With --peer, from the call to the end of the product beside\n"
          "another library.");
  cli.options()("device", po::value<std::string>(), "SPEC: an index of 'clbake devices', or part of a name");
  cli.options()("size", po::value<std::string>(), "N or MxNxK, single precision; default 64");
  cli.options()("rounds", po::value<std::string>(), "of 20 calls each; default 200");
  cli.options()("peer", po::value<std::string>(), "clblast");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 200, 2, 100000);
  const std::vector<Size> sizes = sizes_of(cli.text("size").empty() ? "64" : cli.text("size"));
  if (sizes.size() != 1) throw UsageError("--size: one size");
  const Result<Workbench> workbench = open_workbench(cli.file(), cli.text("device"));
  if (!workbench) return fail("bench overhead", workbench.status());
  const Problem problem = builder::tight_problem(Precision::single_precision, sizes[0].m, sizes[0].n, sizes[0].k);
  cache::Variant variant;
  Result<Gemm> gemm = prepare_single(workbench->bundle, workbench->library, problem, variant);
  if (!gemm) return fail("bench overhead", gemm.status());
  const Result<Bare> bare = Bare::create(*workbench, problem, *gemm, variant);
  if (!bare) return fail("bench overhead", bare.status());
  const Result<Overhead> o = measure(workbench->library, *gemm, *bare, problem, rounds);
  if (!o) return fail("bench overhead", o.status());

  const double bare_us = builder::median(o->bare);
  const double prepared_us = builder::median(o->prepared);
  const double one_call_us = builder::median(o->one_call);
  Json json = {{"device", workbench->device.target.device_name},
               {"driver", workbench->device.target.driver_version},
               {"size", name(sizes[0])},
               {"variant", variant.name},
               {"bare_us", bare_us},
               {"prepared_us", prepared_us},
               {"one_call_us", one_call_us},
               {"prepared_over_bare_us", prepared_us - bare_us},
               {"one_call_over_prepared_us", one_call_us - prepared_us}};
  if (!cli.text("peer").empty()) {
    const Result<std::unique_ptr<Peer>> peer = make_peer(cli.text("peer"), 1);
    if (!peer) return fail("bench overhead", peer.status());
    if (!(*peer)->uses_opencl()) throw UsageError("--peer: one that runs on the same queue");
    double ours_us = 0;
    double peer_us = 0;
    const Status raced = race_peer(**peer, *workbench, *gemm, *bare, problem, rounds, ours_us, peer_us);
    if (!raced) return fail("bench overhead", raced);
    json["finish_us"] = ours_us;
    json["peer"] = (*peer)->name();
    json["peer_finish_us"] = peer_us;
    json["ratio"] = peer_us / ours_us;
  }
  if (cli.has("json")) {
    print(json);
  } else {
    std::printf("%s; driver %s; %s by %s; medians of %zu calls\n\n", json["device"].get<std::string>().c_str(),
                json["driver"].get<std::string>().c_str(), name(sizes[0]).c_str(), variant.name.c_str(), 20 * rounds);
    std::printf("bare calls of the driver  %8.3f us\nprepared enqueue          %8.3f us  (%+.3f)\n", bare_us,
                prepared_us, prepared_us - bare_us);
    std::printf("gemm in one call          %8.3f us  (%+.3f)\n", one_call_us, one_call_us - prepared_us);
    if (json.contains("peer")) {
      std::printf("call to end               %8.3f us, %s %.3f us: %.2f times faster\n",
                  json["finish_us"].get<double>(), json["peer"].get<std::string>().c_str(),
                  json["peer_finish_us"].get<double>(), json["ratio"].get<double>());
    }
  }
  return kSuccess;
}

}  // namespace clbake::tool
