#include "select/choices.hpp"

#include <clbake/choice.hpp>

#include <algorithm>
#include <cmath>

namespace clbake {
namespace {

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

// The index of the first that fits; none: the number of rules.
std::size_t first_fitting(const std::vector<cache::Rule>& rules, const Problem& problem) {
  std::size_t i = 0;
  while (i < rules.size() && !fits(rules[i], problem)) ++i;
  return i;
}

}  // namespace

bool fits(const cache::Rule& rule, const Problem& p) {
  return between(p.m, rule.m_min, rule.m_max) && between(p.n, rule.n_min, rule.n_max) &&
         between(p.k, rule.k_min, rule.k_max) && between(p.batch, rule.batch_min, rule.batch_max);
}

double expected_us(const cache::CostModel& model, const Problem& p, std::uint32_t units) {
  const Parts rows = cut(std::max<std::size_t>(p.m, 1), model.tile_m, model.item_m);  // m = 0: the time does not matter
  const Parts columns = cut(std::max<std::size_t>(p.n, 1), model.tile_n, model.item_n);
  const auto batch = static_cast<double>(p.batch);
  const double groups = rows.count * columns.count * model.slices * batch;
  const double of_busiest = round_up(groups / units);
  const double waves = round_up(of_busiest / model.resident);
  const double steps = divide_up(divide_up(static_cast<std::uint32_t>(p.k), model.slices), model.step_k);
  const double millions = batch * 1e-6;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  return model.call_us + waves * (model.wave_us + steps * model.latency_us) +
         of_busiest * rows.filled * columns.filled * steps * model.step_us +
         millions * (m * k * model.a_us + k * n * model.b_us + m * n * model.c_us);
}

Choices::Choices(const cache::Profile& profile, std::uint32_t units) : units_(units == 0 ? profile.units : units) {
  for (const auto& rule : profile.exceptions) kinds_[index_of(rule)].exceptions.push_back(rule);
  for (const auto& model : profile.models) kinds_[index_of(model)].models.push_back(model);
  for (const auto& rule : profile.defaults) kinds_[index_of(rule)].defaults.push_back(rule);
  for (OfKind& kind : kinds_) {
    kind.named = std::vector<NamedVariant>(kind.exceptions.size() + kind.models.size() + kind.defaults.size());
    std::size_t i = 0;
    for (const auto& rule : kind.exceptions) kind.named[i++].variant = rule.variant;
    for (const auto& model : kind.models) kind.named[i++].variant = model.variant;
    for (const auto& rule : kind.defaults) kind.named[i++].variant = rule.variant;
  }
}

Choices::Choice Choices::find(const Problem& problem) const {
  const OfKind& kind = kinds_[index_of(problem)];
  const std::size_t exception = first_fitting(kind.exceptions, problem);
  if (exception < kind.exceptions.size()) return {&kind.named[exception], Why::exception, 0};
  const std::size_t rule = first_fitting(kind.defaults, problem);
  const NamedVariant* of_defaults =
      rule < kind.defaults.size() ? &kind.named[kind.exceptions.size() + kind.models.size() + rule] : nullptr;
  const Choice expected = by_model(kind, problem, of_defaults);
  return expected.named ? expected : Choice{of_defaults, Why::default_rule, 0};
}

// The least expected time, or the default variant's where that is not slower by the margin.
Choices::Choice Choices::by_model(const OfKind& kind, const Problem& problem, const NamedVariant* default_one) const {
  Choice best, of_default;
  double needed = 0;  // expected time of the default variant from which on the best one is chosen
  for (std::size_t i = 0; i < kind.models.size(); ++i) {
    const Choice choice{&kind.named[kind.exceptions.size() + i], Why::model,
                        expected_us(kind.models[i], problem, units_)};
    if (default_one && choice.named->variant == default_one->variant) of_default = choice;
    if (best.named && choice.expected_us >= best.expected_us) continue;
    best = choice;
    needed = choice.expected_us * (1 + static_cast<double>(kind.models[i].margin));
  }
  return of_default.named && of_default.expected_us <= needed ? of_default : best;
}

Choices::Choice Choices::runner_up(const Problem& problem, std::uint32_t chosen) const {
  const OfKind& kind = kinds_[index_of(problem)];
  Choice best;
  for (std::size_t i = 0; i < kind.models.size(); ++i) {
    if (kind.models[i].variant == chosen) continue;
    const double us = expected_us(kind.models[i], problem, units_);
    if (!best.named || us < best.expected_us) best = {&kind.named[kind.exceptions.size() + i], Why::model, us};
  }
  return best;
}

std::size_t Choices::size() const {
  std::size_t size = 0;
  for (const OfKind& kind : kinds_) size += kind.named.size();
  return size;
}

}  // namespace clbake
