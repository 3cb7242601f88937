#include "search.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/trial.hpp>
#include <clbake/kernels/presets.hpp>

#include "promise.hpp"
#include "select.hpp"
#include "worker_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

namespace clbake::builder {
namespace {

constexpr std::size_t kFinalists = 50;  // the paper's number
constexpr std::size_t kElite = 10;      // of a probe: where neighbours are looked for
constexpr std::size_t kCarried = 24;    // from one pair of transposes to another
constexpr std::size_t kRaced = 10;      // variants of a kind that are timed in turns at the end
constexpr unsigned kRounds = 5;         // of a race; of the first one, and of shapes that take long, fewer
constexpr std::size_t kPasses = 3;      // of races, while there is time
constexpr double kNeighbours = 0.65;    // part of the explored variants that are near good ones
// Of so many candidates the most promising one is compiled.
constexpr std::size_t kDrawsCompared = 24;
constexpr std::size_t kNeighboursCompared = 3;
// A variant whose time on the first probe is more than this many times the best one's is not timed on the second ...
constexpr double kHopeless = 2.5;
// ... and a call that takes more than this many times the best is the last one.
constexpr double kStopFirst = 3;
constexpr double kStop = 1.6;
constexpr double kStopNeighbour = 1.3;
constexpr double kOutOfRace = 2;
// How often the ordinary device can be asked for a shape: calls of one visit, microseconds of one turn.
constexpr unsigned kVariantsPerProcess = 100;  // of a GPU, where a context takes a second or two
constexpr std::uint32_t kRuns = 3;
constexpr double kVisitUs = 2000;
constexpr double kTurnUs = 2000;
constexpr double kLongUs = 50000;  // a call that is long enough to be measured well in three rounds
constexpr unsigned kFewRounds = 3;

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

std::string kind_name(const TuneKind& kind) {
  return std::string(clbake::name(kind.precision)) + ' ' + (kind.trans_a ? 't' : 'n') + (kind.trans_b ? 't' : 'n');
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

kernels::Params of_kind(kernels::Params params, const TuneKind& kind) {
  params.precision = kernels_precision(kind.precision);
  params.trans_a = kind.trans_a;
  params.trans_b = kind.trans_b;
  return params;
}

// All that differ in one option, not in a blocking factor: few, and some of them are for this device only.
std::vector<kernels::Params> option_neighbours(const kernels::Params& params) {
  std::vector<kernels::Params> list;
  const std::vector<kernels::Axis>& axes = kernels::space(params.family).axes;
  auto axis = std::find_if(axes.begin(), axes.end(), [](const auto& a) { return a.parameter.name == "ks"; });
  for (; axis != axes.end(); ++axis) {
    for (const std::uint32_t value : axis->values) {
      kernels::Params other = params;
      axis->parameter.set(other, value);
      if (axis->parameter.name != "ks" && !(other == params)) list.push_back(other);
    }
  }
  return list;
}

// A call that takes `stop` times as long as the best one known is the last.
TimingOrder order_of(const Visit& visit, std::size_t shape, double stop) {
  return {visit.shapes[shape], kRuns, kVisitUs, visit.best_us[shape] * stop, true};
}

TimingPool::Options pool_options(const TuneOptions& options) {
  const Device& device = options.devices.front();
  TimingPool::Options pool;
  pool.target = device.target;
  pool.shares_cores = device.kind == kernels::DeviceKind::cpu;
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

void Search::take_in(const Visit& visit, const Visited& visited, double at_s) {
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
    const double gflops = operations(visit.shapes[s]) / best / 1000;
    const bool probe = stage_.rfind("explore", 0) == 0;
    if (probe) tuning.curve.push_back({at_s, tuning.tried, index, shape, gflops});
    char figure[64];
    std::snprintf(figure, sizeof figure, "%.1f GFLOP/s at ", gflops);
    best_ = figure + name(visit.shapes[s]) + " by " + variant;
  }
  report();
}

Status Search::stage(const std::string& stage_name, double until, const Make& make, const Order& order) {
  struct Pending {
    Visit visit;
    std::optional<Visited> visited;
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
  callbacks.order = [&](const Visit& visit, std::size_t shape, const Visited& so_far) -> std::optional<TimingOrder> {
    if (!exploring && clock() >= until) return std::nullopt;
    return order(visit, shape, so_far);
  };
  callbacks.next = [&](Visit& visit) {
    while (true) {
      const std::size_t number = pending.size();
      const std::size_t needed = number / generation > 0 ? (number / generation - 1) * generation : 0;
      for (std::size_t i = taken; i < needed; ++i) {
        if (!pending[i].visited) return TimingPool::Next::wait;
      }
      take_in_until(needed);
      std::optional<Visit> made = make(number);
      if (!made || !disk) return TimingPool::Next::end;
      const JournalRecord* known = journal_.find(key(number), kernels::name(made->params));
      if (!known && clock() >= until) return TimingPool::Next::end;
      // What is known now, not when it is timed: so the result does not depend on how far compiling is ahead.
      for (const Shape& shape : made->shapes) made->best_us.push_back(measured_.best(measured_.shape(shape)));
      count_tried(kernels::name(made->params));
      pending.push_back({std::move(*made), std::nullopt, 0});
      if (known) {
        pending.back().visited = Visited{known->failure, known->us};
        pending.back().at_s = known->at_s;
        continue;
      }
      numbers.push_back(number);
      visit = pending.back().visit;
      return TimingPool::Next::visit;
    }
  };
  callbacks.done = [&](std::size_t pool_number, const Visit& visit, Visited&& visited) {
    Pending& p = pending[numbers[pool_number]];
    p.at_s = clock();
    JournalRecord record{key(numbers[pool_number]), kernels::name(visit.params), visited.failure, p.at_s, visited.us};
    const Status written = journal_.add(std::move(record));
    if (!written) disk = written;
    p.visited = std::move(visited);
  };
  const Status status = pool_.visit(callbacks, at(options_.budget.count() > 0 ? options_.budget.count() : INFINITY));
  take_in_until(pending.size());
  return disk ? status : disk;
}

// ---- Candidates ----

bool Search::unseen(const kernels::Params& params) const {
  return shard_of(params, options_.shards) == options_.shard && seen_.count(kernels::name(params)) == 0;
}

// What every bundle holds, tuned or not.
std::vector<kernels::Params> Search::defaults(const TuneKind& kind) const {
  std::vector<kernels::Params> list;
  for (const kernels::Params& p :
       kernels::default_variants(device_.kind, kernels_precision(kind.precision), device_.vector_bytes)) {
    const bool of_kind = p.trans_a == kind.trans_a && p.trans_b == kind.trans_b;
    if (of_kind && kernels::admits(device_.limits, p)) list.push_back(p);
  }
  return list;
}

// Known good points, before anything is drawn.
std::vector<kernels::Params> Search::seeds(const TuneKind& kind) const {
  std::vector<kernels::Params> list = defaults(kind);
  for (const kernels::Params& p : defaults(kind)) {
    for (const kernels::Params& other : option_neighbours(p)) list.push_back(other);
  }
  if (device_.kind == kernels::DeviceKind::gpu) {
    for (const kernels::Preset& preset : kernels::presets()) list.push_back(of_kind(preset.params, kind));
  }
  const auto unfit = [&](const kernels::Params& p) {
    const auto& families = options_.families;
    return std::find(families.begin(), families.end(), p.family) == families.end() ||
           !kernels::admits(device_.limits, p);
  };
  list.erase(std::remove_if(list.begin(), list.end(), unfit), list.end());
  return list;
}

std::optional<kernels::Params> Search::unseen_neighbour(const std::vector<std::uint32_t>& elite, std::size_t compared,
                                                        std::mt19937& random) {
  std::vector<kernels::Params> list;
  for (int i = 0; i < 30 && !elite.empty() && list.size() < compared; ++i) {
    // The better ones more often.
    const std::size_t rank = std::min(random() % elite.size(), random() % elite.size());
    const std::optional<kernels::Params> p = neighbour(measured_.params(elite[rank]), device_.limits, random);
    if (p && unseen(*p)) list.push_back(*p);
  }
  return most_promising(list);
}

std::optional<kernels::Params> Search::most_promising(const std::vector<kernels::Params>& list) {
  if (list.empty()) return std::nullopt;
  const auto cheaper = [&](const kernels::Params& a, const kernels::Params& b) {
    return expected_cost(a, device_) < expected_cost(b, device_);
  };
  const kernels::Params& chosen = *std::min_element(list.begin(), list.end(), cheaper);
  seen_.insert(kernels::name(chosen));
  return chosen;
}

// Families whose best is far behind are drawn less often.
std::size_t Search::random_family(std::mt19937& random) const {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t f = 0; f < family_best_.size(); ++f) {
    double weight = 1;
    if (options_.strategy == Strategy::staged) {
      weight = family_weight(options_.families[f], device_.kind);
      if (family_best_[f] > 0) weight *= std::max(0.03, std::pow(family_best_[f], -4));
    }
    weights.push_back(weight);
    sum += weight;
  }
  double at = static_cast<double>(random()) / 4294967296.0 * sum;
  std::size_t family = 0;
  while (family + 1 < weights.size() && at >= weights[family]) at -= weights[family++];
  return family;
}

std::optional<kernels::Params> Search::unseen_random(std::mt19937& random) {
  const std::size_t wanted = options_.strategy == Strategy::staged ? kDrawsCompared : 1;
  const std::size_t first = random_family(random);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    CandidateStream& stream = streams_[(first + i) % streams_.size()];
    std::vector<kernels::Params> list;
    while (list.size() < wanted) {
      const std::optional<kernels::Params> p = stream.next();
      if (!p) break;
      if (unseen(*p)) list.push_back(*p);
    }
    if (!list.empty()) return most_promising(list);
  }
  return std::nullopt;
}

// ---- Stages ----

Status Search::explore(const TuneKind& kind, double until) {
  seen_.clear();
  streams_.clear();
  for (const kernels::Family family : options_.families) {
    streams_.emplace_back(family, kernels_precision(kind.precision), kind.trans_a, kind.trans_b, device_.limits,
                          options_.seed);
  }
  family_best_.assign(options_.families.size(), 0);
  const bool staged = options_.strategy == Strategy::staged;
  std::vector<kernels::Params> first = staged ? seeds(kind) : std::vector<kernels::Params>();
  first.erase(std::remove_if(first.begin(), first.end(), [&](const auto& p) { return !unseen(p); }), first.end());
  for (const kernels::Params& p : first) seen_.insert(kernels::name(p));
  std::vector<Shape> probes;
  for (const std::uint32_t probe : kind.probes) probes.push_back(measured_.tuning.shapes[probe]);

  const auto learn = [&] {
    for (const std::uint32_t probe : kind.probes) {
      const double best = measured_.best(probe);
      for (const std::uint32_t v : measured_.fastest(probe, SIZE_MAX)) {
        const auto family = static_cast<std::size_t>(
            std::find(options_.families.begin(), options_.families.end(), measured_.params(v).family) -
            options_.families.begin());
        const double slowdown = measured_.median_of(v, probe) / best;
        if (family_best_[family] == 0 || slowdown < family_best_[family]) family_best_[family] = slowdown;
      }
    }
  };
  const Make make = [&](std::size_t number) -> std::optional<Visit> {
    if (number < first.size()) return Visit{first[number], probes};
    if (number % 16 == 0) {
      family_best_.assign(family_best_.size(), 0);
      learn();
    }
    std::mt19937 random = generator(options_.seed, number);
    const bool near = staged && static_cast<double>(random()) / 4294967296.0 < kNeighbours;
    std::optional<kernels::Params> params;
    if (near)
      params = unseen_neighbour(measured_.fastest(kind.probes[number % kind.probes.size()], kElite),
                                kNeighboursCompared, random);
    if (!params) params = unseen_random(random);
    if (!params) return std::nullopt;
    return Visit{*params, probes};
  };
  const Order order = [](const Visit& visit, std::size_t s, const Visited& so_far) -> std::optional<TimingOrder> {
    const double best_before = s > 0 ? visit.best_us[s - 1] : 0;
    if (best_before > 0 && !so_far.us[s - 1].empty() && median(so_far.us[s - 1]) > kHopeless * best_before) {
      return std::nullopt;
    }
    return order_of(visit, s, s == 0 ? kStopFirst : kStop);
  };
  return stage("explore " + kind_name(kind), until, make, order);
}

// The best on either probe.
std::vector<std::uint32_t> Search::finalists(const TuneKind& kind, std::size_t most) const {
  std::vector<std::uint32_t> list;
  std::vector<std::vector<std::uint32_t>> ranks;
  for (const std::uint32_t probe : kind.probes) ranks.push_back(measured_.fastest(probe, most));
  for (std::size_t rank = 0; rank < most && list.size() < most; ++rank) {
    for (const auto& ranking : ranks) {
      if (rank >= ranking.size() || list.size() >= most) continue;
      if (std::find(list.begin(), list.end(), ranking[rank]) == list.end()) list.push_back(ranking[rank]);
    }
  }
  return list;
}

Status Search::range(const TuneKind& kind, double until) {
  const std::vector<std::uint32_t> list = finalists(kind, kFinalists);
  const Make make = [&](std::size_t number) -> std::optional<Visit> {
    if (number >= list.size()) return std::nullopt;
    Visit visit{measured_.params(list[number]), {}};
    for (const std::uint32_t s : kind.shapes) {
      if (measured_.median_of(list[number], s) <= 0) visit.shapes.push_back(measured_.tuning.shapes[s]);
    }
    return visit;
  };
  const Order order = [](const Visit& visit, std::size_t s, const Visited&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStop);
  };
  return stage("range " + kind_name(kind), until, make, order);
}

// Around the best of each shape in turn.
Status Search::refine(const TuneKind& kind, double until, std::size_t pass) {
  const std::string stage_name = "refine " + std::to_string(pass) + ' ' + kind_name(kind);
  const Make make = [&](std::size_t number) -> std::optional<Visit> {
    std::mt19937 random = generator(options_.seed + 1 + pass, number);
    const std::uint32_t shape = kind.shapes[number % kind.shapes.size()];
    const std::optional<kernels::Params> params = unseen_neighbour(measured_.fastest(shape, 3), 1, random);
    if (!params) return std::nullopt;
    return Visit{*params, {measured_.tuning.shapes[shape]}};
  };
  const Order order = [](const Visit& visit, std::size_t s, const Visited&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStopNeighbour);
  };
  return stage(stage_name, until, make, order);
}

