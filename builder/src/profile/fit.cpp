// From measurements to the choice of the runtime: a cost model for each of few variants, and rules for the exceptions.
//
// What. For each precision and pair of transposes:
//   - Few variants cover the shapes (coverage.hpp): the default ones first, then again and again the one that gains
//     most, as long as it gains 0.5 % on average or 2 % on some class of shapes.
//   - Each gets a cost model (cost_fit.hpp): seven numbers that give the expected time of any problem.
//   - A variant that is not the default one has to be expected to be faster by a margin. It is found by leaving out a
//     tenth of the shapes in turn and choosing for them with what the others say: of several margins the one with the
//     largest gain over the default variants, where a loss counts three times. On a noisy device, or with few shapes,
//     the margin is large and the choice stays with the default variants.
//   - Where the measurements contradict the choice by more than their spread, a rule names the winner for that shape
//     and those within 6 % of it.
// A kind with too few shapes for a fit has rules only.
//
// Why so. Between two sizes of a table the time of a variant jumps: with one more wave of work-groups, or a tile that
// is mostly outside C. The formula knows where; what it does not know, the numbers take up.
//
// What was tried and was worse: boxes of sizes with one variant each, interpolated from the shapes around them
// (Shepard), hundreds of rules that reached 96 % of the best on sizes never timed where this reaches 98 %; the
// residuals of the model, interpolated in the same way, add nothing to it. builder/TUNING.md has the figures.
#include <clbake/builder/tuning.hpp>
#include <clbake/choice.hpp>

#include "profile/cost_fit.hpp"
#include "profile/coverage.hpp"
#include "profile/default_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace clbake::builder {
namespace {

constexpr std::size_t kMaxVariants = 16;
constexpr Gains kGains = {0.005, 0.02};
constexpr std::size_t kLeastShapes = 12;  // for a cost model
constexpr std::size_t kFolds = 10;
constexpr double kMargins[] = {0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3};
constexpr double kWeightOfLoss = 3;
constexpr std::size_t kMaxExceptions = 32;  // a bundle has room for as many
constexpr double kLeastGain = 0.03;         // of an exception, beyond the noise
constexpr double kNeighbourhood = 1.06;     // sizes for which an exception holds, around the shape that was timed

using Models = std::vector<cache::CostModel>;

// One kind of problem.
class KindFit {
 public:
  KindFit(const Tuning& tuning, const Times& times, const DefaultChoice& defaults, std::vector<std::uint32_t> shapes)
      : tuning_(tuning), times_(times), shapes_(std::move(shapes)) {
    for (const std::uint32_t s : shapes_) default_of_.push_back(defaults.of(tuning.shapes[s]));
    variants_ = times.cover(shapes_, kMaxVariants, kGains, defaults.variants());
  }

  void fit(Tuning& result) {
    if (shapes_.size() >= kLeastShapes) {
      margin_ = find_margin();
      models_ = fit_models(kFolds);
      for (cache::CostModel& model : models_) model.margin = static_cast<float>(margin_);
    }
    result.models.insert(result.models.end(), models_.begin(), models_.end());
    add_exceptions(result.exceptions);
  }

 private:
  // Microseconds of a call; nothing where it was not measured beside the winner.
  std::optional<double> time(std::uint32_t variant, std::uint32_t shape) const {
    const Measurement* m = times_.find(variant, shape);
    const Measurement* winner = times_.winner(shape);
    if (!m || !winner || m->final != winner->final) return std::nullopt;
    return m->median_us;
  }

  // From all shapes but those of the fold; `kFolds`: from all.
  Models fit_models(std::size_t fold) const {
    Models models;
    for (const std::uint32_t v : variants_) {
      std::vector<TimedShape> timed;
      for (std::size_t i = 0; i < shapes_.size(); ++i) {
        const std::optional<double> us = time(v, shapes_[i]);
        if (us && i % kFolds != fold)
          timed.push_back({problem_of(tuning_.shapes[shapes_[i]]), *us, times_.best(shapes_[i])});
      }
      if (timed.size() < kLeastShapes / 2) continue;
      const auto params = std::get<kernels::Params>(kernels::parse(tuning_.variants[v]));
      models.push_back(fit_cost_model(params, timed, tuning_.compute_units));
      models.back().variant = v;
    }
    return models;
  }

  // What the models expect of a shape.
  struct Expectation {
    std::optional<std::uint32_t> best;
    double best_us = std::numeric_limits<double>::infinity();
    std::optional<double> default_us;
  };

  Expectation expect(const Models& models, std::size_t i) const {
    const Problem problem = problem_of(tuning_.shapes[shapes_[i]]);
    Expectation e;
    for (const cache::CostModel& model : models) {
      const double us = expected_us(model, problem, tuning_.compute_units);
      if (model.variant == default_of_[i]) e.default_us = us;
      if (us < e.best_us) e.best = model.variant;
      e.best_us = std::min(e.best_us, us);
    }
    return e;
  }

