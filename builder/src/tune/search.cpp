#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

namespace clbake::builder {
namespace {

constexpr std::size_t kPasses = 3;             // of races, while there is time
constexpr unsigned kVariantsPerProcess = 100;  // of a GPU, where a context takes a second or two

// Where the time of one precision goes: cumulative parts at the end of each stage.
struct Plan {
  double explore, range, refine, others;
};
// Where compiling is cheap, other pairs of transposes get more of the time.
Plan plan_of(Strategy strategy, bool several_kinds, bool gpu) {
  if (strategy != Strategy::staged) return several_kinds ? Plan{0.6, 0.7, 0.7, 0.85} : Plan{0.75, 0.87, 0.87, 0.87};
  if (several_kinds) return gpu ? Plan{0.25, 0.35, 0.42, 0.7} : Plan{0.36, 0.46, 0.54, 0.72};
  return Plan{0.5, 0.63, 0.82, 0.82};
}

double part(double begin, double end, double fraction) {
  return std::isinf(end) ? end : begin + (end - begin) * fraction;
}

TimingPool::Options pool_options(const TuneOptions& options) {
  const Device& device = options.devices.front();
  TimingPool::Options pool;
  pool.target = device.target;
  pool.shares_cores = device.type == kernels::DeviceType::cpu;
  pool.units = pool.shares_cores ? 1 : options.devices.size();
  pool.parallel = options.parallel ? options.parallel : std::max(1u, std::thread::hardware_concurrency());
  // Where compiling stops for timing, a batch is compiled; elsewhere the devices must not wait.
  pool.waiting = pool.shares_cores ? std::min(6 * pool.parallel, 64u) : 2 * static_cast<unsigned>(pool.units) + 2;
  pool.variants_per_process = pool.shares_cores ? 1 : kVariantsPerProcess;
  pool.worker = options.worker;
  pool.directory = options.work;
  pool.timeout = options.timeout;
  return pool;
}

}  // namespace

Search::Search(const TuneOptions& options, Journal journal, const std::atomic<bool>& cancel,
               const std::function<void(const TuneProgress&)>& progress)
    : options_(options),
      device_(options.devices.front()),
      journal_(std::move(journal)),
      progress_(progress),
      pool_(pool_options(options), cancel),
      start_(std::chrono::steady_clock::now()),
      earlier_s_(journal_.last_s()) {}

double Search::clock() const {
  return earlier_s_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

TimingPool::Clock::time_point Search::at(double seconds) const {
  if (std::isinf(seconds)) return TimingPool::Clock::time_point::max();
  return start_ +
         std::chrono::duration_cast<TimingPool::Clock::duration>(std::chrono::duration<double>(seconds - earlier_s_));
}

TuneKind Search::make_kind(Precision precision, std::pair<bool, bool> transposes) {
  TuneKind kind;
  kind.precision = precision;
  std::tie(kind.trans_a, kind.trans_b) = transposes;
  const auto index = [&](Shape shape) {
    shape.precision = precision;
    shape.trans_a = kind.trans_a;
    shape.trans_b = kind.trans_b;
    return measured_.shape(shape);
  };
  for (const Shape& shape : options_.shapes.list) kind.shapes.push_back(index(shape));
  for (const Shape& shape : options_.shapes.grid) kind.grid.push_back(index(shape));
  for (const std::size_t probe : options_.shapes.probes) kind.probes.push_back(kind.shapes[probe]);
  return kind;
}

void Search::count_tried(const std::string& variant) {
  tried_.insert(variant);
  measured_.tuning.tried = static_cast<std::uint32_t>(tried_.size());
}

void Search::report(const std::string& failure) {
  if (!progress_) return;
  TuneProgress now;
  now.elapsed_s = clock();
  now.tried = measured_.tuning.tried;
  now.failed = static_cast<std::uint32_t>(measured_.tuning.failures.size());
  now.stage = stage_;
  now.best = best_;
  now.failure = failure;
  progress_(now);
}

// What it was timed before is worth nothing: who computes one shape wrong is not to be trusted with another.
void Search::fail(const std::string& variant, const std::string& cause) {
  measured_.tuning.failures.push_back({variant, cause});
  measured_.exclude(variant);
  report(variant + ": " + cause);
}

void Search::blame_late(const std::string& variant, std::uint32_t shape) {
  late_[shape].push_back(variant);
  if (measured_.best(shape) > 0) blame_all_late(shape);
}

void Search::blame_all_late(std::uint32_t shape) {
  const std::vector<std::string> variants = std::move(late_[shape]);
  late_.erase(shape);
  for (const std::string& variant : variants) {
    if (!measured_.excluded(variant)) fail(variant, "no end after " + std::to_string(options_.timeout.count()) + " s");
  }
}

bool Search::too_slow(std::uint32_t shape) const { return late_.count(shape) > 0 && measured_.best(shape) <= 0; }

void Search::take_in(const TimingRequest& visit, const TimingResult& visited, double at_s) {
  Tuning& tuning = measured_.tuning;
  const std::string variant = kernels::name(visit.params);
  if (!visited.failure.empty()) return fail(variant, visited.failure);
  for (std::size_t s = 0; s < visited.us.size(); ++s) {
    const std::uint32_t shape = measured_.shape(visit.shapes[s]);
    const double before = measured_.best(shape);
    const std::uint32_t index = measured_.variant(visit.params);
    measured_.add(index, shape, visited.us[s], false);
    const double best = measured_.best(shape);
    if (best == before || best <= 0) continue;
    if (late_.count(shape) > 0) blame_all_late(shape);
    const double speed = gflops(visit.shapes[s], best);
    const bool probe = stage_.rfind("explore", 0) == 0;
    if (probe) tuning.curve.push_back({at_s, tuning.tried, index, shape, speed});
    char figure[64];
    std::snprintf(figure, sizeof figure, "%.1f GFLOP/s at ", speed);
    best_ = figure + name(visit.shapes[s]) + " by " + variant;
  }
  for (const std::size_t s : visited.late) blame_late(variant, measured_.shape(visit.shapes[s]));
  report();
}

Status Search::stage(const std::string& stage_name, double until, const Make& make, const Order& order) {
  struct Pending {
    TimingRequest visit;
    std::optional<TimingResult> visited;
    double at_s = 0;
  };
  stage_ = stage_name;
  std::vector<Pending> pending;
  std::vector<std::size_t> numbers;  // of the pool's visits
  std::size_t taken = 0;
  const std::size_t generation = 16;
  const auto take_in_until = [&](std::size_t end) {
    for (; taken < end; ++taken) {
      const Pending& p = pending[taken];
      if (p.visited) take_in(p.visit, *p.visited, p.at_s);
    }
  };
  const auto key = [&](std::size_t number) { return stage_name + ' ' + std::to_string(number); };
  TimingPool::Callbacks callbacks;
  Status disk;
  // What is compiled is timed on the probes in any case: it was expensive. Other stages end in time.
  const bool exploring = stage_name.rfind("explore", 0) == 0;
  callbacks.order = [&](const TimingRequest& visit, std::size_t shape,
                        const TimingResult& so_far) -> std::optional<TimingOrder> {
    if (!exploring && clock() >= until) return std::nullopt;
    return order(visit, shape, so_far);
  };
  callbacks.next = [&](TimingRequest& visit) {
    while (true) {
      const std::size_t number = pending.size();
      const std::size_t needed = number / generation > 0 ? (number / generation - 1) * generation : 0;
      for (std::size_t i = taken; i < needed; ++i) {
        if (!pending[i].visited) return TimingPool::Next::wait;
      }
      take_in_until(needed);
      std::optional<TimingRequest> made = make(number);
      if (!made || !disk) return TimingPool::Next::end;
      const JournalRecord* known = journal_.find(key(number), kernels::name(made->params));
      if (!known && clock() >= until) return TimingPool::Next::end;
      // What is known now, not when it is timed: so the result does not depend on how far compiling is ahead.
      for (const Shape& shape : made->shapes) made->best_us.push_back(measured_.best(measured_.shape(shape)));
      count_tried(kernels::name(made->params));
      pending.push_back({std::move(*made), std::nullopt, 0});
      if (known) {
        pending.back().visited = TimingResult{known->failure, known->us, known->late};
        pending.back().at_s = known->at_s;
        continue;
      }
      numbers.push_back(number);
      visit = pending.back().visit;
      return TimingPool::Next::visit;
    }
  };
  callbacks.done = [&](std::size_t pool_number, const TimingRequest& visit, TimingResult&& visited) {
    Pending& p = pending[numbers[pool_number]];
    p.at_s = clock();
    JournalRecord record{
        key(numbers[pool_number]), kernels::name(visit.params), visited.failure, p.at_s, visited.us, visited.late};
    const Status written = journal_.add(std::move(record));
    if (!written) disk = written;
    p.visited = std::move(visited);
  };
  const Status status = pool_.visit(callbacks, at(options_.budget.count() > 0 ? options_.budget.count() : INFINITY));
  take_in_until(pending.size());
  return disk ? status : disk;
}

Status Search::tune_precision(std::vector<TuneKind>& kinds, double begin, double end) {
  const Plan plan = plan_of(options_.strategy, kinds.size() > 1, device_.type == kernels::DeviceType::gpu);
  const bool staged = options_.strategy == Strategy::staged;
  Status status = explore(kinds[0], part(begin, end, plan.explore));
  if (status) status = range(kinds[0], part(begin, end, plan.range));
  if (status && staged) status = refine(kinds[0], part(begin, end, plan.refine), 0);
  for (std::size_t i = 1; i < kinds.size() && status; ++i) {
    const double slot_begin =
        part(begin, end, part(plan.refine, plan.others, double(i - 1) / double(kinds.size() - 1)));
    const double slot_end = part(begin, end, part(plan.refine, plan.others, double(i) / double(kinds.size() - 1)));
    status = carry_over(kinds[0], kinds[i], part(slot_begin, slot_end, staged ? 0.6 : 1));
    if (status && staged) status = refine(kinds[i], slot_end, 0);
  }
  for (std::size_t i = 0; i < kinds.size() && status; ++i) {
    status = final_race(kinds[i], part(begin, end, part(plan.others, 1, double(i + 1) / double(kinds.size()))), 0);
  }
  return status;
}

Result<Tuning> Search::run() {
  const double budget = options_.budget.count() > 0 ? options_.budget.count() : INFINITY;
  std::vector<std::vector<TuneKind>> precisions;
  for (const Precision precision : options_.precisions) {
    std::vector<TuneKind>& kinds = precisions.emplace_back();
    for (const auto& transposes : options_.transposes) kinds.push_back(make_kind(precision, transposes));
  }
  Status status;
  for (std::size_t i = 0; i < precisions.size() && status; ++i) {
    const auto count = static_cast<double>(precisions.size());
    const double begin = std::isinf(budget) ? 0 : budget * static_cast<double>(i) / count;
    status = tune_precision(precisions[i], begin, std::isinf(budget) ? INFINITY : budget * double(i + 1) / count);
  }
  // What time is left: races that were cut short go on, each with its part of the time, then the figures get better.
  std::vector<const TuneKind*> all;
  for (const auto& kinds : precisions) {
    for (const TuneKind& kind : kinds) all.push_back(&kind);
  }
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i < all.size() && status; ++i) {
      const double until = pass > 0 ? budget : part(clock(), budget, 1 / static_cast<double>(all.size() - i));
      status = final_race(*all[i], until, pass);
    }
  }
  if (!status && status.code() != Code::cancelled) return status;
  Tuning& tuning = measured_.tuning;
  if (status && tuning.measurements.empty()) {
    const std::string too_slow = late_.empty() ? std::string() : name(tuning.shapes[late_.begin()->first]);
    return {Code::build_failed,
            !too_slow.empty()         ? "no variant ended in time on " + too_slow + "; --timeout gives them longer"
            : tuning.failures.empty() ? std::string("no variant was timed within the budget")
                                      : "no variant could be timed; the first: " + tuning.failures[0].variant + ": " +
                                            tuning.failures[0].cause};
  }
  tuning.complete = status.ok();
  tuning.elapsed_s = clock();
  return std::move(tuning);
}

}  // namespace clbake::builder
