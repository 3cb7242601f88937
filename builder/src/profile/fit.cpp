// From measurements to the choice of the runtime: a cost model for each of few variants, and rules for the exceptions.
//
// What. For each precision and pair of transposes:
//   - Few variants cover the shapes (coverage.hpp): the default ones first, then again and again the one that gains
//     most, as long as it gains 0.1 % on average or 2 % on some class of shapes.
//   - Each gets a cost model (cost_fit.hpp): eight numbers that give the expected time of any problem.
//   - These models replace those that the tuning started from (the prior: of the profile that clbake ships for the
//     class of device) only if they choose better on shapes that they do not know; so do the prior's with each
//     variant's times scaled to what was measured here. A prior that nothing beats stays.
//   - A variant that is not the default one has to be expected to be faster by a margin. It is found by leaving out a
//     tenth of the shapes in turn and choosing for them with what the others say: of several margins the one with the
//     largest gain over the default variants, where a loss counts three times. It is one margin for all kinds that
//     gain: of one kind alone the shapes are too few to tell. On a noisy device the margin is large and the choice
//     stays with the default variants.
//   - Where the measurements contradict the choice by more than their spread, a rule names the winner for that shape
//     and those within 6 % of it, unless another one of these was timed.
// A kind of which too few shapes were raced has for its prior, if there is no other, the models of the same precision's
// kind with most shapes (sibling_models.hpp), scaled to what was measured.
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
#include "profile/sibling_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace clbake::builder {
namespace {

constexpr std::size_t kMaxVariants = 20;
constexpr Gains kGains = {0.001, 0.02};
// For cost models of one's own, and of a variant for its model. Even few shapes choose far better than the default
// variants, which serve everything else; but with 8, single choices were four times as slow as those.
constexpr std::size_t kLeastShapes = 12;
constexpr std::size_t kEnoughShapes = 30;  // from which on they choose as well as another kind's
constexpr std::size_t kLeastTimes = 12;    // or half of the shapes
constexpr std::size_t kLeastScaled = 3;    // of a variant, for the scale of the prior's
// So many shapes are needed to trust the scale of another kind's model half: the fewer there are, the more the scale
// says of them alone.
constexpr double kTrust = 8;
constexpr std::size_t kFolds = 10;
constexpr double kMargins[] = {0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 1, 10};
constexpr double kWeightOfLoss = 3;
constexpr double kGainOverNothing = 0.01;
constexpr double kLeastGain = 0.03;      // of an exception, beyond the noise
constexpr double kNeighbourhood = 1.06;  // sizes for which an exception holds, around the shape that was timed

using Models = std::vector<cache::CostModel>;
using MarginSums = std::array<double, std::size(kMargins)>;  // a gain for each margin

// One kind of problem.
class KindFit {
 public:
  KindFit(const Tuning& tuning, const Times& times, const DefaultChoice& defaults, std::vector<std::uint32_t> shapes,
          Models prior)
      : tuning_(tuning), times_(times), shapes_(std::move(shapes)), prior_(std::move(prior)), models_(prior_) {
    set_defaults(defaults);
    variants_ = times.cover(shapes_, kMaxVariants, kGains, defaults.variants());
  }

  // Shapes that were measured in a race.
  std::size_t raced() const {
    return static_cast<std::size_t>(std::count_if(shapes_.begin(), shapes_.end(),
                                                  [&](std::uint32_t shape) { return times_.winner(shape)->final; }));
  }

  bool has_prior() const { return !prior_.empty(); }
  const Models& models() const { return models_; }

  // Takes another kind's models for its prior, unless what was measured here speaks for the default variants.
  void adopt(Models models, const DefaultChoice& defaults) {
    set_defaults(defaults);
    prior_ = std::move(models);
    for (cache::CostModel& model : prior_) {
      const std::vector<TimedShape> timed = times_of(model.variant, kFolds);
      const auto count = static_cast<double>(timed.size());
      if (!timed.empty()) model = scaled_cost_model(model, timed, tuning_.compute_units, count / (count + kTrust));
    }
    double sum = 0;
    for (std::size_t i = 0; i < shapes_.size(); ++i) sum += utility(i, gain(default_of_[i], choice(prior_, i), i));
    if (sum < 0) prior_.clear();
    models_ = prior_;
  }

