// The variants that are baked for a device, and which problem uses which: the winners of a profile and what backs them
// up, or the default variants.
#pragma once

#include <clbake/builder/build.hpp>
#include <clbake/builder/shipped_profiles.hpp>

#include <utility>

namespace clbake::builder::build {

struct BakeList {
  kernels::DeviceType type = kernels::DeviceType::cpu;
  std::vector<kernels::Params> variants;
  // The requested profile's winners that the device cannot run, by name, each with the constraint that it breaks.
  std::vector<std::pair<std::string, std::string>> unfit;
  // The profile's rules and models. Variants are indices into `named`; there are no defaults and no target.
  cache::Profile choice;
  std::vector<std::string> named;
  // For a person: "a.json (tuned on ...)", "shipped nvidia (tuned on ...)", "shipped amd (not tuned: ...)"; empty when
  // variants were named.
  std::string profile;
  std::vector<std::string> remarks;  // on kinds of problems that the profile lacks
};

// True when a profile's target is the device, whatever its driver: platform, vendor and device name agree; or, for a
// device without a name (an offline target), platform, vendor and architecture.
bool made_for(const Target& tuned, const Target& device);

// Those of options.devices, then those of options.targets.
//
// Without options.gemm the lists are empty. Named variants are taken as they are. Otherwise for each precision and pair
// of transposes that a profile has: the variants that its exceptions and cost models name, and the default ones; for
// those it has not, but that options.precisions want: the default variants. Without options.profiles the shipped
// profile of the device's class counts, and winners that the device cannot run are left out without a word.
//
// Fails with invalid_argument: a named variant that breaks a constraint of a device; a profile that was made for none
// of the devices or a device that none was made for, unless options.foreign_profiles; two profiles of one device;
// a profile without a winner of the wanted precisions.
Result<std::vector<BakeList>> bake_lists_for(
    const BuildOptions& options, const std::vector<profile::NamedTuning>& shipped = profile::shipped_profiles());

// The profile of contents.targets[target]: the bake_list's choice among the variants that were baked, and the defaults.
cache::Profile baked_profile(const cache::Contents& contents, std::uint32_t target, const BakeList& bake_list);

}  // namespace clbake::builder::build
