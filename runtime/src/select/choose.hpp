// Which variant of a bundle serves a problem. Looks into bundles only; calls no driver.
//
// A bundle's profile has exceptions, cost models and defaults, which the builder fitted to measurements
// (builder/TUNING.md); FORMAT.md, "The cost model", has the order in which they decide. A device without a profile of
// its own takes that of the most similar target: the same device, the same architecture, the same platform, any, in
// this order.
#pragma once

#include <clbake/choice.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake {

// A bundle and what it has for one device.
struct DeviceBundle {
  Bundle bundle;
  Result<std::uint32_t> target;  // the device's target in the bundle, or why there is none
  Result<Choices> choices;       // of the target's own profile or, without one, of the most similar target's
  std::string profile_of;        // the device of that target, and whether it is only similar, for a person
  Result<Choices> defaults;      // for every device of its type: used where `choices` has nothing
  Status refused;                // why Options::trust refuses the bundle, which holds nothing then; else ok
};

// Looks the device up in a bundle. `units`: its compute units; 0: as many as the profile's device has. A damaged record
// appears as a failed target, or failed choices or defaults.
DeviceBundle bundle_for(const Bundle& bundle, const Target& device, bool is_cpu, std::uint32_t units);

// The bundle's variant for a row-major problem: the one of this name or, when `name` is empty, the profile's choice.
// Fails with no_variant, without a message where the profile says nothing (nothing_fits); or with what is wrong with
// the record.
Result<std::uint32_t> choose(const DeviceBundle& bundle, const Problem& problem, const std::string& name);

// The default of the device's type for the problem, which the bundle holds as source. Fails like `choose`.
Result<std::uint32_t> choose_default(const DeviceBundle& bundle, const Problem& problem);

// Why no variant of the bundle is chosen. Searches all variants.
Status nothing_fits(const Bundle& bundle, const Problem& problem);

// Why the bundle chooses what `choose` or `choose_default` returned, for a person.
std::string why(const DeviceBundle& bundle, const Problem& problem);

}  // namespace clbake