  // Where models come from, given the fold that they must not know: the prior's, with the times scaled to what was
  // measured here, or a fit of one's own.
  using Maker = Models (KindFit::*)(std::size_t fold) const;

  Models scale_models(std::size_t fold) const {
    Models models = prior_;
    for (cache::CostModel& model : models) {
      const std::vector<TimedShape> timed = times_of(model.variant, fold);
      if (timed.size() >= kLeastScaled) model = scaled_cost_model(model, timed, tuning_.compute_units);
    }
    return models;
  }

  Models fit_models(std::size_t fold) const {
    if (shapes_.size() < kLeastShapes) return {};
    Models models;
    for (const std::uint32_t v : variants_) {
      const std::vector<TimedShape> timed = times_of(v, fold);
      if (timed.size() < std::min(kLeastTimes, shapes_.size() / 2)) continue;
      const auto params = std::get<kernels::Params>(kernels::parse(tuning_.variants[v]));
      models.push_back(fit_cost_model(params, timed, tuning_.compute_units));
      models.back().variant = v;
    }
    const auto has_model = [&](const std::optional<std::uint32_t>& variant) {
      return !variant || std::any_of(models.begin(), models.end(), [&](const auto& m) { return m.variant == variant; });
    };
    // Without its own expected time a default variant could not stay.
    return std::all_of(default_of_.begin(), default_of_.end(), has_model) ? models : Models();
  }

  // Makes models that do not know a tenth of the shapes, for each tenth, and adds to `sums` what they gain over the
  // default variants on the shapes that they do not know; nothing where they lose, as consider() refuses them there.
  void leave_out(Maker make, MarginSums& sums) {
    folds_.clear();
    for (std::size_t fold = 0; fold < kFolds; ++fold) folds_.push_back((this->*make)(fold));
    MarginSums here{};
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const Expectation e = expect(folds_[i % kFolds], i);
      if (!e.default_us) continue;
      for (std::size_t margin = 0; margin < sums.size(); ++margin) {
        const bool replaces = *e.default_us > e.best_us * (1 + kMargins[margin]);
        if (replaces) here[margin] += utility(i, gain(default_of_[i], e.best, i));
      }
    }
    for (std::size_t margin = 0; margin < sums.size(); ++margin) sums[margin] += std::max(0.0, here[margin]);
  }

