// The search for the best variants of a device.
#include "process/need.hpp"
#include "process/target_json.hpp"
#include "profile/coverage.hpp"
#include "tune/propose/proposals.hpp"
#include "tune/race.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/builder/tune.hpp>

#include <algorithm>
#include <cmath>

namespace clbake::builder::tune {
using namespace process;
namespace {

constexpr std::size_t kTogether = 16;   // compiled at a time; neighbours are of the best that was known before
constexpr std::size_t kElite = 10;      // variants of a probe whose neighbours are tried
constexpr std::size_t kRefined = 3;     // variants of a shape whose neighbours are tried
constexpr std::size_t kRanged = 48;     // of the probes' best; Matsumoto, Nakasato and Sedukhin took fifty
constexpr std::size_t kCarried = 24;    // from one pair of transposes to another
constexpr std::size_t kFinalists = 12;  // besides the known variants
constexpr std::size_t kPasses = 3;      // of the finals, while there is time

// Parts of the time. On GPUs, where compiling is cheap, the default variants and their neighbours are near the final
// speed within seconds, while cost models need times of many shapes.
constexpr double kFinalsOnCpus = 0.25;
constexpr double kFinalsOnGpus = 0.45;
constexpr double kFirstPair = 2.0 / 3;  // of the search; the other pairs begin with what the first one found
constexpr double kExplore = 0.6;        // of the first pair's time; each stage ends by what is over then
constexpr double kRange = 0.75;

// An infinite end stays infinite.
double part_of(double begin, double end, double part) { return std::isinf(end) ? end : begin + (end - begin) * part; }

std::vector<std::uint32_t> in_turn(const std::vector<std::uint32_t>& one, const std::vector<std::uint32_t>& other) {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i < one.size()) all.push_back(one[i]);
    if (i < other.size()) all.push_back(other[i]);
  }
  return all;
}

void add_new(const std::vector<kernels::Params>& more, std::vector<kernels::Params>& list) {
  for (const kernels::Params& p : more) {
    if (std::find(list.begin(), list.end(), p) == list.end()) list.push_back(p);
  }
}

class Search {
 public:
  // All must outlive it; `progress` may be empty.
  Search(const TuneOptions& options, Journal& journal, const std::atomic<bool>& cancel,
         const std::function<void(const TuneProgress&)>& progress);

  // The measurements and the prior; not complete when it was cancelled. Throws Failure with io, or with build_failed
  // when nothing could be measured.
  profile::Tuning run();

 private:
  // A precision and a pair of transposes with the shapes that are timed for it: indices into Tuning::shapes.
  struct Kind {
    GemmKind kind;
    std::vector<std::uint32_t> list, grid, probes;
  };

  void add_prior();
  Kind shapes_of(const GemmKind& kind);
  void search_precision(const std::vector<Kind>& kinds, double begin, double end);
  void explore(const Kind& kind, double until);
  void range(const Kind& kind, const std::vector<kernels::Params>& list, double until);
  void refine(const Kind& kind, double until);
  std::vector<kernels::Params> best_of_probes(const Kind& kind) const;
  std::vector<kernels::Params> best_of_another(const Kind& other, const GemmKind& kind) const;
  std::vector<Racer> finalists(const Kind& kind);
  void final_races(const std::vector<Kind>& kinds);

  TuneClock clock_;
  Results results_;
  TimingProcesses processes_;
  SearchContext context_;
  Proposals proposals_;
};

Search::Search(const TuneOptions& options, Journal& journal, const std::atomic<bool>& cancel,
               const std::function<void(const TuneProgress&)>& progress)
    : clock_(journal.last_s()),
      results_(clock_, progress),
      processes_(options),
      context_{options, cancel, clock_, journal, results_, processes_},
      proposals_(options, results_) {
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
    model.variant = results_.variant(params);
    results_.tuning.prior.push_back(model);
  }
}

