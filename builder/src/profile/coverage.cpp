#include "profile/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clbake::builder {
namespace {

constexpr double kMostNoise = 0.1;
// The slowdown that is assumed where a variant was stopped early or not timed.
constexpr double kUnknown = 1.5;

}  // namespace

Times::Times(const Tuning& tuning) : of_shape_(tuning.shapes.size()), winners_(tuning.shapes.size(), nullptr) {
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

std::vector<std::uint32_t> Times::cover(const std::vector<std::uint32_t>& shapes, std::size_t most, double mean_gain,
                                        double single_gain, const std::vector<std::uint32_t>& first,
                                        const std::vector<std::uint32_t>& present) const {
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t s : shapes) {
    for (const Measurement* m : of_shape_[s]) {
      if (counts(*m)) candidates.push_back(m->variant);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::vector<double> now(shapes.size(), std::log(8.0));  // before the first one everything is slow
  const auto use = [&](std::uint32_t v) {
    for (std::size_t s = 0; s < shapes.size(); ++s) now[s] = std::min(now[s], slowdown(v, shapes[s]));
  };
  for (const std::uint32_t v : present) use(v);
  const auto take = [&](const std::vector<std::uint32_t>& from, double least_mean, double least_single) {
    while (chosen.size() < most) {
      double best_gain = 0;
      double largest = 0;
      std::uint32_t best = 0;
      for (const std::uint32_t v : from) {
        double gain = 0;
        double single = 0;
        for (std::size_t s = 0; s < shapes.size(); ++s) {
          const double g = std::max(0.0, now[s] - slowdown(v, shapes[s]));
          gain += g / static_cast<double>(shapes.size());
          single = std::max(single, g);
        }
        if (gain > best_gain) {
          best_gain = gain;
          best = v;
          largest = single;
        }
      }
      const bool any = !chosen.empty() || !present.empty();
      if (best_gain <= 0 || (any && best_gain < least_mean && largest < least_single)) break;
      chosen.push_back(best);
      use(best);
    }
  };
  std::vector<std::uint32_t> known = candidates;
  const auto other = [&](std::uint32_t v) { return std::find(first.begin(), first.end(), v) == first.end(); };
  known.erase(std::remove_if(known.begin(), known.end(), other), known.end());
  take(known, 0, 0);
  take(candidates, mean_gain, single_gain);
  return chosen;
}

}  // namespace clbake::builder
