#include <clbake/choice.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace clbake {
namespace {

// Expected of a problem of which a model does not tell.
constexpr double kNever = std::numeric_limits<double>::infinity();

// Rounds up a number of at least 0. No call of the C library, which is slow where the compiler may not use SSE4.
double round_up(double number) {
  if (number >= 9e15) return number;  // beyond 2^53 all numbers are whole
  const auto whole = static_cast<double>(static_cast<std::int64_t>(number));
  return whole < number ? whole + 1 : whole;
}

// Sizes are below 2^31 (`check`): 32 bits, because dividing 64 takes several times as long on older processors.
std::uint32_t divide_up(std::uint32_t size, std::uint32_t most) { return size == 0 ? 0 : 1 + (size - 1) / most; }

// Parts of at most `most`, of equal size up to a multiple of `item`.
struct Parts {
  double count = 0;
  double filled = 0;  // how much of `most` a part is
};

Parts cut(std::size_t size, std::uint32_t most, std::uint32_t item) {
  const double count = divide_up(static_cast<std::uint32_t>(size), most);
  if (item >= most) return {count, 1};
  const double part = round_up(static_cast<double>(size) / count / item) * item;
  return {count, std::min(1.0, part / most)};
}

bool between(std::size_t value, std::uint32_t min, std::uint32_t max) { return min <= value && value <= max; }

// An exception is where the profile's device contradicted the models. With other counts of work-groups for a compute
// unit it says nothing.
cache::Profile for_device(cache::Profile profile, std::uint32_t units) {
  if (units == 0 || units == profile.units) return profile;
  profile.units = units;
  profile.exceptions.clear();
  return profile;
}

// How badly rows of A and B are aligned if the first ones are aligned well: 1 where rows begin at multiples of an
// element only, half as much for each doubling, and 0 where each begins with a line of memory, of 128 bytes. The mean
// over what a work-group copies: tile_m rows of op(A), tile_n columns of op(B). FORMAT.md, "The cost model", says why.
double misalignment(const Problem& p, const cache::CostModel& model) {
  const auto sixty_fourths = [](std::size_t ld, std::uint32_t element) {
    const std::uint32_t bytes = (static_cast<std::uint32_t>(ld) * element) | 128;
    const std::uint32_t alignment = bytes & (~bytes + 1);  // the largest power of two up to 128 that divides the rows
    return std::uint64_t{64} / alignment * element;
  };
  return static_cast<double>(model.tile_m * sixty_fourths(p.lda, bytes_of(element_a(p.precision))) +
                             model.tile_n * sixty_fourths(p.ldb, bytes_of(element_b(p.precision)))) /
         static_cast<double>((std::uint64_t{model.tile_m} + model.tile_n) * 64);
}

// A second launch and each slice that it adds up, in calls: an empty kernel took 10.4 us, two 16.1. Without slices the
// model expected 21 us of 132 slices that took 28 (H200).
constexpr double kTwoCalls = 1.5, kSlice = 0.004;

// Work of the busiest compute unit in a call.
struct Load {
  double groups = 0;  // whole ones, each of so many steps
  double waves = 0;
  double steps = 0;
  double calls = 1;     // kTwoCalls and kSlice with a second launch
  double starts = 0;    // 1 where there is more than one work-group
  double partials = 0;  // elements of partial sums that c_us does not count for all of C
};

Load load_of(const cache::CostModel& model, const Problem& p, double tiles, std::uint32_t units) {
  const auto k = static_cast<std::uint32_t>(p.k);
  Load load;
  load.starts = tiles * std::max(model.slices, 1U) > 1 ? 1 : 0;
  if (model.slices > 0) {
    load.groups = round_up(tiles * model.slices / units);
    load.waves = round_up(load.groups / model.resident);
    load.steps = divide_up(divide_up(k, model.slices), model.step_k);
    return load;
  }
  load.steps = divide_up(k, model.step_k);
  const Tail tail = tail_of(static_cast<std::size_t>(std::min(tiles, 9e15)), units, k, model.step_k);
  const double whole = round_up((tiles - static_cast<double>(tail.tiles)) / units);
  load.groups = whole;
  load.waves = round_up(whole / model.resident);
  if (tail.slices == 1) return load;
  const double part = 1 / static_cast<double>(tail.slices);
  load.groups += part;
  if (load.waves * model.resident == whole) load.waves += part;  // else there is room beside the last whole ones
  load.calls = kTwoCalls + kSlice * static_cast<double>(tail.slices);
  load.partials = static_cast<double>(tail.parts()) * model.tile_m * model.tile_n;
  return load;
}

constexpr std::uint32_t kNone = UINT32_MAX;

// The index of the first one from `begin` to `end` that fits, or kNone.
std::uint32_t first_fitting(const std::vector<cache::Rule>& rules, std::uint32_t begin, std::uint32_t end,
                            const Problem& problem) {
  for (std::uint32_t i = begin; i < end; ++i) {
    if (fits(rules[i], problem)) return i;
  }
  return kNone;
}

}  // namespace

