#include "profile/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace clbake::builder {
namespace {

constexpr double kMostNoise = 0.1;
// The slowdown that is assumed where a variant was stopped early or not timed.
constexpr double kUnknown = 1.5;

// Shapes of up to 8 and of up to 64 rows or columns want other tiles than thicker ones, so each is a class of its own.
std::string fine_class(const Shape& shape) {
  const std::size_t thickness = std::min({shape.m, shape.n, shape.k});
  return shape_class(shape) + (thickness <= 8 ? " to 8" : thickness <= 64 ? " to 64" : "");
}

}  // namespace

Times::Times(const Tuning& tuning) : of_shape_(tuning.shapes.size()), winners_(tuning.shapes.size(), nullptr) {
  for (const Shape& shape : tuning.shapes) {
    classes_.push_back(fine_class(shape));
    weights_.push_back(shape.weight);
  }
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
Gains Times::gains_of(std::uint32_t variant, const std::vector<std::uint32_t>& shapes,
                      const std::vector<double>& now) const {
  struct Sum {
    double gain = 0;
    double weight = 0;
    void add(double shape_gain, double shape_weight) {
      gain += shape_gain * shape_weight;
      weight += shape_weight;
    }
    double average() const { return weight > 0 ? gain / weight : 0; }
  };
  std::map<std::string, Sum> classes;
  Sum all;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double gain = std::max(0.0, now[i] - slowdown(variant, shapes[i]));
    all.add(gain, weights_[shapes[i]]);
    classes[classes_[shapes[i]]].add(gain, weights_[shapes[i]]);
  }
  Gains gains{all.average(), 0};
  for (const auto& [name, sum] : classes) gains.of_a_class = std::max(gains.of_a_class, sum.average());
  return gains;
}

std::vector<std::uint32_t> Times::cover(const std::vector<std::uint32_t>& shapes, std::size_t most, const Gains& enough,
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
      const Gains gains = gains_of(v, shapes, now);
      const bool gains_enough =
          chosen.empty() || gains.on_average >= enough.on_average || gains.of_a_class >= enough.of_a_class;
      if (!gains_enough || gains.on_average <= best_gain) continue;
      best = v;
      best_gain = gains.on_average;
    }
    if (!best) break;
    take(*best);
  }
  return chosen;
}

}  // namespace clbake::builder
