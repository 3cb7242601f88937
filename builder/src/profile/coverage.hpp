// A tuning's measurements by variant and shape, and the choice of few variants that together are good on all shapes.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <vector>

namespace clbake::builder {

class Times {
 public:
  // `tuning` must outlive it and keep its measurements where they are.
  explicit Times(const Tuning& tuning);

  // What was measured; null where nothing was.
  const Measurement* find(std::uint32_t variant, std::uint32_t shape) const;

  // The fastest measurement of a shape that was not stopped early, among those of a race if there are any; null when
  // there is none.
  const Measurement* winner(std::uint32_t shape) const;

  // Its median; 0 when there is none.
  double best(std::uint32_t shape) const;

  // Logarithm of the variant's time against the best one's, less what may be noise, at least 0; at least log(1.5)
  // where it was stopped early or not timed.
  double slowdown(std::uint32_t variant, std::uint32_t shape) const;

  // Few variants of which one is good on each of the shapes (greedy cover): again and again the one that gains most
  // over those before, as long as it gains `mean_gain` on the average of the shapes or `single_gain` on one of them
  // (logarithms of time), at most `most`; at least one, if any was timed. `present` are chosen already, and not
  // returned. Those of `first` are taken first, whatever they gain.
  std::vector<std::uint32_t> cover(const std::vector<std::uint32_t>& shapes, std::size_t most, double mean_gain,
                                   double single_gain, const std::vector<std::uint32_t>& first = {},
                                   const std::vector<std::uint32_t>& present = {}) const;

 private:
  bool counts(const Measurement& measurement) const;
  std::vector<std::vector<const Measurement*>> of_shape_;  // [shape], by variant
  std::vector<const Measurement*> winners_;                // [shape]
};

}  // namespace clbake::builder
