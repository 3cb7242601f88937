// Least squares with coefficients of at least 0.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace clbake::builder::profile {

constexpr std::size_t kFeatures = 8;
using Features = std::array<double, kFeatures>;

struct Observation {
  Features features{};
  double value = 0;   // what the coefficients times the features should give
  double weight = 1;  // at least 0; of the square of the difference
};

// The coefficients of the least weighted sum of squared differences, none of them negative. Tries every set of features
// that may have a coefficient above 0: there are few, and the result does not depend on where a search starts. Features
// that always are 0, or that others make up, get 0.
Features fit_nonnegative(const std::vector<Observation>& observations);

}  // namespace clbake::builder::profile
