// Which variant of a bundle serves a problem. Looks into bundles only; calls no driver.
//
// A bundle's profile is a list of rules: ranges of m, n, k and batch for one kind of problem, and the variant for them.
// The builder fitted them to measurements (builder/TUNING.md), so the runtime decides nothing itself: the first rule
// that fits wins. A device without a profile of its own takes that of the most similar target: the same device, the
// same architecture, the same platform, any, in this order.
#pragma once

#include <clbake/choice.hpp>

#include "select/rule_index.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace clbake {

// The variant that a rule names. Whether it exists and computes what the rule is for is checked when the rule is first
// used, and not again: opening a bundle does not pay for rules that are never used.
struct Choice {
  std::uint32_t variant = 0;
  mutable std::atomic<bool> checked{false};
};

// A profile, ready to choose from.
struct Choices {
  explicit Choices(const cache::Profile& profile);
  RuleIndex index;
  std::vector<Choice> of_rule;
};

// A bundle and what it has for one device.
struct DeviceBundle {
  Bundle bundle;
  Result<std::uint32_t> target;  // the device's target in the bundle, or why there is none
  Result<Choices> choices;       // of the target's own profile or, without one, of the most similar target's
  std::string profile_of;        // the device of that target, for a person
  Result<Choices> defaults;      // for every device of its type: used where `choices` has no rule
};

// Looks the device up in a bundle. A damaged record appears as a failed target, or failed choices or defaults.
DeviceBundle bundle_for(const Bundle& bundle, const Target& device, bool is_cpu);

// The bundle's variant for a row-major problem: the one of this name or, when `name` is empty, the profile's choice.
// Fails with no_variant, or with what is wrong with the record.
Result<std::uint32_t> choose(const DeviceBundle& bundle, const Problem& problem, const std::string& name);

// The default of the device's type for the problem, which the bundle holds as source. Fails like `choose`.
Result<std::uint32_t> choose_default(const DeviceBundle& bundle, const Problem& problem);

// Why the bundle chooses what `choose` or `choose_default` returned, for a person.
std::string why(const DeviceBundle& bundle, const Problem& problem);

}  // namespace clbake