// What is good with one pair of transposes is tried with another.
Status Search::carry_over(const TuneKind& from, const TuneKind& to, double until) {
  std::vector<kernels::Params> list = defaults(to);
  for (const std::uint32_t v : Times(measured_.tuning).cover(from.shapes, kCarried, 0.001, 0.05, 1.5)) {
    const kernels::Params p = of_kind(measured_.params(v), to);
    const bool usable = kernels::admits(device_.limits, p) && std::find(list.begin(), list.end(), p) == list.end();
    if (usable) list.push_back(p);
  }
  for (const kernels::Params& p : list) seen_.insert(kernels::name(p));
  std::vector<Shape> shapes;
  for (const std::uint32_t s : to.shapes) shapes.push_back(measured_.tuning.shapes[s]);
  const Make make = [&](std::size_t number) -> std::optional<Visit> {
    if (number >= list.size()) return std::nullopt;
    return Visit{list[number], shapes};
  };
  const Order order = [](const Visit& visit, std::size_t s, const Visited&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStop);
  };
  return stage("range " + kind_name(to), until, make, order);
}

// The few that are left in turns, on all shapes; also the default variants, which every bundle holds.
Status Search::finals(const TuneKind& kind, double until, std::size_t pass) {
  stage_ = "finals " + kind_name(kind);
  std::vector<std::uint32_t> racers = Times(measured_.tuning).cover(kind.shapes, kRaced, 0.002, 0.1, 1.5);
  for (const kernels::Params& p : defaults(kind)) {
    if (options_.shard != 1) break;  // one part of them is enough
    if (measured_.excluded(kernels::name(p))) continue;
    const std::uint32_t v = measured_.variant(p);
    if (std::find(racers.begin(), racers.end(), v) == racers.end()) racers.push_back(v);
  }
  std::vector<kernels::Params> params;
  std::vector<std::string> names;
  for (const std::uint32_t v : racers) {
    params.push_back(measured_.params(v));
    names.push_back(measured_.tuning.variants[v]);
    count_tried(names.back());
  }
  // A variant that turned out to be wrong in this race before an interruption.
  const auto out_key = [&](std::size_t v) { return "out " + std::to_string(pass) + ' ' + names[v]; };
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (const JournalRecord* known = journal_.find(out_key(v), names[v])) fail(names[v], known->failure);
  }
  std::vector<std::uint32_t> shapes = kind.shapes;
  if (pass == 0) shapes.insert(shapes.end(), kind.grid.begin(), kind.grid.end());

  const auto key = [&](std::uint32_t shape) {
    return "finals " + std::to_string(pass) + ' ' + name(measured_.tuning.shapes[shape]);
  };
  using Turns = std::vector<std::vector<double>>;  // of each racer
  const auto take_in_turns = [&](std::uint32_t shape, const Turns& us) {
    for (std::size_t v = 0; v < racers.size() && v < us.size(); ++v) measured_.add(racers[v], shape, us[v], true);
  };
  std::vector<TimingOrder> orders;
  std::vector<std::uint32_t> open;  // the orders' shapes
  for (const std::uint32_t shape : shapes) {
    const JournalRecord* known = journal_.find(key(shape), joined(names));
    if (known) {
      take_in_turns(shape, known->us);
      continue;
    }
    open.push_back(shape);
    orders.push_back({measured_.tuning.shapes[shape], 1, kTurnUs, 0, true});
  }
  if (orders.empty() || params.empty()) return {};

  Status disk;
  Turns now(racers.size());
  std::size_t at_order = 0;
  const auto finish_order = [&] {
    take_in_turns(open[at_order], now);
    const Status written = journal_.add({key(open[at_order]), joined(names), {}, clock(), now});
    if (!written) disk = written;
    now.assign(racers.size(), {});
    report();
  };
  TimingPool::RaceCallbacks callbacks;
  callbacks.turn = [&](std::size_t v, std::size_t order, const std::vector<double>& us) {
    for (; at_order < order; ++at_order) finish_order();
    now[v].insert(now[v].end(), us.begin(), us.end());
  };
  callbacks.wanted = [&](std::size_t v, std::size_t order, unsigned round) {
    if (measured_.excluded(names[v])) return false;
    if (round == 0) return true;
    for (; at_order < order; ++at_order) finish_order();
    double best = std::numeric_limits<double>::infinity();
    for (const auto& us : now) best = us.empty() ? best : std::min(best, median(us));
    if (round >= kFewRounds && best > kLongUs) return false;
    return now[v].empty() || median(now[v]) <= kOutOfRace * best;
  };
  callbacks.failed = [&](std::size_t v, const std::string& cause) {
    if (measured_.excluded(names[v])) return;  // known already
    const Status written = journal_.add({out_key(v), names[v], cause, clock(), {}});
    if (!written) disk = written;
    fail(names[v], cause);
  };
  const Status raced = pool_.race(params, orders, pass == 0 ? kFewRounds : kRounds, callbacks, at(until));
  if (raced && clock() < until && at_order < open.size()) {
    for (; at_order < open.size(); ++at_order) finish_order();
  }
  return disk ? raced : disk;
}

Status Search::tune_precision(std::vector<TuneKind>& kinds, double begin, double end) {
  const Plan plan = plan_of(options_.strategy, kinds.size() > 1, device_.kind == kernels::DeviceKind::gpu);
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
    status = finals(kinds[i], part(begin, end, part(plan.others, 1, double(i + 1) / double(kinds.size()))), 0);
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
  // What time is left makes the figures better.
  for (std::size_t pass = 1; pass < kPasses && status; ++pass) {
    for (auto& kinds : precisions) {
      for (const TuneKind& kind : kinds) {
        if (status && clock() < budget) status = finals(kind, budget, pass);
      }
    }
  }
  if (!status && status.code() != Code::cancelled) return status;
  Tuning& tuning = measured_.tuning;
  if (status && tuning.measurements.empty()) {
    return {Code::build_failed, tuning.failures.empty()
                                    ? std::string("no variant was timed within the budget")
                                    : "no variant could be timed; the first: " + tuning.failures[0].variant + ": " +
                                          tuning.failures[0].cause};
  }
  tuning.complete = status.ok();
  tuning.elapsed_s = clock();
  return std::move(tuning);
}

}  // namespace clbake::builder
