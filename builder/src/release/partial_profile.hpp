// What a profile chooses when it names some of its variants only.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/device_lookup.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// A problem, and the variant that serves it: an index into the contents' variants.
struct NeededChoice {
  Problem problem;  // row-major
  std::uint32_t variant = 0;
  double weight = 1;
  double expected_us = 0;  // 0: unknown
  std::string name;        // of the problem
};

// Chooses as the runtime does, on a device with as many compute units as the profile's. Any thread.
class PartialProfile {
 public:
  // `variants`: those that are left, as indices into the contents' variants, which are in the order of their names.
  static Result<PartialProfile> create(const cache::Contents& contents, const cache::Profile& profile,
                                       const std::set<std::uint32_t>& variants);

  // With an index into the contents' variants; nothing when no rule and no cost model is left for the problem.
  std::optional<Choice> choose(const Problem& problem) const;

 private:
  PartialProfile(DeviceLookup lookup, std::vector<std::uint32_t> variants)
      : lookup_(std::move(lookup)), variants_(std::move(variants)) {}
  DeviceLookup lookup_;
  std::vector<std::uint32_t> variants_;  // of the contents, by index in the lookup's bundle
};

// The variants that the profile has to keep so that it chooses as before: `chosen` and, where leaving out the others
// would change a choice, those that decide it.
Result<std::set<std::uint32_t>> deciding_variants(const cache::Contents& contents, const cache::Profile& profile,
                                                  const std::vector<NeededChoice>& needs,
                                                  const std::set<std::uint32_t>& chosen);

}  // namespace clbake::builder
