// From measurements to the choice of the runtime. For each precision and pair of transposes:
//
//   - Few variants cover the shapes (coverage.hpp): the default ones first, then again and again the one that gains
//     most.
//   - Each gets a cost model (cost_fit.hpp): nine numbers that give the expected time of any problem. One with `lines`
//     gets two, as few rows or columns take another loop.
//   - A kind of which few shapes were timed keeps the models of the prior, which is the profile that the tuning started
//     from, with their times scaled to what was measured.
//   - Where the choice by these models is slower than a measured winner by more than noise, a rule names the winner
//     for this shape.
#include <clbake/builder/tuning.hpp>
#include <clbake/choice.hpp>

#include "profile/cost_fit.hpp"
#include "profile/coverage.hpp"
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace clbake::builder::profile {
namespace {

// Speed of the choice for problems left out, on an H100, in parts of the fastest variant's: models fitted to 8, 12, 20,
// 30, 60 and 90 problems of a kind reach 23 to 53, 87 to 91, 91 to 94, 92 to 95, 95 to 96 and 95 to 97 %; a scaled
// prior of the same device 93 to 96 %, with any number.
constexpr std::size_t kEnoughShapes = 12;       // of a kind without a prior, for cost models
constexpr std::size_t kEnoughBesidePrior = 60;  // of a kind with a prior
constexpr std::size_t kEnoughTimes = 12;        // of a variant, for its model
constexpr std::size_t kMostVariants = 24;       // of a kind, besides the default ones
constexpr double kTrust = 8;             // timed shapes from which on a variant's own scale counts more than the kind's
constexpr double kUsualError = 0.1;      // of a model; one that errs more is scaled less
constexpr double kMargin = 0.25;         // of a model's error: by so much it has to be faster than the default variant
constexpr double kLeastRuleGain = 0.03;  // of an exception, beyond the noise

using Models = std::vector<cache::CostModel>;

// One kind of problem: the models that its measurements give, and the exceptions to a choice by models.
class KindFit {
 public:
  KindFit(const Tuning& tuning, const Times& times, const DefaultChoice& defaults, std::vector<std::uint32_t> shapes)
      : tuning_(tuning), times_(times), shapes_(std::move(shapes)) {
    for (const std::uint32_t s : shapes_) default_of_.push_back(defaults.of(tuning_.shapes[s]));
    variants_ = times.cover(shapes_, kMostVariants, defaults.variants());
  }

  Models fitted() const {
    Models models;
    for (const std::uint32_t v : variants_) {
      const auto params = std::get<kernels::Params>(kernels::parse(tuning_.variants[v]));
      std::vector<TimedShape> few = times_of(geometry_of(params, 1), v), more = times_of(geometry_of(params, 2), v);
      const bool apart = few.size() >= kEnoughTimes && more.size() >= kEnoughTimes;
      if (!apart) more.insert(more.end(), few.begin(), few.end());
      const auto add = [&](const std::vector<TimedShape>& timed, std::uint32_t regime) {
        if (timed.size() < kEnoughTimes) return;
        models.push_back(fit_cost_model(params, timed, tuning_.compute_units, regime));
        models.back().variant = v;
        models.back().margin = static_cast<float>(kMargin) * models.back().error;
      };
      if (apart) add(few, 1);
      add(more, apart ? 2 : 0);
    }
    return models;
  }

  // The prior's models, each with its times multiplied by what its variant takes here over what it expects. The fewer
  // shapes a variant was timed on, the more its factor is that of the kind's other variants.
  Models scaled(Models prior) const {
    std::vector<std::vector<double>> errors;
    std::vector<double> all;
    for (const cache::CostModel& model : prior) {
      errors.push_back(errors_of(model, times_of(model, model.variant), tuning_.compute_units));
      all.insert(all.end(), errors.back().begin(), errors.back().end());
    }
    if (all.empty()) return prior;
    const double common = middle(all);
    for (std::size_t i = 0; i < prior.size(); ++i) {
      const auto count = static_cast<double>(errors[i].size());
      const double own = errors[i].empty() ? common : middle(errors[i]);
      // A model that errs much errs on these shapes, too: that is no reason to move it for all others.
      const double trusted = count / (count + kTrust * std::max(1.0, std::pow(prior[i].error / kUsualError, 2)));
      prior[i] = scaled_cost_model(prior[i], std::exp(common + trusted * (own - common)));
    }
    return prior;
  }

  // Rules for the shapes on which the winner's gain is worth most.
  void add_exceptions(const Models& models, std::vector<cache::Rule>& rules) const {
    cache::Profile profile;
    profile.models = models;
    const Choices choices(profile, tuning_.compute_units);
    std::vector<std::pair<double, cache::Rule>> found;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const Shape& shape = tuning_.shapes[shapes_[i]];
      std::optional<std::uint32_t> chosen = choices.by_model(problem_of(shape), default_of_[i]).variant;
      if (!chosen) chosen = default_of_[i];
      const Measurement* winner = winner_of(shapes_[i]);
      if (!winner || winner->variant == chosen) continue;
      const double gain = chosen ? proven_gain(*winner, *chosen, shapes_[i]) : 1;
      if (gain >= kLeastRuleGain) found.emplace_back(shape.weight * gain, rule_of(shape, winner->variant));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    found.resize(std::min(found.size(), kMaxExceptionsOfKind));
    for (const auto& [gain, rule] : found) rules.push_back(rule);
  }

 private:
  static double middle(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  // Measured beside the winner; null where it was not.
  const Measurement* beside_winner(std::uint32_t variant, std::uint32_t shape) const {
    const Measurement* m = times_.find(variant, shape);
    return m && m->final == times_.winner(shape)->final ? m : nullptr;
  }

  // On the problems of the model's regime.
  std::vector<TimedShape> times_of(const cache::CostModel& model, std::uint32_t variant) const {
    std::vector<TimedShape> timed;
    for (const std::uint32_t s : shapes_) {
      const Measurement* m = beside_winner(variant, s);
      if (m && std::isfinite(expected_us(model, problem_of(tuning_.shapes[s]), 1)))
        timed.push_back({problem_of(tuning_.shapes[s]), m->median_us, times_.best(s)});
    }
    return timed;
  }

  // The fastest of the variants that the profile has.
  const Measurement* winner_of(std::uint32_t shape) const {
    const Measurement* best = nullptr;
    for (const std::uint32_t v : variants_) {
      const Measurement* m = beside_winner(v, shape);
      if (m && m->runs > 1 && (!best || m->median_us < best->median_us)) best = m;
    }
    return best;
  }

  // Logarithm of the chosen variant's time over the winner's, less what may be noise: twice a tie, because many shapes
  // and variants are compared, and the fastest of several is also the luckiest.
  double proven_gain(const Measurement& winner, std::uint32_t chosen, std::uint32_t shape) const {
    const Measurement* m = times_.find(chosen, shape);
    if (!m || !m->final || !winner.final) return 0;  // not in turns
    return std::log(m->median_us / winner.median_us) - 2 * tie(tuning_, *m, winner);
  }

  static cache::Rule rule_of(const Shape& shape, std::uint32_t variant) {
    cache::Rule rule;
    rule.kind() = shape.kind();
    rule.m_min = rule.m_max = static_cast<std::uint32_t>(shape.m);
    rule.n_min = rule.n_max = static_cast<std::uint32_t>(shape.n);
    rule.k_min = rule.k_max = static_cast<std::uint32_t>(shape.k);
    rule.batch_min = rule.batch_max = static_cast<std::uint32_t>(shape.batch);
    rule.variant = variant;
    return rule;
  }

  const Tuning& tuning_;
  const Times& times_;
  std::vector<std::uint32_t> shapes_;                     // that have a winner
  std::vector<std::uint32_t> variants_;                   // that cover them
  std::vector<std::optional<std::uint32_t>> default_of_;  // of each shape
};

// The models that the tuning starts from, without those of variants that failed.
std::map<GemmKind, Models> priors_of(const Tuning& tuning) {
  std::set<std::string> failed;
  for (const Failure& failure : tuning.failures) failed.insert(failure.variant);
  std::map<GemmKind, Models> priors;
  for (const cache::CostModel& model : tuning.prior) {
    if (failed.count(tuning.variants[model.variant]) == 0) priors[model.kind()].push_back(model);
  }
  return priors;
}

// The kinds that were asked for, each with its shapes that have a winner.
std::map<GemmKind, std::vector<std::uint32_t>> shapes_by_kind(const Tuning& tuning, const Times& times) {
  std::map<GemmKind, std::vector<std::uint32_t>> kinds;
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    std::vector<std::uint32_t>& shapes = kinds[tuning.shapes[s].kind()];
    if (times.winner(s)) shapes.push_back(s);
  }
  return kinds;
}

}  // namespace

std::vector<Measurement> winners(const Tuning& tuning) {
  const Times times(tuning);
  std::vector<Measurement> list;
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    if (times.winner(s)) list.push_back(*times.winner(s));
  }
  return list;
}

void fit(Tuning& tuning) {
  tuning.compute_units = std::max(tuning.compute_units, 1U);  // 0: not known
  tuning.exceptions.clear();
  tuning.models.clear();
  const Times times(tuning);
  const DefaultChoice defaults(tuning);
  std::map<GemmKind, Models> models = priors_of(tuning);
  for (const auto& [kind, shapes] : shapes_by_kind(tuning, times)) {
    Models& of_kind = models[kind];
    const bool enough = shapes.size() >= (of_kind.empty() ? kEnoughShapes : kEnoughBesidePrior);
    const KindFit fit(tuning, times, defaults, shapes);
    of_kind = enough ? fit.fitted() : fit.scaled(std::move(of_kind));
    fit.add_exceptions(of_kind, tuning.exceptions);
  }
  for (const auto& [kind, of_kind] : models) {
    tuning.models.insert(tuning.models.end(), of_kind.begin(), of_kind.end());
  }
}

}  // namespace clbake::builder::profile
