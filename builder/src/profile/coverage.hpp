// A tuning's measurements by variant and shape, and the choice of few variants that together are good on all shapes.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <vector>

namespace clbake::builder::profile {

class Times {
 public:
  // `tuning` must outlive it and keep its measurements where they are.
  explicit Times(const Tuning& tuning);

  // The measurement; null where there is none.
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
  // over those before, as long as it gains 0.03 % on average, at most `most`; at least one, if any was timed. Those of
  // `first` that were timed come before them, whatever they gain, and do not count towards `most`.
  std::vector<std::uint32_t> cover(const std::vector<std::uint32_t>& shapes, std::size_t most,
                                   const std::vector<std::uint32_t>& first) const;

 private:
  double gain_of(std::uint32_t variant, const std::vector<std::uint32_t>& shapes, const std::vector<double>& now) const;
  bool counts(const Measurement& measurement) const;
  std::vector<std::uint32_t> candidates(const std::vector<std::uint32_t>& shapes) const;
  std::vector<double> weights_;                            // [shape]
  std::vector<std::vector<const Measurement*>> of_shape_;  // [shape], by variant
  std::vector<const Measurement*> winners_;                // [shape]
};

// Logarithm of one variant's time over another one's from which on the difference is more than noise: twice the root of
// the sum of the squared standard errors of the two medians, and at least the tuning's noise.
double tie(const Tuning& tuning, const Measurement& a, const Measurement& b);

}  // namespace clbake::builder::profile
