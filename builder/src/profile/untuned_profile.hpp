// Which variant serves which problem where nothing was tuned.
#pragma once

#include <clbake/builder/devices.hpp>

#include <set>
#include <tuple>
#include <vector>

namespace clbake::builder {

// The profile of contents.targets[target] from the variants that have an entry there: small problems of GPUs go to the
// family direct, others to the family made for the device type, with small or large tiles; a family that was not baked
// is replaced by the next best.
cache::Profile untuned_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type);

// The same rules for any variants, by their index.
std::vector<cache::Rule> untuned_rules(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                                       kernels::DeviceType type);

// Rules in the order in which they were added, without those that could never decide because an earlier one has the
// same problems, or all sizes of m, n and k. Adding one takes time logarithmic in their number.
class RuleList {
 public:
  void add(const cache::Rule& rule);
  const std::vector<cache::Rule>& rules() const { return rules_; }

 private:
  using Size = std::uint32_t;
  using Problems = std::tuple<GemmKind, Size, Size, Size, Size, Size, Size, Size, Size>;
  std::vector<cache::Rule> rules_;
  std::set<Problems> known_;
  std::vector<cache::Rule> broad_;  // those of all sizes
};

}  // namespace clbake::builder
