#include "tune/prior_exceptions.hpp"

#include <clbake/choice.hpp>

#include <algorithm>
#include <map>

namespace clbake::builder {
namespace {

constexpr std::size_t kMostOfAKind = 32;  // FORMAT.md, "Limits"

bool overlap(std::uint32_t a_min, std::uint32_t a_max, std::uint32_t b_min, std::uint32_t b_max) {
  return a_min <= b_max && b_min <= a_max;
}

bool overlap(const cache::Rule& a, const cache::Rule& b) {
  return a.kind() == b.kind() && overlap(a.m_min, a.m_max, b.m_min, b.m_max) &&
         overlap(a.n_min, a.n_max, b.n_min, b.n_max) && overlap(a.k_min, a.k_max, b.k_min, b.k_max) &&
         overlap(a.batch_min, a.batch_max, b.batch_min, b.batch_max);
}

bool contains(const cache::Rule& rule, const Shape& shape) {
  return rule.kind() == shape.kind() && fits(rule, problem_of(shape));
}

// Whether another variant than the rule's was faster in a race on a shape of the rule.
bool contradicted(const Tuning& tuning, const cache::Rule& rule) {
  std::map<std::uint32_t, double> rules_us, best_us;  // by shape
  for (const Measurement& m : tuning.measurements) {
    if (!m.final || !contains(rule, tuning.shapes[m.shape])) continue;
    if (m.variant == rule.variant) rules_us[m.shape] = m.median_us;
    const auto [best, first] = best_us.emplace(m.shape, m.median_us);
    if (!first) best->second = std::min(best->second, m.median_us);
  }
  return std::any_of(rules_us.begin(), rules_us.end(),
                     [&](const auto& timed) { return timed.second > best_us.at(timed.first); });
}

// The number of variants, if it is none of them.
std::uint32_t index_of(const Tuning& tuning, const std::string& variant) {
  const auto found = std::find(tuning.variants.begin(), tuning.variants.end(), variant);
  return static_cast<std::uint32_t>(found - tuning.variants.begin());
}

bool was_tuned(const Tuning& tuning, const GemmKind& kind) {
  return std::any_of(tuning.measurements.begin(), tuning.measurements.end(),
                     [&](const Measurement& m) { return tuning.shapes[m.shape].kind() == kind; });
}

}  // namespace

void keep_exceptions(const Tuning& prior, Tuning& tuning) {
  const bool same_device = prior.target.platform_name == tuning.target.platform_name &&
                           prior.target.architecture == tuning.target.architecture &&
                           prior.compute_units == tuning.compute_units;
  if (!same_device) return;
  const std::vector<cache::Rule> own = tuning.exceptions;
  for (cache::Rule rule : prior.exceptions) {
    const std::string& variant = prior.variants[rule.variant];
    const bool failed = std::any_of(tuning.failures.begin(), tuning.failures.end(),
                                    [&](const Failure& failure) { return failure.variant == variant; });
    const auto of_kind = std::count_if(tuning.exceptions.begin(), tuning.exceptions.end(),
                                       [&](const cache::Rule& other) { return other.kind() == rule.kind(); });
    const bool replaced =
        std::any_of(own.begin(), own.end(), [&](const cache::Rule& other) { return overlap(rule, other); });
    if (failed || replaced || of_kind >= static_cast<std::ptrdiff_t>(kMostOfAKind)) continue;
    if (!was_tuned(tuning, rule.kind())) continue;
    rule.variant = index_of(tuning, variant);
    if (contradicted(tuning, rule)) continue;
    if (rule.variant == tuning.variants.size()) tuning.variants.push_back(variant);
    tuning.exceptions.push_back(rule);
  }
  std::stable_sort(tuning.exceptions.begin(), tuning.exceptions.end(),
                   [](const cache::Rule& a, const cache::Rule& b) { return a.kind() < b.kind(); });
}

}  // namespace clbake::builder