  // Takes the models if those made by leave_out() choose better than the prior, and than what was taken before.
  void consider(Maker make, double margin) {
    for (Models& models : folds_) set_margin(models, margin);
    double sum = 0;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      sum += utility(i, gain(choice(prior_, i), choice(folds_[i % kFolds], i), i));
    }
    if (sum <= gain_) return;
    gain_ = sum;
    models_ = (this->*make)(kFolds);
    set_margin(models_, margin);
  }

  void add_to(Tuning& result) const {
    result.models.insert(result.models.end(), models_.begin(), models_.end());
    add_exceptions(result.exceptions);
  }

 private:
  void set_defaults(const DefaultChoice& defaults) {
    default_of_.clear();
    for (const std::uint32_t s : shapes_) default_of_.push_back(defaults.of(tuning_.shapes[s]));
  }

  // Microseconds of a call; nothing where it was not measured beside the winner.
  std::optional<double> time(std::uint32_t variant, std::uint32_t shape) const {
    const Measurement* m = times_.find(variant, shape);
    const Measurement* winner = times_.winner(shape);
    if (!m || !winner || m->final != winner->final) return std::nullopt;
    return m->median_us;
  }

  // On all shapes but those of the fold; `kFolds`: on all.
  std::vector<TimedShape> times_of(std::uint32_t variant, std::size_t fold) const {
    std::vector<TimedShape> timed;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const std::optional<double> us = time(variant, shapes_[i]);
      if (!us || i % kFolds == fold) continue;
      timed.push_back({problem_of(tuning_.shapes[shapes_[i]]), *us, times_.best(shapes_[i])});
    }
    return timed;
  }

  // What models expect of a shape.
  struct Expectation {
    std::optional<std::uint32_t> best;
    double best_us = std::numeric_limits<double>::infinity();
    double margin = 0;  // of the best
    std::optional<double> default_us;
  };

  Expectation expect(const Models& models, std::size_t i) const {
    const Problem problem = problem_of(tuning_.shapes[shapes_[i]]);
    Expectation e;
    for (const cache::CostModel& model : models) {
      const double us = expected_us(model, problem, tuning_.compute_units);
      if (model.variant == default_of_[i]) e.default_us = us;
      if (us >= e.best_us) continue;
      e.best = model.variant;
      e.best_us = us;
      e.margin = static_cast<double>(model.margin);
    }
    return e;
  }

  // What the runtime will choose for a shape.
  std::optional<std::uint32_t> choice(const Models& models, std::size_t i) const {
    const Expectation e = expect(models, i);
    if (!e.best) return default_of_[i];
    return e.default_us && *e.default_us <= e.best_us * (1 + e.margin) ? default_of_[i] : e.best;
  }

  // Logarithm of the first variant's time over the second's on a shape, as measured in turns; 0 for
  // a tie, and without such a measurement.
  double gain(std::optional<std::uint32_t> from, std::optional<std::uint32_t> to, std::size_t i) const {
    if (!from && to) return kGainOverNothing;
    if (!to || *from == *to || !time(*from, shapes_[i]) || !time(*to, shapes_[i])) return 0;
    const Measurement& before = *times_.find(*from, shapes_[i]);
    const Measurement& after = *times_.find(*to, shapes_[i]);
    if (!before.final || after.runs < 2) return 0;  // not in turns, or stopped after one call
    const double gain = std::log(before.median_us / after.median_us);
    return std::abs(gain) > tie(tuning_, before, after) ? gain : 0;
  }

  // What a gain on a shape counts in a sum.
  double utility(std::size_t i, double gain) const {
    return tuning_.shapes[shapes_[i]].weight * (gain < 0 ? kWeightOfLoss * gain : gain);
  }

  static void set_margin(Models& models, double margin) {
    for (cache::CostModel& model : models) model.margin = static_cast<float>(margin);
  }

  void add_exceptions(std::vector<cache::Rule>& rules) const {
    std::vector<std::pair<double, cache::Rule>> found;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const std::optional<std::uint32_t> chosen = choice(models_, i);
      const Measurement* winner = winner_among_chosen(shapes_[i]);
      if (!winner || winner->variant == chosen) continue;
      const double proven = chosen ? proven_gain(*winner, *chosen, shapes_[i]) : 1;
      if (proven >= kLeastGain) found.emplace_back(utility(i, proven), exception(shapes_[i], winner->variant));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    found.resize(std::min(found.size(), kMaxExceptionsOfKind));
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

  // Logarithm of the chosen variant's time over the winner's, less what may be noise: twice a tie, because many shapes
  // and variants are compared, and the fastest of several is also the luckiest.
  double proven_gain(const Measurement& winner, std::uint32_t chosen, std::uint32_t shape) const {
    const Measurement* m = times_.find(chosen, shape);
    if (!m || !m->final || !winner.final) return 0;  // not in turns
    return std::log(m->median_us / winner.median_us) - 2 * tie(tuning_, *m, winner);
  }

  cache::Rule exception(std::uint32_t shape, std::uint32_t variant) const {
    cache::Rule rule = rule_around(tuning_.shapes[shape], kNeighbourhood);
    const bool reaches_another = std::any_of(shapes_.begin(), shapes_.end(), [&](std::uint32_t other) {
      return other != shape && fits(rule, problem_of(tuning_.shapes[other]));
    });
    if (reaches_another) rule = rule_around(tuning_.shapes[shape], 1);
    rule.variant = variant;
    return rule;
  }

  static cache::Rule rule_around(const Shape& shape, double factor) {
    const auto least = [&](std::size_t size) {
      return static_cast<std::uint32_t>(std::ceil(static_cast<double>(size) / factor));
    };
    const auto most = [&](std::size_t size) {
      return static_cast<std::uint32_t>(std::min(static_cast<double>(size) * factor, 2147483647.0));
    };
    cache::Rule rule;
    rule.kind() = shape.kind();
    rule.m_min = least(shape.m), rule.m_max = most(shape.m);
    rule.n_min = least(shape.n), rule.n_max = most(shape.n);
    rule.k_min = least(shape.k), rule.k_max = most(shape.k);
    rule.batch_min = least(shape.batch), rule.batch_max = most(shape.batch);
    return rule;
  }

  const Tuning& tuning_;
  const Times& times_;
  std::vector<std::uint32_t> shapes_;
  std::vector<std::uint32_t> variants_;
  std::vector<std::optional<std::uint32_t>> default_of_;  // of each shape
  Models prior_;
  Models models_;
  double gain_ = 0;            // of these over the prior's choice
  std::vector<Models> folds_;  // by leave_out()
};

