// Which entries of a bundle a device may load for a variant, and in which order. Looks into bundles only; calls no
// driver.
#pragma once

#include "select/choose.hpp"
#include "select/tiers.hpp"

namespace clbake {

// The entries of one tier, best first. Empty, with the reason in `none`, when there is none. Damaged records of other
// targets are left out.
std::vector<cache::EntryInfo> eligible_entries(const DeviceBundle& bundle, const Target& device, std::uint32_t variant,
                                               Tier tier, Status& none);

}  // namespace clbake