Search::Kind Search::shapes_of(const GemmKind& kind) {
  Kind shapes{kind, {}, {}, {}};
  const auto add = [&](const Shape& shape, std::vector<std::uint32_t>& indices) {
    if (shape.kind() == kind) indices.push_back(results_.shape(shape));
  };
  const TuneShapes& wanted = context_.options.shapes;
  for (const Shape& shape : wanted.list) add(shape, shapes.list);
  for (const Shape& shape : wanted.grid) add(shape, shapes.grid);
  for (const std::size_t probe : wanted.probes) add(wanted.list[probe], shapes.probes);
  return shapes;
}

profile::Tuning Search::run() {
  std::vector<Kind> kinds;
  std::vector<std::vector<Kind>> precisions;
  for (const GemmKind& kind : context_.options.kinds) {
    kinds.push_back(shapes_of(kind));
    const bool first = precisions.empty() || precisions.back().front().kind.precision != kind.precision;
    if (first) precisions.emplace_back();
    precisions.back().push_back(kinds.back());
  }
  const bool cpu = context_.device().type == kernels::DeviceType::cpu;
  const double end = context_.budget_s() * (1 - (cpu ? kFinalsOnCpus : kFinalsOnGpus));
  profile::Tuning& tuning = results_.tuning;
  try {
    for (std::size_t i = 0; i < precisions.size() && context_.options.strategy != Strategy::variants; ++i) {
      const auto part = [&](std::size_t done) {
        return part_of(0, end, static_cast<double>(done) / static_cast<double>(precisions.size()));
      };
      search_precision(precisions[i], part(i), part(i + 1));
    }
    final_races(kinds);
    if (tuning.measurements.empty()) throw Failure(results_.nothing_measured());
    tuning.complete = true;
  } catch (const Failure& failure) {
    if (failure.status.code() != Code::cancelled) throw;
    tuning.complete = false;
  }
  tuning.elapsed_s = clock_.now();
  return std::move(tuning);
}

void Search::search_precision(const std::vector<Kind>& kinds, double begin, double end) {
  const bool refines = context_.options.strategy == Strategy::staged;
  const double first = kinds.size() == 1 ? end : part_of(begin, end, kFirstPair);
  explore(kinds[0], part_of(begin, first, kExplore));
  range(kinds[0], best_of_probes(kinds[0]), part_of(begin, first, kRange));
  if (refines) refine(kinds[0], first);
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    const auto part = [&](double pairs) { return part_of(first, end, pairs / static_cast<double>(kinds.size() - 1)); };
    const auto before = static_cast<double>(i - 1);
    range(kinds[i], best_of_another(kinds[0], kinds[i].kind), part(before + (refines ? kExplore : 1)));
    if (refines) refine(kinds[i], part(before + 1));
  }
}

void Search::explore(const Kind& kind, double until) {
  const std::vector<kernels::Params> seeds = proposals_.seeds(kind.kind);
  std::size_t tried = 0;
  for (std::size_t number = 0;; ++number) {
    std::vector<Racer> racers;
    for (; racers.size() < kTogether; ++tried) {
      std::mt19937 random = generator(context_.options.seed, tried);
      const std::vector<std::uint32_t> elite = results_.fastest(kind.probes[tried % kind.probes.size()], kElite);
      const auto p = tried < seeds.size() ? seeds[tried] : proposals_.next(kind.kind, elite, random);
      if (!p) break;
      racers.push_back({*p, kind.probes});
    }
    if (racers.empty()) return;
    Race race(context_, Stage::explore, kind.kind, number, std::move(racers));
    race.run(until);
    if (!race.finished()) return;
  }
}

// In turns from the rankings of the probes, each variant once.
std::vector<kernels::Params> Search::best_of_probes(const Kind& kind) const {
  std::vector<std::vector<std::uint32_t>> rankings;
  for (const std::uint32_t probe : kind.probes) rankings.push_back(results_.fastest(probe, kRanged));
  std::vector<kernels::Params> list;
  for (std::size_t rank = 0; rank < kRanged; ++rank) {
    for (const auto& ranking : rankings) {
      if (rank < ranking.size() && list.size() < kRanged) add_new({results_.params(ranking[rank])}, list);
    }
  }
  return list;
}

