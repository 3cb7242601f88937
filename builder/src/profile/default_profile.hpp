// Which variant serves which problem, as long as nothing was tuned.
#pragma once

#include <clbake/builder/devices.hpp>

#include <set>
#include <tuple>
#include <vector>

namespace clbake::builder {

// The profile of contents.targets[target] from the variants that have an entry there: small problems go to the
// direct family, others to the family made for the kind of device; what is missing is replaced by what is there. Of
// several variants of a family the one whose proof was fastest serves.
cache::Profile default_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type);

// The same rules for any variants, by their index.
std::vector<cache::Rule> default_rules(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                                       kernels::DeviceType type);

// Rules in the order of their adding, without those that could never decide because an earlier one has the same
// problems, or takes all sizes of m, n and k. Time goes with the logarithm of their number for each.
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
