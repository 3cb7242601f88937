// Which variant of which bundle serves a problem. Looks into bundles only; calls no driver.
#pragma once

#include <clbake/clbake.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake {

// A bundle and what it has for one device.
struct Shelf {
  Bundle bundle;
  Result<std::uint32_t> target;    // the device's target in the bundle, or the reason why it is not there
  Result<cache::Profile> profile;  // the target's own profile; without one, that of the most similar target
};

// Looks the device up in a bundle. A damaged record shows as the shelf's failed target or profile.
Shelf make_shelf(const Bundle& bundle, const Target& device);

// The variant of the shelf's bundle for a row-major problem: the one named, or, when `name` is empty, the profile's
// choice. Fails with no_variant, or with what is wrong with the record.
Result<std::uint32_t> choose(const Shelf& shelf, const Problem& problem, const std::string& name);

// All variants of the bundle that compute this kind of problem (precision and transposes), in the bundle's order;
// damaged records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const Problem& problem);

}  // namespace clbake
