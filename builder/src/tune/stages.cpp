#include "tune/stages.hpp"

#include <clbake/builder/gemm_run.hpp>

#include "profile/coverage.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

constexpr std::size_t kRanged = 50;   // variants of the stage range; Matsumoto, Nakasato and Sedukhin took as many
constexpr std::size_t kElite = 10;    // variants of a probe whose neighbours are tried
constexpr std::size_t kCarried = 24;  // variants from one pair of transposes to another
constexpr double kNeighbours = 0.65;  // part of the explored variants that are neighbours
constexpr std::size_t kCompared = 3;  // neighbours of which the one of least expected cost is tried
constexpr std::size_t kRefined = 3;   // variants of a shape whose neighbours are tried
constexpr std::size_t kRelearn = 16;  // requests after which the families are weighed anew
constexpr double kCarryMean = 0.001;  // gains (see coverage.hpp) of what is carried over
constexpr double kCarrySingle = 0.05;

// A variant that takes more than this many times the best on the first probe is not timed on the second ...
constexpr double kHopeless = 2.5;
// ... and a call that takes more than this many times the best is the last of its order.
constexpr double kStopFirst = 3;
constexpr double kStop = 1.6;
constexpr double kStopNeighbour = 1.3;

constexpr std::uint32_t kRuns = 3;  // of an order, at least
constexpr double kOrderUs = 2000;   // of an order, at least

// `stop`: times the best that was known when the request was made.
TimingOrder order_of(const TimingRequest& request, std::size_t shape, double stop) {
  return {request.shapes[shape], kRuns, kOrderUs, request.best_us[shape] * stop, true};
}

StageRunner::MakeOrder stop_at(double stop) {
  return [stop](const TimingRequest& request, std::size_t s, const TimingResult&) -> std::optional<TimingOrder> {
    return order_of(request, s, stop);
  };
}

std::optional<TimingOrder> probe_order(const TimingRequest& request, std::size_t s, const TimingResult& so_far) {
  const double best_before = s > 0 ? request.best_us[s - 1] : 0;
  const bool hopeless =
      best_before > 0 && !so_far.us[s - 1].empty() && median(so_far.us[s - 1]) > kHopeless * best_before;
  if (hopeless) return std::nullopt;
  return order_of(request, s, s == 0 ? kStopFirst : kStop);
}

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::vector<Shape> Stages::shapes_of(const std::vector<std::uint32_t>& indices) const {
  std::vector<Shape> shapes;
  for (const std::uint32_t s : indices) shapes.push_back(table_.tuning.shapes[s]);
  return shapes;
}

Status Stages::explore(const KindShapes& shapes, double until) {
  const TuneOptions& options = context_.options;
  const bool staged = options.strategy == Strategy::staged;
  proposals_.start(shapes.kind);
  const std::vector<kernels::Params> seeds = staged ? proposals_.seeds(shapes.kind) : std::vector<kernels::Params>();
  const std::vector<Shape> probes = shapes_of(shapes.probes);
  const auto make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number < seeds.size()) return TimingRequest{seeds[number], probes};
    if (number % kRelearn == 0) proposals_.learn_families(shapes.probes);
    std::mt19937 random = generator(options.seed, number);
    std::optional<kernels::Params> params;
    if (staged && static_cast<double>(random()) / 4294967296.0 < kNeighbours) {
      const std::uint32_t probe = shapes.probes[number % shapes.probes.size()];
      params = proposals_.neighbour_of(table_.fastest(probe, kElite), kCompared, random);
    }
    if (!params) params = proposals_.point(random);
    if (!params) return std::nullopt;
    return TimingRequest{*params, probes};
  };
  return StageRunner(context_, {Stage::explore, shapes.kind}, until, make, probe_order).run();
}

// In turns from the rankings of the probes, each variant once.
std::vector<std::uint32_t> Stages::best_of_probes(const KindShapes& shapes) const {
  std::vector<std::uint32_t> list;
  std::vector<std::vector<std::uint32_t>> rankings;
  for (const std::uint32_t probe : shapes.probes) rankings.push_back(table_.fastest(probe, kRanged));
  for (std::size_t rank = 0; rank < kRanged; ++rank) {
    for (const auto& ranking : rankings) {
      if (rank < ranking.size() && list.size() < kRanged && !contains(list, ranking[rank])) {
        list.push_back(ranking[rank]);
      }
    }
  }
  return list;
}

Status Stages::range(const KindShapes& shapes, double until) {
  std::vector<std::uint32_t> list = best_of_probes(shapes);
  for (const kernels::Params& p : proposals_.specialists(shapes.kind)) {  // the probes do not show what they are for
    const std::string name = kernels::name(p);
    if (!proposals_.proposed(name) || table_.excluded(name)) continue;
    const std::uint32_t v = table_.variant(p);
    if (!contains(list, v)) list.insert(list.begin(), v);
  }
  const auto make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number >= list.size()) return std::nullopt;
    TimingRequest request{table_.params(list[number]), {}};
    for (const std::uint32_t s : shapes.list) {
      if (table_.median_of(list[number], s) <= 0) request.shapes.push_back(table_.tuning.shapes[s]);
    }
    return request;
  };
  return StageRunner(context_, {Stage::range, shapes.kind}, until, make, stop_at(kStop)).run();
}

Status Stages::refine(const KindShapes& shapes, double until) {
  std::vector<std::uint32_t> timed;
  for (const std::uint32_t s : shapes.list) {
    if (table_.best(s) > 0) timed.push_back(s);
  }
  const auto make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (timed.empty()) return std::nullopt;
    std::mt19937 random = generator(context_.options.seed + 1, number);
    const std::uint32_t shape = timed[number % timed.size()];
    const std::optional<kernels::Params> params = proposals_.neighbour_of(table_.fastest(shape, kRefined), 1, random);
    if (!params) return std::nullopt;
    return TimingRequest{*params, {table_.tuning.shapes[shape]}};
  };
  return StageRunner(context_, {Stage::refine, shapes.kind}, until, make, stop_at(kStopNeighbour)).run();
}

Status Stages::carry_over(const KindShapes& from, const KindShapes& to, double until) {
  std::vector<kernels::Params> list = proposals_.defaults(to.kind);
  for (const kernels::Params& p : proposals_.specialists(to.kind)) {
    if (context_.results.tried(kernels::name(with_kind(p, from.kind)))) list.push_back(p);
  }
  for (const std::uint32_t v : Times(table_.tuning).cover(from.list, kCarried, kCarryMean, kCarrySingle)) {
    const kernels::Params p = with_kind(table_.params(v), to.kind);
    if (kernels::admits(context_.device().limits, p) && !contains(list, p)) list.push_back(p);
  }
  proposals_.mark_proposed(list);
  const std::vector<Shape> shapes = shapes_of(to.list);
  const auto make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number >= list.size()) return std::nullopt;
    return TimingRequest{list[number], shapes};
  };
  return StageRunner(context_, {Stage::range, to.kind}, until, make, stop_at(kStop)).run();
}

}  // namespace clbake::builder