std::vector<kernels::Params> Search::best_of_another(const Kind& other, const GemmKind& kind) const {
  std::vector<kernels::Params> list;
  for (const std::uint32_t v : profile::Times(results_.tuning).cover(other.list, kCarried, {})) {
    const kernels::Params p = with_kind(results_.params(v), kind);
    if (kernels::admits(context_.device().limits, p)) list.push_back(p);
  }
  return list;
}

// The known variants come first: the probes do not show what some of them are for.
void Search::range(const Kind& kind, const std::vector<kernels::Params>& list, double until) {
  std::vector<kernels::Params> all;
  if (context_.options.shard == 1 && context_.options.strategy == Strategy::staged) all = proposals_.known(kind.kind);
  add_new(list, all);
  for (std::size_t first = 0; first < all.size(); first += kTogether) {
    std::vector<Racer> racers;
    for (std::size_t i = first; i < std::min(first + kTogether, all.size()); ++i) racers.push_back({all[i], kind.list});
    Race(context_, Stage::range, kind.kind, first, std::move(racers)).run(until);
  }
}

void Search::refine(const Kind& kind, double until) {
  std::vector<std::uint32_t> timed;
  for (const std::uint32_t s : kind.list) {
    if (results_.best(s) > 0) timed.push_back(s);
  }
  std::size_t tried = 0;
  for (std::size_t number = 0;; ++number) {
    std::vector<Racer> racers;
    for (; racers.size() < kTogether && !timed.empty(); ++tried) {
      std::mt19937 random = generator(context_.options.seed + 1, tried);
      const std::uint32_t shape = timed[tried % timed.size()];
      const auto p = proposals_.next(kind.kind, results_.fastest(shape, kRefined), random);
      if (!p) break;
      racers.push_back({*p, {shape}});
    }
    if (racers.empty()) return;
    Race race(context_, Stage::refine, kind.kind, number, std::move(racers));
    race.run(until);
    if (!race.finished()) return;
  }
}

// The known variants or those that the user names, beside the default ones, which every bundle has; then the few that
// promise to gain most.
std::vector<Racer> Search::finalists(const Kind& kind) {
  const TuneOptions& options = context_.options;
  const bool named = options.strategy == Strategy::variants;
  std::vector<kernels::Params> list;
  if (options.shard == 1)
    list = named ? proposals_.defaults(kind.kind) : proposals_.known(kind.kind);  // of one is enough
  for (const kernels::Params& p : options.variants) {
    if (p.kind() == kind.kind) add_new({p}, list);
  }
  std::vector<std::uint32_t> first;
  for (const kernels::Params& p : list) first.push_back(results_.variant(p));
  const profile::Times times(results_.tuning);
  for (const std::uint32_t v : times.cover(kind.list, kFinalists, first)) add_new({results_.params(v)}, list);
  std::vector<std::uint32_t> steps;
  const std::vector<std::uint32_t> shapes = in_turn(kind.list, kind.grid);
  for (std::size_t pass = 0; pass < kPasses; ++pass) steps.insert(steps.end(), shapes.begin(), shapes.end());
  std::vector<Racer> racers;
  for (const kernels::Params& p : list) {
    if (!results_.excluded(kernels::name(p))) racers.push_back({p, steps});
  }
  return racers;
}

// In the first pass all races get an equal part of the time that is left; then those that were cut short go on in what
// others left, and all are repeated for better figures.
void Search::final_races(const std::vector<Kind>& kinds) {
  const double end = context_.budget_s();
  std::vector<Race> races;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    races.emplace_back(context_, Stage::finals, kinds[i].kind, 0, finalists(kinds[i]));
    const std::size_t shapes = kinds[i].list.size() + kinds[i].grid.size();
    const double part = 1.0 / static_cast<double>(kinds.size() - i);
    races.back().run(part_of(clock_.now(), end, part), shapes);
  }
  for (std::size_t pass = 1; pass <= kPasses; ++pass) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      races[i].run(end, pass * (kinds[i].list.size() + kinds[i].grid.size()));
    }
  }
}

