// The ways to a program and their order, which `prepare`, `explain` and the builder's DeviceLookup share; and which
// entries of a bundle each of them may load. Looks into bundles only; calls no driver.
#pragma once

#include "select/choose.hpp"

#include <string_view>

namespace clbake {

// Best first: how little is left to compile counts, not which bundle came first. So a tier is tried with all bundles
// before the next one.
enum class Tier {
  exact,         // machine code made for exactly this device and driver
  same_driver,   // NVIDIA: machine code that this driver made for another device of the architecture
  newer_driver,  // machine code made for an older driver and the same architecture: Options::newer_driver
  stand_in,      // what needs no compiler, while the wanted program is compiled: OnMiss::fallback
  portable,      // an intermediate language, which the driver compiles when it is loaded
  overlay,       // compiled earlier, by this or another process; not in a bundle
  source,        // compiled now; not in a bundle
};
constexpr Tier all_tiers[] = {Tier::exact,    Tier::same_driver, Tier::newer_driver, Tier::stand_in,
                              Tier::portable, Tier::overlay,     Tier::source};

// The tiers that a library tries, in their order.
struct AllowedTiers {
  bool newer_driver = false;
  bool stand_in = false;
  bool overlay = false;
  bool source = true;
};
inline std::vector<Tier> tiers_of(const AllowedTiers& allowed) {
  std::vector<Tier> tiers;
  for (const Tier tier : all_tiers) {
    const bool left_out = (tier == Tier::newer_driver && !allowed.newer_driver) ||
                          (tier == Tier::stand_in && !allowed.stand_in) ||
                          (tier == Tier::overlay && !allowed.overlay) || (tier == Tier::source && !allowed.source);
    if (!left_out) tiers.push_back(tier);
  }
  return tiers;
}

// True where such machine code counts as made for this very device, so that it is no miss.
constexpr bool counts_as_exact(Tier tier) { return tier == Tier::exact || tier == Tier::same_driver; }

constexpr cache::Form form_of(Tier tier) {
  return tier == Tier::portable ? cache::Form::portable : cache::Form::native;
}

// True when the tier may hand the device code that was made for another target.
bool serves(Tier tier, const Target& made_for, const Target& device);

// Compares versions of drivers, "580.65.06" and "580.159.04", number by number.
bool older(std::string_view a, std::string_view b);

// The entries that a device may load for a variant by one tier, best first. Empty, with the reason in `none`, when
// there is none. Damaged records of other targets are left out.
std::vector<cache::EntryInfo> eligible_entries(const DeviceBundle& bundle, const Target& device, std::uint32_t variant,
                                               Tier tier, Status& none);

// The result of the first tier that serves, or of the last one where none does. `attempt`: Tier -> Result<T>. Sets
// `miss`, unless the caller did, to why the first tier had nothing; ok when an exact one served.
template <typename Attempt>
auto first_that_serves(const std::vector<Tier>& tiers, Status& miss, const Attempt& attempt) {
  auto result = attempt(tiers.front());
  for (auto tier = tiers.begin();;) {
    if (result && counts_as_exact(*tier)) miss = Status();
    if (miss.ok() && !result) miss = result.status();
    if (result || ++tier == tiers.end()) return result;
    result = attempt(*tier);
  }
}

// The result of the first candidate that succeeds, or the first failure. `attempt`: candidate -> Result<T>.
template <typename Candidates, typename Attempt>
auto first_of(const Candidates& candidates, const Attempt& attempt) {
  auto candidate = candidates.begin();
  auto first = attempt(*candidate);
  while (!first && ++candidate != candidates.end()) {
    if (auto other = attempt(*candidate)) return other;
  }
  return first;
}

}  // namespace clbake
