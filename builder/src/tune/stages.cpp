#include "tune/stages.hpp"

#include "profile/coverage.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

constexpr std::size_t kRanged = 50;   // variants of the stage range; Matsumoto, Nakasato and Sedukhin took as many
constexpr std::size_t kElite = 10;    // variants of a probe whose neighbours are tried
constexpr std::size_t kCarried = 24;  // variants from one pair of transposes to another
constexpr double kNeighbours = 0.65;  // part of the explored variants that are neighbours
constexpr std::size_t kCompared = 3;  // neighbours of which the one of least guessed cost is tried
constexpr std::size_t kRefined = 3;   // variants of a shape whose neighbours are tried

constexpr EarlyStops kStopExploring = {3, 1.6, 2.5};
constexpr EarlyStops kStopRanging = {1.6, 1.6};
constexpr EarlyStops kStopNeighbours = {1.3, 1.3};

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
  return StageRunner(context_, {Stage::explore, shapes.kind}, until, kStopExploring, make).run();
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
  std::vector<kernels::Params> first = proposals_.specialists(shapes.kind);  // the probes do not show what they are for
  for (const kernels::Params& p : proposals_.known(shapes.kind)) first.push_back(p);
  for (const kernels::Params& p : first) {
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
  return StageRunner(context_, {Stage::range, shapes.kind}, until, kStopRanging, make).run();
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
  return StageRunner(context_, {Stage::refine, shapes.kind}, until, kStopNeighbours, make).run();
}

Status Stages::carry_over(const KindShapes& from, const KindShapes& to, double until) {
  std::vector<kernels::Params> list = proposals_.defaults(to.kind);
  for (const kernels::Params& p : proposals_.known(to.kind)) {
    if (!contains(list, p)) list.push_back(p);
  }
  for (const kernels::Params& p : proposals_.specialists(to.kind)) {
    if (context_.results.tried(kernels::name(with_kind(p, from.kind)))) list.push_back(p);
  }
  for (const std::uint32_t v : Times(table_.tuning).cover(from.list, kCarried, {})) {
    const kernels::Params p = with_kind(table_.params(v), to.kind);
    if (kernels::admits(context_.device().limits, p) && !contains(list, p)) list.push_back(p);
  }
  proposals_.mark_proposed(list);
  const std::vector<Shape> shapes = shapes_of(to.list);
  const auto make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number >= list.size()) return std::nullopt;
    return TimingRequest{list[number], shapes};
  };
  return StageRunner(context_, {Stage::range, to.kind}, until, kStopRanging, make).run();
}

}  // namespace clbake::builder
