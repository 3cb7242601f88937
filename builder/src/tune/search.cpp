// The search: which stages there are, in which order, and why.
//
// A device admits millions to billions of variants, and trying one takes seconds of a core on a CPU, a second on a GPU.
// So what counts is which hundred (CPU) or few thousand (GPU) variants are compiled. For each precision:
//
//   1. explore     many variants on two square probes, one small, one large: first the default variants and all that
//                  differ from them in one option, then neighbours of the fastest and random points
//   2. range       the best of them on all shapes
//   3. refine      neighbours of the best of each shape, on that shape
//   4. carry over  what is good is tried with the other pairs of transposes, and refined there
//   5. final race  the default variants and the few that may gain most, in turns, on all shapes and a grid of sizes
//
// Then the races that were cut short get the time that is left.
//
// Why so. The default variants and their neighbours in one option give 95 to 99 % of the final speed within seconds, so
// they come first. Two probes rather than all shapes, as timing all shapes costs more than compiling; and not one, as
// thin and small shapes want other variants than large ones. Refining by shape finds what the probes do not reward:
// slices of k, flat tiles. Races at the end, as differences of a few percent between measurements of different minutes
// mean nothing.
//
// What was tried and was worse: random points alone (ten times the time for less on every probe; they are still a third
// of what is explored, so that the search does not end in a corner). builder/TUNING.md has the figures.
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace clbake::builder {
namespace {

constexpr std::size_t kPasses = 3;  // of the races, while there is time

}  // namespace

Search::Search(const TuneOptions& options, Journal& journal, const std::atomic<bool>& cancel,
               const std::function<void(const TuneProgress&)>& progress)
    : clock_(journal.last_s()),
      pool_(options, cancel),
      results_(options.timeout, clock_, progress),
      context_{options, clock_, journal, pool_, results_},
      proposals_(options, results_.table),
      stages_(context_, proposals_),
      races_(context_, proposals_) {
  add_prior();
}

// The prior's cost models, as far as the device can run their variants: fit() starts from them.
void Search::add_prior() {
  const TuneOptions& options = context_.options;
  for (cache::CostModel model : options.prior.models) {
    const auto params = std::get<kernels::Params>(kernels::parse(options.prior.variants[model.variant]));
    const auto& kinds = options.kinds;
    if (std::find(kinds.begin(), kinds.end(), model.kind()) == kinds.end()) continue;
    if (!kernels::admits(context_.device().limits, params)) continue;
    model.variant = results_.table.variant(params);
    results_.table.tuning.prior.push_back(model);
  }
}

Result<Tuning> Search::run() {
  std::vector<std::vector<KindShapes>> precisions;
  for (const GemmKind& kind : context_.options.kinds) {
    const bool first = precisions.empty() || precisions.back().front().kind.precision != kind.precision;
    if (first) precisions.emplace_back();
    precisions.back().push_back(shapes_of(kind));
  }
  const double budget = context_.budget_s();
  const auto count = static_cast<double>(precisions.size());
  Status status;
  for (std::size_t i = 0; i < precisions.size() && status; ++i) {
    const auto number = static_cast<double>(i);
    const double begin = std::isinf(budget) ? 0 : budget * number / count;
    status = search_precision(precisions[i], begin, budget * (number + 1) / count);
  }
  if (status) status = race_again(precisions);
  if (!status && status.code() != Code::cancelled) return status;
  Tuning& tuning = results_.table.tuning;
  if (status && tuning.measurements.empty()) return results_.nothing_measured();
  tuning.complete = status.ok();
  tuning.elapsed_s = clock_.now();
  return std::move(tuning);
}

KindShapes Search::shapes_of(const GemmKind& kind) {
  KindShapes shapes{kind, {}, {}, {}};
  const auto add = [&](const Shape& shape, std::vector<std::uint32_t>& indices) {
    if (shape.kind() == kind) indices.push_back(results_.table.shape(shape));
  };
  const TuneShapes& wanted = context_.options.shapes;
  for (const Shape& shape : wanted.list) add(shape, shapes.list);
  for (const Shape& shape : wanted.grid) add(shape, shapes.grid);
  for (const std::size_t probe : wanted.probes) add(wanted.list[probe], shapes.probes);
  if (context_.options.strategy == Strategy::calibrate) keep_short_ones(shapes);
  return shapes;
}

// The half with the least work, random sizes first, so that seconds reach many of them.
void Search::keep_short_ones(KindShapes& shapes) const {
  std::vector<std::uint32_t> all = std::move(shapes.grid);
  all.insert(all.end(), shapes.list.begin(), shapes.list.end());
  const auto work = [&](std::uint32_t s) { return operations(results_.table.tuning.shapes[s]); };
  if (all.empty()) return;
  std::vector<double> sorted;
  std::transform(all.begin(), all.end(), std::back_inserter(sorted), work);
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  all.erase(std::remove_if(all.begin(), all.end(), [&](std::uint32_t s) { return work(s) > median; }), all.end());
  shapes.list = std::move(all);
  shapes.grid.clear();
}

Status Search::search_precision(const std::vector<KindShapes>& pairs, double begin, double end) {
  const TuneOptions& options = context_.options;
  const bool searches = options.strategy != Strategy::calibrate && options.strategy != Strategy::variants;
  if (!searches) return race_all(pairs, end);
  const Schedule schedule(options.strategy, context_.device().type, pairs.size(), begin, end);
  const bool staged = options.strategy == Strategy::staged;
  Status status = stages_.explore(pairs[0], schedule.explore());
  if (status) status = stages_.range(pairs[0], schedule.range());
  if (status && staged) status = stages_.refine(pairs[0], schedule.refine());
  for (std::size_t i = 1; i < pairs.size() && status; ++i) {
    status = stages_.carry_over(pairs[0], pairs[i], schedule.carry_over(i));
    if (status && staged) status = stages_.refine(pairs[i], schedule.refine_other(i));
  }
  return status ? race_all(pairs, schedule.final_races()) : status;
}

Status Search::race_all(const std::vector<KindShapes>& pairs, double end) {
  Status status;
  for (std::size_t i = 0; i < pairs.size() && status; ++i) {
    status = races_.race(pairs[i], 0, {end, pairs.size() - i});
  }
  return status;
}

// In the time that is left: first races that were cut short go on, then all are run again for better figures.
Status Search::race_again(const std::vector<std::vector<KindShapes>>& precisions) {
  std::vector<const KindShapes*> all;
  for (const auto& pairs : precisions) {
    for (const KindShapes& shapes : pairs) all.push_back(&shapes);
  }
  const double budget = context_.budget_s();
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Status raced = races_.race(*all[i], pass, {budget, pass > 0 ? 1 : all.size() - i});
      if (!raced) return raced;
    }
  }
  return {};
}

}  // namespace clbake::builder
