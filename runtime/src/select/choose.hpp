// Which variant of which bundle serves a problem. Looks into bundles only; calls no driver.
#pragma once

#include "select/rule_index.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace clbake {

// The variant that a rule names. Whether that exists and computes what the rule is for is looked up when the rule is
// used for the first time, and not again: a start pays for no rule that it does not need.
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
  Result<std::uint32_t> target;  // the device's target in the bundle, or the reason why it is not there
  Result<Choices> choices;       // by the target's own profile; without one, by that of the most similar target
  std::string profile_of;        // that target, for a person
};

// Looks the device up in a bundle. A damaged record shows as the bundle's failed target or choices.
DeviceBundle bundle_for(const Bundle& bundle, const Target& device);

// The variant of the bundle's bundle for a row-major problem: the one named, or, when `name` is empty, the profile's
// choice. Fails with no_variant, or with what is wrong with the record.
Result<std::uint32_t> choose(const DeviceBundle& bundle, const Problem& problem, const std::string& name);

// Why the profile chooses what `choose` returned, for a person.
std::string why(const DeviceBundle& bundle, const Problem& problem);

// Whether the variant is made for the problem's precision and transposes.
bool computes(const cache::Variant& variant, const Problem& problem);

// All variants of the bundle that compute this kind of problem (precision and transposes), in the bundle's order;
// damaged records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const Problem& problem);

}  // namespace clbake