// ---- The profile that a search makes

template <typename T, typename Name>
std::string joined(const std::vector<T>& items, const Name& name_of) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ",") + std::string(name_of(item));
  return text;
}

// All that decides which variants are tried and what their times mean, by the name of the option, on one line: a
// journal is of use only with the same settings.
std::string settings_of(const TuneOptions& options) {
  return nlohmann::ordered_json{
      {"clbake", "clbake " CLBAKE_VERSION},
      {"device", target_json(options.devices.front().target)},
      {"precision and transposes", joined(options.kinds, kind_name)},
      {"family", joined(options.families, [](kernels::Family f) { return kernels::name(f); })},
      {"shapes", joined(options.shapes.list, weighted_name)},
      {"grid", options.shapes.grid.size()},
      {"prior", joined(options.prior.variants, [](const std::string& variant) { return variant; })},
      {"strategy", name(options.strategy)},
      {"variant", joined(options.variants, [](const kernels::Params& params) { return kernels::name(params); })},
      {"budget", options.budget.count()},
      {"seed", options.seed},
      {"shard", std::to_string(options.shard) + "/" + std::to_string(options.shards)}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void check_options(const TuneOptions& options) {
  if (options.devices.empty() || options.kinds.empty() || options.families.empty()) {
    throw Failure({Code::invalid_argument, "no device, precision, transposes or family to tune for"});
  }
  for (const GemmKind& kind : options.kinds) {
    const TuneShapes& shapes = options.shapes;
    const bool probed = std::any_of(shapes.probes.begin(), shapes.probes.end(), [&](std::size_t probe) {
      return probe < shapes.list.size() && shapes.list[probe].kind() == kind;
    });
    if (!probed) throw Failure({Code::invalid_argument, "no shape of " + kind_name(kind) + " to tune for"});
  }
  if (options.shard < 1 || options.shard > options.shards) {
    throw Failure({Code::invalid_argument, "shard " + std::to_string(options.shard) + " of " +
                                               std::to_string(options.shards) + ": there are shards 1 to " +
                                               std::to_string(options.shards)});
  }
  const Target& first = options.devices.front().target;
  for (const Device& device : options.devices) {
    if (!(device.target == first)) {
      throw Failure({Code::invalid_argument, "the devices are not identical: " + first.device_name + " and " +
                                                 device.target.device_name + "; tune them one after the other"});
    }
  }
}

void sign(const TuneOptions& options, profile::Tuning& tuning) {
  tuning.target = options.devices.front().target;
  tuning.compute_units = options.devices.front().compute_units;
  tuning.tool = "clbake " CLBAKE_VERSION;
  tuning.command = options.command;
  tuning.date = profile::utc_now();
  tuning.strategy = name(options.strategy);
  tuning.seed = options.seed;
  tuning.shard = options.shard;
  tuning.shards = options.shards;
  tuning.budget_s = options.budget.count();
}

}  // namespace

Result<profile::Tuning> run(const TuneOptions& options, const std::atomic<bool>& cancel,
                            const std::function<void(const TuneProgress&)>& progress) try {
  check_options(options);
  if (options.fresh) forget(options.work);
  const WorkDirectory work = need(WorkDirectory::open(options.work));  // locked as long as it lives
  Journal journal = need(Journal::open(options.work + "/tuning.journal", settings_of(options)));
  profile::Tuning tuning = Search(options, journal, cancel, progress).run();
  sign(options, tuning);
  profile::fit(tuning);
  return tuning;
} catch (const Failure& failure) {
  return failure.status;
}

void forget(const std::string& work) {
  Result<WorkDirectory> directory = WorkDirectory::open(work);
  if (directory) directory->remove();
}

const char* name(Strategy strategy) {
  constexpr const char* names[] = {"staged", "exhaustive", "variants"};
  return names[static_cast<std::size_t>(strategy)];
}

}  // namespace clbake::builder::tune
