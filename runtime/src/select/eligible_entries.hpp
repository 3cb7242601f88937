// Which entries of a bundle a device may load for a variant, and in which order. Looks into bundles only; calls no
// driver.
#pragma once

#include "select/choose.hpp"

namespace clbake {

// The ways to a program, best first.
enum class Tier {
  exact,         // machine code made for exactly this device and driver
  same_driver,   // NVIDIA: machine code that this driver made for another device of the architecture
  newer_driver,  // machine code made for an older driver and the same architecture; only when the application asks
  stand_in,      // the same, whatever the entry says of newer drivers: with OnMiss::fallback, and once it was checked
  portable,      // an intermediate language, which the driver compiles when it is loaded
  overlay,       // compiled earlier, by this or another process; not in a bundle
  source,        // compiled now; not in a bundle
};
constexpr Tier baked_tiers[] = {Tier::exact, Tier::same_driver, Tier::newer_driver, Tier::portable};

// Whether such machine code counts as made for this very device, so that it is no miss.
constexpr bool counts_as_exact(Tier tier) { return tier == Tier::exact || tier == Tier::same_driver; }

// The entries of one tier, best first. Empty, with the reason in `none`, when there is none. Damaged records of other
// targets are left out.
std::vector<cache::EntryInfo> eligible_entries(const DeviceBundle& bundle, const Target& device, std::uint32_t variant,
                                               Tier tier, Status& none);

}  // namespace clbake