bool fits(const cache::Rule& rule, const Problem& p) {
  return between(p.m, rule.m_min, rule.m_max) && between(p.n, rule.n_min, rule.n_max) &&
         between(p.k, rule.k_min, rule.k_max) && between(p.batch, rule.batch_min, rule.batch_max);
}

double expected_us(const cache::CostModel& model, const Problem& p, std::uint32_t units) {
  const bool few = p.m <= model.few_m || p.n <= model.few_n;
  if (model.regime != 0 && few != (model.regime == 1)) return kNever;
  const Parts rows = cut(std::max<std::size_t>(p.m, 1), model.tile_m, model.item_m);  // m = 0: the time does not matter
  const Parts columns = cut(std::max<std::size_t>(p.n, 1), model.tile_n, model.item_n);
  const auto batch = static_cast<double>(p.batch);
  const Load load = load_of(model, p, rows.count * columns.count * batch, units);
  const double step =
      static_cast<double>(model.step_us) + misalignment(p, model) * static_cast<double>(model.unaligned_us);
  const double millions = batch * 1e-6;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  return load.calls * model.call_us + load.starts * model.start_us +
         load.waves * (model.wave_us + load.steps * model.latency_us) +
         load.groups * rows.filled * columns.filled * load.steps * step +
         millions * (m * k * model.a_us + k * n * model.b_us + m * n * model.c_us) + 1e-6 * load.partials * model.c_us;
}

Choices::Choices(cache::Profile profile, std::uint32_t units) : profile_(for_device(std::move(profile), units)) {
  const auto count = [](const auto& list, Starts& starts) {
    for (const auto& item : list) ++starts[index_of(item) + 1];
    for (std::size_t kind = 0; kind < kKinds; ++kind) starts[kind + 1] += starts[kind];
  };
  count(profile_.exceptions, exceptions_);
  count(profile_.models, models_);
  count(profile_.defaults, defaults_);
}

Choices::Choice Choices::find(const Problem& problem) const {
  const std::size_t kind = index_of(problem);
  const std::uint32_t exception = first_fitting(profile_.exceptions, exceptions_[kind], exceptions_[kind + 1], problem);
  if (exception != kNone) return {profile_.exceptions[exception].variant, ChosenBy::exception, 0};
  const std::uint32_t rule = first_fitting(profile_.defaults, defaults_[kind], defaults_[kind + 1], problem);
  std::optional<std::uint32_t> of_defaults;
  if (rule != kNone) of_defaults = profile_.defaults[rule].variant;
  const Choice expected = by_model(problem, of_defaults);
  return expected.variant ? expected : Choice{of_defaults, ChosenBy::default_rule, 0};
}

void Choices::read_faster(Problem& problem) const {
  const std::size_t lda = problem.lda, ldb = problem.ldb;
  if (!read_otherwise(problem)) return;
  const Choice other = find(problem);
  read_otherwise(problem);
  problem.lda = lda;
  problem.ldb = ldb;
  const Choice own = find(problem);
  const bool may_change = !own.variant || (own.by == ChosenBy::model && other.expected_us < own.expected_us);
  if (may_change && other.variant && other.by == ChosenBy::model) read_otherwise(problem);
}

Choices::Choice Choices::by_model(const Problem& problem, std::optional<std::uint32_t> default_one) const {
  Choice best{std::nullopt, ChosenBy::model, kNever}, of_default = best;
  double needed = 0;  // expected time of the default variant from which on the best one is chosen
  const std::size_t kind = index_of(problem);
  for (std::uint32_t i = models_[kind]; i < models_[kind + 1]; ++i) {
    const Choice choice{profile_.models[i].variant, ChosenBy::model, expected(i, problem)};
    if (choice.variant == default_one && choice.expected_us < kNever) of_default = choice;
    if (choice.expected_us >= best.expected_us) continue;
    best = choice;
    needed = choice.expected_us * (1 + static_cast<double>(profile_.models[i].margin));
  }
  return of_default.variant && of_default.expected_us <= needed ? of_default : best;
}

Choices::Choice Choices::runner_up(const Problem& problem, std::uint32_t chosen) const {
  Choice best{std::nullopt, ChosenBy::model, kNever};
  const std::size_t kind = index_of(problem);
  for (std::uint32_t i = models_[kind]; i < models_[kind + 1]; ++i) {
    if (profile_.models[i].variant == chosen) continue;
    const double us = expected(i, problem);
    if (us < best.expected_us) best = {profile_.models[i].variant, ChosenBy::model, us};
  }
  return best;
}

std::optional<double> Choices::expected_of(const Problem& problem, std::uint32_t variant) const {
  const std::size_t kind = index_of(problem);
  for (std::uint32_t i = models_[kind]; i < models_[kind + 1]; ++i) {
    const double us = profile_.models[i].variant == variant ? expected(i, problem) : kNever;
    if (us < kNever) return us;
  }
  return std::nullopt;
}

double Choices::expected(std::uint32_t model, const Problem& problem) const {
  return expected_us(profile_.models[model], problem, profile_.units);
}

}  // namespace clbake
