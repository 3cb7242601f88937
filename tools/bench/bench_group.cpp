#include "bench/bench_group.hpp"

#include "bench/bench.hpp"
#include "cli/arguments.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>

namespace clbake::tool {
namespace {

constexpr std::size_t kLeastSize = 16, kMostSize = 512;

struct Bench {
  BenchDevice on;
  Library library;
  std::vector<Problem> products;
  builder::GemmRun run;
  std::vector<Gemm> singles;
  GemmGroup group;
  std::vector<bool> one_launch = {};  // of each single
};

std::vector<Problem> random_products(const GemmKind& kind, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto size = [&] { return kLeastSize + random() % (kMostSize - kLeastSize + 1); };
  BatchOffsets at;
  std::vector<Problem> products;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t m = size(), n = size(), k = size();
    Problem p = builder::tight_problem(kind.precision, m, n, k, kind.trans_a, kind.trans_b);
    const Extents elements = extents(p);
    p.offsets = {at};
    at = {at.a + elements.a, at.b + elements.b, at.c + elements.c};
    products.push_back(p);
  }
  return products;
}

Status enqueue_single(Bench& bench, std::size_t i, cl_command_queue queue, cl_event* event) {
  const auto [a, b, c] = bench.run.buffers();
  const BatchOffsets& at = bench.products[i].offsets[0];
  return bench.singles[i].enqueue(queue, 1.0, {a, at.a}, {b, at.b}, 0.0, {c, at.c}, 0, nullptr, event);
}

void run_singles(Bench& bench) {
  need(builder::finish_timed(bench.on.session, [&](cl_event* event) {
    Status status;
    for (std::size_t i = 0; status && i < bench.singles.size(); ++i) {
      status = enqueue_single(bench, i, bench.on.session.queue(), i + 1 == bench.singles.size() ? event : nullptr);
    }
    return status;
  }));
}

double nanoseconds(cl_event event, cl_profiling_info which) {
  cl_ulong time = 0;
  if (clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr) != CL_SUCCESS) {
    throw Failure("the driver has no profiling times");
  }
  return static_cast<double>(time);
}

// The time on the device: from the start of a product's launch, or of several from the end of a marker before them.
double device_us(Bench& bench, std::size_t i, cl_command_queue queue) {
  cl_event before = nullptr, event = nullptr;
  if (!bench.one_launch[i] && clEnqueueMarkerWithWaitList(queue, 0, nullptr, &before) != CL_SUCCESS) {
    throw Failure("clEnqueueMarkerWithWaitList failed");
  }
  need(enqueue_single(bench, i, queue, &event));
  clWaitForEvents(1, &event);
  const double start =
      before ? nanoseconds(before, CL_PROFILING_COMMAND_END) : nanoseconds(event, CL_PROFILING_COMMAND_START);
  const double us = (nanoseconds(event, CL_PROFILING_COMMAND_END) - start) / 1e3;
  clReleaseEvent(event);
  if (before) clReleaseEvent(before);
  return us;
}

double sum_of_shortest(Bench& bench, std::size_t rounds) {
  cl_int error = CL_SUCCESS;
  const std::unique_ptr<_cl_command_queue, decltype(&clReleaseCommandQueue)> queue(
      clCreateCommandQueue(bench.on.session.context(), bench.on.device.id, CL_QUEUE_PROFILING_ENABLE, &error),
      clReleaseCommandQueue);
  if (error != CL_SUCCESS) throw Failure("the device has no queue with profiling");
  double sum = 0;
  for (std::size_t i = 0; i < bench.singles.size(); ++i) {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t round = 0; round < 4 + rounds; ++round) {
      shortest = std::min(shortest, device_us(bench, i, queue.get()));
    }
    sum += shortest;
  }
  return sum;
}

bool launches_once(const Bundle& bundle, const std::string& variant) {
  for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
    const cache::Variant found = need(bundle.variant(v));
    if (found.name == variant) return found.launches.size() == 1;
  }
  return false;
}

