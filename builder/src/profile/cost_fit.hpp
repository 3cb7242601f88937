// From measurements of one variant to its cost model, by least squares with coefficients of at least 0.
#pragma once

#include <clbake/builder/tuning.hpp>
#include <clbake/kernels/params.hpp>

#include <array>
#include <vector>

namespace clbake::builder::profile {

struct TimedShape {
  Problem problem;
  double us = 0;       // of one call
  double best_us = 0;  // of the fastest variant
};

// The variant's geometry, with all times 0, for the problems of a regime (cache::CostModel).
cache::CostModel geometry_of(const kernels::Params& params, std::uint32_t regime = 0);

// The cost model whose expected times differ least from the measured ones, in logarithms. Shapes on
// which the variant is far from the best count less: its time there will not be asked for. `units`: compute units of
// the device. At least one shape; all of the regime.
cache::CostModel fit_cost_model(const kernels::Params& params, const std::vector<TimedShape>& shapes,
                                std::uint32_t units, std::uint32_t regime = 0);

// Logarithm of the measured time over the expected one, for each shape.
std::vector<double> errors_of(const cache::CostModel& model, const std::vector<TimedShape>& shapes,
                              std::uint32_t units);

// The model with all times multiplied by the factor.
cache::CostModel scaled_cost_model(cache::CostModel model, double factor);

constexpr std::size_t kFeatures = 9;
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