// The margin with the largest gain; of equal ones the largest: what only ties speak for does not replace the default.
double best_margin(const MarginSums& sums) {
  const auto best = std::max_element(sums.rbegin(), sums.rend());
  return kMargins[sums.rend() - best - 1];
}

// The models that the tuning starts from, without those of variants that failed.
std::map<GemmKind, Models> priors_of(const Tuning& tuning, const std::set<std::string>& failed) {
  std::map<GemmKind, Models> priors;
  for (const cache::CostModel& model : tuning.prior) {
    if (failed.count(tuning.variants[model.variant]) == 0) priors[model.kind()].push_back(model);
  }
  return priors;
}

std::vector<Winner> winners_of(const Tuning& tuning, const Times& times) {
  std::vector<Winner> winners;
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    const Measurement* winner = times.winner(s);
    if (winner) winners.push_back({shape_class(tuning.shapes[s]), *winner});
  }
  return winners;
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

using Fits = std::map<GemmKind, KindFit>;

// Lets scaled and fitted models compete with the priors. Of each way to make them there is one margin, for which the
// kinds of earlier runs count, too.
class Competition {
 public:
  void run(const std::vector<KindFit*>& fits) {
    for (std::size_t way = 0; way < std::size(kMakers); ++way) {
      for (KindFit* fit : fits) fit->leave_out(kMakers[way], sums_[way]);
      const double margin = best_margin(sums_[way]);
      for (KindFit* fit : fits) fit->consider(kMakers[way], margin);
    }
  }

 private:
  static constexpr KindFit::Maker kMakers[] = {&KindFit::scale_models, &KindFit::fit_models};
  MarginSums sums_[std::size(kMakers)] = {};
};

// The fit whose models may serve this kind, too: that of the same precision with most raced shapes, enough of them for
// models. Null: none, or this kind's own ones need no help.
const KindFit* sibling_of(const GemmKind& kind, const Fits& fits) {
  const KindFit& own = fits.at(kind);
  if (own.has_prior() || own.raced() >= kEnoughShapes) return nullptr;
  const KindFit* best = nullptr;
  for (const auto& [other, fit] : fits) {
    const bool serves = other.precision == kind.precision && fit.raced() >= kLeastShapes;
    if (serves && (!best || fit.raced() > best->raced())) best = &fit;
  }
  return best == &own ? nullptr : best;
}

}  // namespace

void fit(Tuning& tuning, const kernels::DeviceLimits* limits) {
  tuning.compute_units = std::max(tuning.compute_units, 1U);  // 0: not known
  tuning.exceptions.clear();
  tuning.models.clear();
  std::set<std::string> failed;
  for (const Failure& failure : tuning.failures) failed.insert(failure.variant);
  std::map<GemmKind, Models> priors = priors_of(tuning, failed);
  const Times times(tuning);
  tuning.winners = winners_of(tuning, times);
  const DefaultChoice defaults(tuning);
  Fits fits;
  for (auto& [kind, shapes] : shapes_by_kind(tuning, times)) {
    fits.try_emplace(kind, tuning, times, defaults, std::move(shapes), std::move(priors[kind]));
    priors.erase(kind);
  }
  for (const auto& [kind, prior] : priors) {  // of kinds that were not asked for
    tuning.models.insert(tuning.models.end(), prior.begin(), prior.end());
  }

  std::vector<KindFit*> alone, helped;
  for (auto& [kind, fit] : fits) (sibling_of(kind, fits) ? helped : alone).push_back(&fit);
  Competition competition;
  competition.run(alone);
  for (auto& [kind, fit] : fits) {
    const KindFit* sibling = sibling_of(kind, fits);
    if (!sibling) continue;
    Models models = sibling_models(sibling->models(), kind, defaults.variants(), failed, limits, tuning);
    fit.adopt(std::move(models), DefaultChoice(tuning));
  }
  competition.run(helped);
  for (const auto& [kind, fit] : fits) fit.add_to(tuning);
}

}  // namespace clbake::builder
