#include "tune/search.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>

#include "profile/coverage.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

constexpr std::size_t kFinalists = 50;  // the paper's number
constexpr std::size_t kElite = 10;      // of a probe: where neighbours are looked for
constexpr std::size_t kCarried = 24;    // from one pair of transposes to another
constexpr double kNeighbours = 0.65;    // part of the explored variants that are near good ones
constexpr std::size_t kNeighboursCompared = 3;
// A variant whose time on the first probe is more than this many times the best one's is not timed on the second ...
constexpr double kHopeless = 2.5;
// ... and a call that takes more than this many times the best is the last one.
constexpr double kStopFirst = 3;
constexpr double kStop = 1.6;
constexpr double kStopNeighbour = 1.3;
// Of one visit: calls, and microseconds of them.
constexpr std::uint32_t kRuns = 3;
constexpr double kVisitUs = 2000;

// A call that takes `stop` times as long as the best one known is the last.
TimingOrder order_of(const TimingRequest& visit, std::size_t shape, double stop) {
  return {visit.shapes[shape], kRuns, kVisitUs, visit.best_us[shape] * stop, true};
}

}  // namespace

Status Search::explore(const TuneKind& kind, double until) {
  seen_.clear();
  streams_.clear();
  for (const kernels::Family family : options_.families) {
    streams_.emplace_back(family, kind.precision, kind.trans_a, kind.trans_b, device_.limits, options_.seed);
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
  const Make make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number < first.size()) return TimingRequest{first[number], probes};
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
    return TimingRequest{*params, probes};
  };
  const Order order = [](const TimingRequest& visit, std::size_t s,
                         const TimingResult& so_far) -> std::optional<TimingOrder> {
    const double best_before = s > 0 ? visit.best_us[s - 1] : 0;
    if (best_before > 0 && !so_far.us[s - 1].empty() && median(so_far.us[s - 1]) > kHopeless * best_before) {
      return std::nullopt;
    }
    return order_of(visit, s, s == 0 ? kStopFirst : kStop);
  };
  return stage("explore " + kind.name(), until, make, order);
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
  std::vector<std::uint32_t> list = finalists(kind, kFinalists);
  for (const kernels::Params& p : specialists(kind)) {  // whatever the probes said of them
    const std::string name = kernels::name(p);
    if (seen_.count(name) == 0 || measured_.excluded(name)) continue;
    const std::uint32_t v = measured_.variant(p);
    if (std::find(list.begin(), list.end(), v) == list.end()) list.insert(list.begin(), v);
  }
  const Make make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number >= list.size()) return std::nullopt;
    TimingRequest visit{measured_.params(list[number]), {}};
    for (const std::uint32_t s : kind.shapes) {
      if (measured_.median_of(list[number], s) <= 0) visit.shapes.push_back(measured_.tuning.shapes[s]);
    }
    return visit;
  };
  const Order order = [](const TimingRequest& visit, std::size_t s, const TimingResult&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStop);
  };
  return stage("range " + kind.name(), until, make, order);
}

// Around the best of each shape in turn.
Status Search::refine(const TuneKind& kind, double until, std::size_t pass) {
  const std::string stage_name = "refine " + std::to_string(pass) + ' ' + kind.name();
  std::vector<std::uint32_t> shapes;  // those that anybody has managed
  for (const std::uint32_t s : kind.shapes) {
    if (measured_.best(s) > 0) shapes.push_back(s);
  }
  const Make make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (shapes.empty()) return std::nullopt;
    std::mt19937 random = generator(options_.seed + 1 + pass, number);
    const std::uint32_t shape = shapes[number % shapes.size()];
    const std::optional<kernels::Params> params = unseen_neighbour(measured_.fastest(shape, 3), 1, random);
    if (!params) return std::nullopt;
    return TimingRequest{*params, {measured_.tuning.shapes[shape]}};
  };
  const Order order = [](const TimingRequest& visit, std::size_t s, const TimingResult&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStopNeighbour);
  };
  return stage(stage_name, until, make, order);
}

// What is good with one pair of transposes is tried with another.
Status Search::carry_over(const TuneKind& from, const TuneKind& to, double until) {
  std::vector<kernels::Params> list = defaults(to);
  for (const kernels::Params& p : specialists(to)) {
    if (tried_.count(kernels::name(of_kind(p, from))) > 0) list.push_back(p);
  }
  for (const std::uint32_t v : Times(measured_.tuning).cover(from.shapes, kCarried, 0.001, 0.05)) {
    const kernels::Params p = of_kind(measured_.params(v), to);
    const bool usable = kernels::admits(device_.limits, p) && std::find(list.begin(), list.end(), p) == list.end();
    if (usable) list.push_back(p);
  }
  for (const kernels::Params& p : list) seen_.insert(kernels::name(p));
  std::vector<Shape> shapes;
  for (const std::uint32_t s : to.shapes) shapes.push_back(measured_.tuning.shapes[s]);
  const Make make = [&](std::size_t number) -> std::optional<TimingRequest> {
    if (number >= list.size()) return std::nullopt;
    return TimingRequest{list[number], shapes};
  };
  const Order order = [](const TimingRequest& visit, std::size_t s, const TimingResult&) -> std::optional<TimingOrder> {
    return order_of(visit, s, kStop);
  };
  return stage("range " + to.name(), until, make, order);
}

}  // namespace clbake::builder
