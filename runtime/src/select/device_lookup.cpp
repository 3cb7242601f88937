#include <clbake/device_lookup.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "select/tiers.hpp"

namespace clbake {
namespace {

Result<std::vector<Choice>> choices_of(const std::vector<DeviceBundle>& bundles, const Result<Request>& found) {
  if (!found) return found.status();
  const Request& request = *found;
  std::vector<Choice> choices;
  for (const Candidate& candidate : request.candidates) {
    Choice choice{candidate.bundle, candidate.variant, ChosenBy::device_type, std::nullopt};
    const DeviceBundle& bundle = bundles[candidate.bundle];
    const Result<Choices>& profile = request.by_device_type ? bundle.defaults : bundle.choices;
    if (profile && !request.named) {
      if (!request.by_device_type) choice.by = profile->find(request.problem).by;
      choice.expected_us = profile->expected_of(request.problem, candidate.variant);
    }
    choices.push_back(choice);
  }
  return choices;
}

// The first intact entry of a tier.
Result<cache::EntryInfo> intact_entry(const DeviceBundle& bundle, const Target& device, std::uint32_t variant,
                                      Tier tier) {
  Status miss;
  for (cache::EntryInfo& entry : eligible_entries(bundle, device, variant, tier, miss)) {
    miss = bundle.bundle.program(entry).status();
    if (miss || miss.code() == Code::out_of_memory) return miss ? Result<cache::EntryInfo>(std::move(entry)) : miss;
  }
  return miss;
}

}  // namespace

Result<DeviceLookup> DeviceLookup::create(const std::vector<Bundle>& bundles, const Target& device, bool is_cpu,
                                          std::uint32_t units) {
  return exceptions_to_status([&]() -> Result<DeviceLookup> {
    std::vector<DeviceBundle> found;
    for (const Bundle& bundle : bundles) found.push_back(bundle_for(bundle, device, is_cpu, units));
    return DeviceLookup(std::make_shared<const std::vector<DeviceBundle>>(std::move(found)), device, is_cpu);
  });
}

Result<std::vector<Choice>> DeviceLookup::choose(const Problem& problem) const {
  return exceptions_to_status([&] { return choices_of(*bundles_, make_request(*bundles_, problem, {})); });
}

Result<std::vector<Choice>> DeviceLookup::choose_program(const std::string& name) const {
  return exceptions_to_status([&] { return choices_of(*bundles_, program_request(*bundles_, name)); });
}

Result<std::vector<Choice>> DeviceLookup::choose_complex_kernels(Precision precision) const {
  return exceptions_to_status(
      [&] { return choices_of(*bundles_, complex_kernels_request(*bundles_, precision, is_cpu_)); });
}

std::optional<std::uint32_t> DeviceLookup::profile_target() const {
  const Result<Choices>& choices = bundles_->front().choices;
  if (!choices) return std::nullopt;
  return choices->target();
}

Result<BakedProgram> DeviceLookup::program(const std::vector<Choice>& choices, bool newer_driver) const {
  return exceptions_to_status([&]() -> Result<BakedProgram> {
    const auto load = [&](Tier tier, const Choice& choice) -> Result<BakedProgram> {
      BakedProgram found;
      found.choice = static_cast<std::size_t>(&choice - choices.data());
      if (tier == Tier::source) return found;
      Result<cache::EntryInfo> entry = intact_entry((*bundles_)[choice.bundle], device_, choice.variant, tier);
      if (!entry) return entry.status();
      found.entry = std::move(*entry);
      return found;
    };
    AllowedTiers allowed;
    allowed.newer_driver = newer_driver;
    Status miss;
    Result<BakedProgram> found = first_that_serves(tiers_of(allowed), miss, [&](Tier tier) {
      return first_of(choices, [&](const Choice& choice) { return load(tier, choice); });
    });
    if (found) found->miss = std::move(miss);
    return found;
  });
}

}  // namespace clbake