  // What taking the best variant instead of the default one gains on a shape.
  struct Gain {
    double expected = 0;  // by models that do not know the shape: time of the default variant over the other's, less 1
    double measured = 0;  // logarithm of the same
  };

  std::vector<Gain> cross_validate() const {
    std::vector<Gain> gains;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      const Models models = fit_models(fold);
      for (std::size_t i = fold; i < shapes_.size(); i += kFolds) {
        const Expectation e = expect(models, i);
        if (!e.default_us) continue;
        const std::optional<double> us = time(*e.best, shapes_[i]);
        const std::optional<double> default_us = time(*default_of_[i], shapes_[i]);
        if (us && default_us) gains.push_back({*e.default_us / e.best_us - 1, std::log(*default_us / *us)});
      }
    }
    return gains;
  }

  double find_margin() const {
    const std::vector<Gain> gains = cross_validate();
    double best_margin = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (const double margin : kMargins) {
      double sum = 0;
      for (const Gain& gain : gains) {
        if (gain.expected <= margin) continue;
        sum += gain.measured < 0 ? kWeightOfLoss * gain.measured : gain.measured;
      }
      if (sum <= most) continue;
      most = sum;
      best_margin = margin;
    }
    return best_margin;
  }

  // What the runtime will choose for a shape.
  std::optional<std::uint32_t> choice(std::size_t i) const {
    if (models_.empty()) return default_of_[i];
    const Expectation e = expect(models_, i);
    return e.default_us && *e.default_us <= e.best_us * (1 + margin_) ? default_of_[i] : e.best;
  }

  void add_exceptions(std::vector<cache::Rule>& rules) const {
    std::vector<std::pair<double, cache::Rule>> found;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const std::optional<std::uint32_t> chosen = choice(i);
      const Measurement* winner = winner_among_chosen(shapes_[i]);
      if (!winner || winner->variant == chosen) continue;
      const double gain = chosen ? proven_gain(*winner, *chosen, shapes_[i]) : 1;
      if (gain >= kLeastGain) found.emplace_back(gain, exception(tuning_.shapes[shapes_[i]], winner->variant));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    found.resize(std::min(found.size(), kMaxExceptions));
    for (const auto& [gain, rule] : found) rules.push_back(rule);
  }

  // The fastest of the variants that the profile has.
  const Measurement* winner_among_chosen(std::uint32_t shape) const {
    const Measurement* best = nullptr;
    for (const std::uint32_t v : variants_) {
      const Measurement* m = times_.find(v, shape);
      const bool counts = m && m->runs > 1 && m->final == times_.winner(shape)->final;
      if (counts && (!best || m->median_us < best->median_us)) best = m;
    }
    return best;
  }

  // Logarithm of the chosen variant's time over the winner's, less what may be noise. Three standard errors of a
  // median, which is 0.93 times the interquartile range over the root of the number of calls when these are normal.
  double proven_gain(const Measurement& winner, std::uint32_t chosen, std::uint32_t shape) const {
    const Measurement* m = times_.find(chosen, shape);
    if (!m || m->final != winner.final) return 0;
    const auto variance = [](const Measurement& x) {
      return 0.93 * 0.93 * x.spread * x.spread / static_cast<double>(x.runs);
    };
    return std::log(m->median_us / winner.median_us) - 3 * std::sqrt(variance(*m) + variance(winner));
  }

  static cache::Rule exception(const Shape& shape, std::uint32_t variant) {
    const auto least = [](std::size_t size) {
      return static_cast<std::uint32_t>(std::ceil(static_cast<double>(size) / kNeighbourhood));
    };
    const auto most = [](std::size_t size) {
      return static_cast<std::uint32_t>(std::min(static_cast<double>(size) * kNeighbourhood, 2147483647.0));
    };
    cache::Rule rule;
    rule.kind() = shape.kind();
    rule.m_min = least(shape.m), rule.m_max = most(shape.m);
    rule.n_min = least(shape.n), rule.n_max = most(shape.n);
    rule.k_min = least(shape.k), rule.k_max = most(shape.k);
    rule.batch_min = least(shape.batch), rule.batch_max = most(shape.batch);
    rule.variant = variant;
    return rule;
  }

  const Tuning& tuning_;
  const Times& times_;
  std::vector<std::uint32_t> shapes_;
  std::vector<std::uint32_t> variants_;
  std::vector<std::optional<std::uint32_t>> default_of_;  // of each shape
  Models models_;
  double margin_ = 0;
};

}  // namespace

void fit(Tuning& tuning) {
  tuning.winners.clear();
  tuning.exceptions.clear();
  tuning.models.clear();
  const Times times(tuning);
  const DefaultChoice defaults(tuning);
  std::map<GemmKind, std::vector<std::uint32_t>> kinds;
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    const Measurement* winner = times.winner(s);
    if (!winner) continue;
    tuning.winners.push_back({shape_class(tuning.shapes[s]), *winner});
    kinds[tuning.shapes[s].kind()].push_back(s);
  }
  for (auto& [kind, shapes] : kinds) KindFit(tuning, times, defaults, std::move(shapes)).fit(tuning);
}

}  // namespace clbake::builder
