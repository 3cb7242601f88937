#include "profile/cost_fit.hpp"

#include <clbake/choice.hpp>
#include <clbake/kernels/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace clbake::builder::profile {
namespace {

// The times that are fitted come first among the numbers.
float& time_of(cache::CostModel& model, std::size_t i) {
  const auto& [name, time] = cache::kCostModelNumbers[i];
  return model.*time;
}

// Work-groups that a compute unit may run at the same time; which number it is follows from the measurements.
constexpr std::uint32_t kResident[] = {1, 2, 3, 4, 6, 8};

// Times over the best one up to which a shape says how good the model is.
constexpr double kCompetitive = 1.5;

constexpr int kTurns = 3;         // of weights; more gain nothing
constexpr double kMostError = 3;  // a logarithm; weights grow with it

// The expected times of a problem when one of the times is 1 and the others are 0.
Features features_of(cache::CostModel geometry, const Problem& problem, std::uint32_t units) {
  Features features{};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    time_of(geometry, i) = 1;
    features[i] = expected_us(geometry, problem, units);
    time_of(geometry, i) = 0;
  }
  return features;
}

double logarithm_of_error(const cache::CostModel& model, const TimedShape& shape, std::uint32_t units) {
  return std::log(shape.us / std::max(expected_us(model, shape.problem, units), 1e-3));
}

// Root mean square over the shapes on which the variant is competitive; over all if it nowhere is.
double error_of(const cache::CostModel& model, const std::vector<TimedShape>& shapes, std::uint32_t units) {
  double sum = 0, sum_of_all = 0;
  std::size_t count = 0;
  for (const TimedShape& shape : shapes) {
    const double error = logarithm_of_error(model, shape, units);
    sum_of_all += error * error;
    if (shape.us > kCompetitive * shape.best_us) continue;
    sum += error * error;
    ++count;
  }
  return std::sqrt(count > 0 ? sum / static_cast<double>(count) : sum_of_all / static_cast<double>(shapes.size()));
}

// The weight by which the square of 1 - expected / measured has the gradient of the square of ln(measured / expected):
// too short a time then counts as much as too long a one.
double weight_of(const cache::CostModel& model, const TimedShape& shape, std::uint32_t units) {
  const double error = std::min(logarithm_of_error(model, shape, units), kMostError);
  const double factor = std::abs(error) < 1e-6 ? 1 : error / (1 - std::exp(-error)) * std::exp(error);
  return shape.best_us / shape.us * factor;
}

cache::CostModel fit_with(cache::CostModel model, const std::vector<TimedShape>& shapes, std::uint32_t units) {
  std::vector<Observation> observations;
  for (const TimedShape& shape : shapes) {
    Observation o{features_of(model, shape.problem, units), 1, shape.best_us / shape.us};
    for (double& feature : o.features) feature /= shape.us;
    observations.push_back(o);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; turn > 0 && i < shapes.size(); ++i) {
      observations[i].weight = weight_of(model, shapes[i], units);
    }
    const Features times = fit_nonnegative(observations);
    for (std::size_t i = 0; i < kFeatures; ++i) time_of(model, i) = static_cast<float>(times[i]);
  }
  model.error = static_cast<float>(error_of(model, shapes, units));
  return model;
}

constexpr double kSingular = 1e-9;  // of a pivot, where the diagonal is 1

// Sums over the observations: of products of two features, and of features and values. Features are scaled so that the
// diagonal is 1.
struct NormalEquations {
  std::array<Features, kFeatures> products{};
  Features values{};
  Features scale{};  // 0: the feature is 0 everywhere
};

NormalEquations normal_equations(const std::vector<Observation>& observations) {
  NormalEquations n;
  for (const Observation& o : observations) {
    for (std::size_t i = 0; i < kFeatures; ++i) {
      n.values[i] += o.weight * o.features[i] * o.value;
      for (std::size_t j = 0; j < kFeatures; ++j) n.products[i][j] += o.weight * o.features[i] * o.features[j];
    }
  }
  for (std::size_t i = 0; i < kFeatures; ++i) n.scale[i] = n.products[i][i] > 0 ? 1 / std::sqrt(n.products[i][i]) : 0;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    n.values[i] *= n.scale[i];
    for (std::size_t j = 0; j < kFeatures; ++j) n.products[i][j] *= n.scale[i] * n.scale[j];
  }
  return n;
}

