// `clbake bench gemm --group`: products of random sizes, one by one and as a group.
#include "bench/bench.hpp"
#include "cli/arguments.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

namespace clbake::tool {
namespace {

struct GroupBench {
  BenchDevice on;
  std::vector<Problem> products;
  builder::GemmRun run;
  GemmGroup group;
  std::vector<Gemm> singles;
  Status enqueue_single(std::size_t i, cl_command_queue queue, cl_event* event) {
    const auto [a, b, c] = run.buffers();
    const BatchOffsets& at = products[i].offsets[0];
    return singles[i].enqueue(queue, 1.0, {a, at.a}, {b, at.b}, 0.0, {c, at.c}, 0, nullptr, event);
  }
  void run_singles() {
    need(builder::finish_timed(on.session, [&](cl_event* event) {
      Status status;
      for (std::size_t i = 0; status && i < singles.size(); ++i) {
        status = enqueue_single(i, on.session.queue(), i + 1 == singles.size() ? event : nullptr);
      }
      return status;
    }));
  }
};

double device_us(cl_event event, cl_profiling_info which) {
  cl_ulong time = 0;
  if (clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr) != CL_SUCCESS) {
    throw Failure("the driver has no profiling times");
  }
  return static_cast<double>(time) / 1e3;
}

// The shortest time on the device: of one launch, or from the end of a marker before several.
template <typename Enqueue>
double shortest_us(cl_command_queue queue, bool one_launch, std::size_t rounds, const Enqueue& enqueue) {
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t round = 0; round < 4 + rounds; ++round) {
    cl_event before = nullptr, event = nullptr;
    clEnqueueMarkerWithWaitList(queue, 0, nullptr, &before);
    need(enqueue(&event));
    clWaitForEvents(1, &event);
    const double start =
        one_launch ? device_us(event, CL_PROFILING_COMMAND_START) : device_us(before, CL_PROFILING_COMMAND_END);
    shortest = std::min(shortest, device_us(event, CL_PROFILING_COMMAND_END) - start);
    clReleaseEvent(before);
    clReleaseEvent(event);
  }
  return shortest;
}

// Times on the device in microseconds: the sum of each product's shortest one, and the group's.
std::pair<double, double> device_times(GroupBench& bench, const Bundle& bundle, std::size_t rounds) {
  cl_int error = CL_SUCCESS;
  const std::unique_ptr<_cl_command_queue, decltype(&clReleaseCommandQueue)> queue(
      clCreateCommandQueue(bench.on.session.context(), bench.on.device.id, CL_QUEUE_PROFILING_ENABLE, &error),
      clReleaseCommandQueue);
  if (error != CL_SUCCESS) throw Failure("the device has no queue with profiling");
  std::map<std::string, std::size_t> launches;  // of each variant
  for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
    const cache::Variant variant = need(bundle.variant(v));
    launches[variant.name] = variant.launches.size();
  }
  double sum = 0;
  for (std::size_t i = 0; i < bench.singles.size(); ++i) {
    sum += shortest_us(queue.get(), launches[bench.singles[i].explanation().variant] == 1, rounds,
                       [&](cl_event* event) { return bench.enqueue_single(i, queue.get(), event); });
  }
  const std::array<cl_mem, 3> at = bench.run.buffers();
  const double group = shortest_us(queue.get(), bench.group.is_one_launch(), rounds, [&](cl_event* event) {
    return bench.group.enqueue(queue.get(), 1.0, {at[0]}, {at[1]}, 0.0, {at[2]}, {}, 0, nullptr, event);
  });
  return {sum, group};
}

}  // namespace

int bench_group(const Cli& cli) {
  const std::complex<double> numbers = cli.complex_number("group", 0);  // N,SEED
  const auto count = static_cast<std::size_t>(std::clamp(numbers.real(), 1.0, 1e5));
  const auto seed = static_cast<std::uint32_t>(std::clamp(numbers.imag(), 0.0, 1e9));
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  const Precision precision = cli.precisions("precision").front();
  const GemmKind kind = kinds_of({precision}, cli.text("trans", "nn")).front();
  const std::vector<Problem> products = builder::random_products(kind, Layout::row_major, count, 512, false, seed);

  const Bundle bundle = open_verified(cli.file());
  BenchDevice on = open_device(bundle, cli.text("device"));
  const Library library = serve(on, bundle, cli.file()).library;
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck / count;
  builder::GemmRun run = need(builder::GemmRun::create(on.session, on.device, products, options));
  GemmGroup group = need(library.prepare_group(products), builder::kind_name(kind));
  GroupBench bench{std::move(on), products, std::move(run), std::move(group), {}};
  for (Problem p : products) {
    p.offsets.clear();
    bench.singles.push_back(need(library.prepare(p)));
  }
  need(bench.run.run(bench.group));
  if (!need(bench.run.check()).ok()) throw Failure("wrong result of " + bench.group.explanation().variant);
  std::vector<TimedCall> calls = {{[&] { bench.run_singles(); }}, {[&] { need(bench.run.time(bench.group)); }}};
  time_alternately(calls, rounds);
  const double one_by_one = builder::median(calls[0].us), together = builder::median(calls[1].us);
  const auto [sum, alone] = device_times(bench, bundle, rounds);
  double flops = 0;
  for (const Problem& p : products) flops += builder::gflops(builder::shape_of(p), 1) * 1e3;
  const Json row = {{"variant", bench.group.explanation().variant},
                    {"one_launch", bench.group.is_one_launch()},
                    {"one_by_one_us", one_by_one},
                    {"group_us", together},
                    {"gflops", flops / together / 1e3},
                    {"speedup", one_by_one / together},
                    {"sum_on_device_us", sum},
                    {"group_on_device_us", alone},
                    {"ratio", sum / alone}};
  if (cli.has("json")) {
    print(row);
    return kSuccess;
  }
  std::printf(
      "%s; %zu products, m, n and k from 16 to 512; %s\nmedians of one by one, waiting at the end, and as a "
      "group; the sum of each one's shortest time on the device, the group's, and their ratio\n\n",
      bench.on.device.target.device_name.c_str(), count, builder::kind_name(kind).c_str());
  print_table(Json::array({row}));
  return kSuccess;
}

}  // namespace clbake::tool
