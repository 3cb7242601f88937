#include "profile/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace clbake::builder::profile {
namespace {

constexpr double kMostNoise = 0.1;
// The slowdown that is assumed where a variant was stopped early or not timed.
constexpr double kUnknown = 1.5;
// Least gain of a further variant, in logarithms of time, as an average weighted by the shapes' weights.
constexpr double kLeastGain = 0.0003;

}  // namespace

Times::Times(const Tuning& tuning) : of_shape_(tuning.shapes.size()), winners_(tuning.shapes.size(), nullptr) {
  for (const Shape& shape : tuning.shapes) weights_.push_back(shape.weight);
  for (const Measurement& m : tuning.measurements) of_shape_[m.shape].push_back(&m);
  for (std::size_t s = 0; s < of_shape_.size(); ++s) {
    auto& list = of_shape_[s];
    std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->variant < b->variant; });
    for (const Measurement* m : list) {
      if (m->runs < 2) continue;
      const Measurement*& winner = winners_[s];
      const bool better =
          !winner || (m->final && !winner->final) || (m->final == winner->final && m->median_us < winner->median_us);
      if (better) winner = m;
    }
  }
}

const Measurement* Times::find(std::uint32_t variant, std::uint32_t shape) const {
  const auto& list = of_shape_[shape];
  const auto at = std::lower_bound(list.begin(), list.end(), variant,
                                   [](const Measurement* m, std::uint32_t v) { return m->variant < v; });
  return at != list.end() && (*at)->variant == variant ? *at : nullptr;
}

// Times of a race cannot be compared with those before it: where there was a race, only its times count.
bool Times::counts(const Measurement& measurement) const {
  const Measurement* winner = winners_[measurement.shape];
  return measurement.runs > 1 && winner && measurement.final == winner->final;
}

const Measurement* Times::winner(std::uint32_t shape) const { return winners_[shape]; }

double Times::best(std::uint32_t shape) const { return winners_[shape] ? winners_[shape]->median_us : 0; }

double Times::slowdown(std::uint32_t variant, std::uint32_t shape) const {
  const Measurement* m = find(variant, shape);
  const Measurement* winner = winners_[shape];
  if (!m || !winner || m->final != winner->final) return std::log(kUnknown);
  // Stopped after one call: at least so slow.
  if (m->runs < 2) return std::log(std::max(kUnknown, m->median_us / winner->median_us));
  const double noise = (m->spread + winner->spread) / std::sqrt(static_cast<double>(std::min(m->runs, winner->runs)));
  return std::max(0.0, std::log(m->median_us / winner->median_us) - std::min(noise, kMostNoise));
}

std::vector<std::uint32_t> Times::candidates(const std::vector<std::uint32_t>& shapes) const {
  std::set<std::uint32_t> found;
  for (const std::uint32_t s : shapes) {
    for (const Measurement* m : of_shape_[s]) {
      if (counts(*m)) found.insert(m->variant);
    }
  }
  return {found.begin(), found.end()};
}

// `now`: slowdown of the shapes without the variant.
double Times::gain_of(std::uint32_t variant, const std::vector<std::uint32_t>& shapes,
                      const std::vector<double>& now) const {
  double gain = 0, weight = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    gain += weights_[shapes[i]] * std::max(0.0, now[i] - slowdown(variant, shapes[i]));
    weight += weights_[shapes[i]];
  }
  return weight > 0 ? gain / weight : 0;
}

std::vector<std::uint32_t> Times::cover(const std::vector<std::uint32_t>& shapes, std::size_t most,
                                        const std::vector<std::uint32_t>& first) const {
  std::vector<std::uint32_t> chosen;
  std::vector<double> now(shapes.size(), std::log(8.0));  // before the first one everything is slow
  const auto take = [&](std::uint32_t v) {
    chosen.push_back(v);
    for (std::size_t i = 0; i < shapes.size(); ++i) now[i] = std::min(now[i], slowdown(v, shapes[i]));
  };
  const std::vector<std::uint32_t> all = candidates(shapes);
  for (const std::uint32_t v : all) {
    if (std::find(first.begin(), first.end(), v) != first.end()) take(v);
  }
  const std::size_t room = chosen.size() + most;
  while (chosen.size() < room) {
    std::optional<std::uint32_t> best;
    double best_gain = 0;
    for (const std::uint32_t v : all) {
      const double gain = gain_of(v, shapes, now);
      const bool gains_enough = chosen.empty() || gain >= kLeastGain;
      if (!gains_enough || gain <= best_gain) continue;
      best = v;
      best_gain = gain;
    }
    if (!best) break;
    take(*best);
  }
  return chosen;
}

double tie(const Tuning& tuning, const Measurement& a, const Measurement& b) {
  // 0.93 times the interquartile range over the root of the number is the standard error of a normal sample's median.
  // A single call has no range: the other one's counts for it.
  const auto variance = [&](const Measurement& m) {
    const double range = m.runs > 1 ? m.spread : std::max(a.spread, b.spread);
    return std::pow(0.93 * range, 2) / static_cast<double>(m.runs);
  };
  return std::max(tuning.noise, 2 * std::sqrt(variance(a) + variance(b)));
}

}  // namespace clbake::builder::profile