// Solves for the features of the set by Cholesky's decomposition, the others being 0. Nothing when the features depend
// on each other.
std::optional<Features> solve(const NormalEquations& n, unsigned set) {
  std::array<std::size_t, kFeatures> members{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    if ((set >> i & 1U) != 0) members[count++] = i;
  }
  std::array<Features, kFeatures> lower{};
  Features forward{};
  for (std::size_t i = 0; i < count; ++i) {
    double value = n.values[members[i]];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = n.products[members[i]][members[j]];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j && sum < kSingular) return std::nullopt;
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
      if (j < i) value -= lower[i][j] * forward[j];
    }
    forward[i] = value / lower[i][i];
  }
  Features solution{};
  for (std::size_t i = count; i-- > 0;) {
    double value = forward[i];
    for (std::size_t k = i + 1; k < count; ++k) value -= lower[k][i] * solution[members[k]];
    solution[members[i]] = value / lower[i][i];
  }
  return solution;
}

}  // namespace

Features fit_nonnegative(const std::vector<Observation>& observations) {
  const NormalEquations n = normal_equations(observations);
  Features best{};
  double most = 0;  // by how much the sum of squares is below that of coefficients that are all 0
  for (unsigned set = 1; set < 1U << kFeatures; ++set) {
    const std::optional<Features> solution = solve(n, set);
    if (!solution || std::any_of(solution->begin(), solution->end(), [](double x) { return x < 0; })) continue;
    double explained = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) explained += (*solution)[i] * n.values[i];
    if (explained <= most) continue;
    most = explained;
    best = *solution;
  }
  for (std::size_t i = 0; i < kFeatures; ++i) best[i] *= n.scale[i];
  return best;
}

cache::CostModel geometry_of(const kernels::Params& params, std::uint32_t regime) {
  using kernels::Family;
  cache::CostModel model;
  model.kind() = params.kind();
  model.tile_m = params.ml;
  model.tile_n = params.nl;
  // register_tile cuts a problem into equal parts and computes no more than whole register tiles of each.
  const bool cuts = params.family == Family::register_tile;
  model.item_m = cuts ? params.ms : params.ml;
  model.item_n = cuts ? params.ns : params.nl;
  model.step_k = cuts ? 1 : params.kl;
  model.slices = params.split_k;
  const kernels::FewLines few = kernels::few_lines(params);
  if (regime == 1) model.item_m = model.item_n = few.group;
  model.regime = regime;
  model.few_m = few.rows;
  model.few_n = few.columns;
  return model;
}

cache::CostModel fit_cost_model(const kernels::Params& params, const std::vector<TimedShape>& shapes,
                                std::uint32_t units, std::uint32_t regime) {
  cache::CostModel geometry = geometry_of(params, regime);
  cache::CostModel best = geometry;
  best.error = std::numeric_limits<float>::infinity();
  for (const std::uint32_t resident : kResident) {
    geometry.resident = resident;
    const cache::CostModel model = fit_with(geometry, shapes, units);
    if (model.error < best.error) best = model;
  }
  return best;
}

std::vector<double> errors_of(const cache::CostModel& model, const std::vector<TimedShape>& shapes,
                              std::uint32_t units) {
  std::vector<double> errors;
  for (const TimedShape& shape : shapes) errors.push_back(logarithm_of_error(model, shape, units));
  return errors;
}

cache::CostModel scaled_cost_model(cache::CostModel model, double factor) {
  for (std::size_t i = 0; i < kFeatures; ++i) {
    float& time = time_of(model, i);
    time = static_cast<float>(static_cast<double>(time) * factor);
  }
  return model;
}

}  // namespace clbake::builder::profile
