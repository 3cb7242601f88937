// A tuning's measurements as a table of variants and shapes, and the choice of few variants that are good for all.
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

  // The fastest measurement that counts on a shape, of those that were made in turns with rivals if there are any; null
  // when there is none.
  const Measurement* winner(std::uint32_t shape) const;

  // Its median; 0 when there is none.
  double best(std::uint32_t shape) const;

  // Logarithm of the variant's time against the best one's, less what may be noise, at least 0; at least log(1.5)
  // where it was not timed to the end.
  double slowdown(std::uint32_t variant, std::uint32_t shape) const;

  // Few variants of which one is good on each of the shapes: again and again the one that gains most over those before,
  // as long as the gain is `mean_gain` on the average of the shapes or `single_gain` on one of them (logarithms), at
  // most `most`; at least one, where any was timed. `present` are there anyway and are not among them. Those of `first`
  // come first, whatever they gain; each part is in the order of its gains.
  std::vector<std::uint32_t> cover(const std::vector<std::uint32_t>& shapes, std::size_t most, double mean_gain,
                                   double single_gain, const std::vector<std::uint32_t>& first = {},
                                   const std::vector<std::uint32_t>& present = {}) const;

 private:
  bool counts(const Measurement& measurement) const;
  std::vector<std::vector<const Measurement*>> of_shape_;  // [shape], by variant
  std::vector<const Measurement*> winners_;                // [shape]
};

}  // namespace clbake::builder
