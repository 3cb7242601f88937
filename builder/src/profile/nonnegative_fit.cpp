#include "profile/nonnegative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace clbake::builder::profile {
namespace {

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

}  // namespace clbake::builder::profile