void check_result(const Bench& bench) {
  if (!need(bench.run.check()).ok()) throw Failure("wrong result of " + bench.group.explanation().variant);
}

Bench prepared(const Cli& cli, const GemmKind& kind, const std::vector<Problem>& products) {
  const Bundle bundle = open_verified(cli.file());
  BenchDevice on = open_device(bundle, cli.text("device"));
  Served served = serve(on, bundle, cli.file());
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck / products.size();
  builder::GemmRun run = need(builder::GemmRun::create(on.session, on.device, products, options));
  GemmGroup group = need(served.library.prepare_group(products), builder::kind_name(kind));
  Bench bench{std::move(on), served.library, products, std::move(run), {}, std::move(group)};
  for (Problem p : products) {
    p.offsets.clear();
    bench.singles.push_back(need(bench.library.prepare(p)));
    bench.one_launch.push_back(launches_once(bundle, bench.singles.back().explanation().variant));
  }
  return bench;
}

}  // namespace

int bench_group(const Cli& cli) {
  const std::vector<std::string> numbers = split(cli.text("group"), ',');
  const auto number_in = [&](std::size_t i, std::size_t most) {
    const bool digits = i < numbers.size() && !numbers[i].empty() && numbers[i].size() < 10 &&
                        numbers[i].find_first_not_of("0123456789") == std::string::npos;
    const std::size_t value = digits ? std::stoul(numbers[i]) : 0;
    if (!digits || value > most || numbers.size() != 2) throw UsageError("--group: expected N,SEED");
    return value;
  };
  const std::size_t count = std::max<std::size_t>(number_in(0, 100000), 1);
  const auto seed = static_cast<std::uint32_t>(number_in(1, UINT32_MAX));
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  const GemmKind kind =
      kinds_of({cli.has("precision") ? cli.precisions("precision").front() : Precision::single_precision},
               cli.text("trans", "nn"))
          .front();
  Bench bench = prepared(cli, kind, random_products(kind, count, seed));
  need(bench.run.run(bench.group));
  check_result(bench);
  need(bench.run.reset());
  run_singles(bench);
  check_result(bench);

  std::vector<TimedCall> calls = {{[&] { run_singles(bench); }}, {[&] { need(bench.run.time(bench.group)); }}};
  time_alternately(calls, rounds);
  const double singles = builder::median(calls[0].us), group = builder::median(calls[1].us);
  const double device = sum_of_shortest(bench, rounds);
  double flops = 0;
  for (const Problem& p : bench.products) {
    flops += 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  }
  const Json report = {{"device", bench.on.device.target.device_name},
                       {"products", count},
                       {"seed", seed},
                       {"variant", bench.group.explanation().variant},
                       {"one_launch", bench.group.is_one_launch()},
                       {"one_by_one_us", singles},
                       {"group_us", group},
                       {"gflops", flops / group / 1e3},
                       {"speedup", singles / group},
                       {"sum_on_device_us", device},
                       {"of_sum", device / group}};
  if (cli.has("json")) {
    print(report);
    return kSuccess;
  }
  std::printf("%s; %zu products of random sizes from %zu to %zu, seed %u; %s; medians of %zu rounds in turns\n\n",
              bench.on.device.target.device_name.c_str(), count, kLeastSize, kMostSize, seed,
              builder::kind_name(kind).c_str(), rounds);
  std::printf("one by one         %12.1f us\n", singles);
  std::printf("group              %12.1f us, %.1f GFLOP/s: %.2f x one by one\n", group, flops / group / 1e3,
              singles / group);
  std::printf("sum of each one    %12.1f us on the device, shortest times: %.2f x the group\n", device, device / group);
  std::printf("the group is %s, %s\n", bench.group.is_one_launch() ? "one launch" : "a launch for each product",
              bench.group.explanation().variant.c_str());
  return kSuccess;
}

}  // namespace clbake::tool
