#include <clbake/device_lookup.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "select/eligible_entries.hpp"
#include "select/problem.hpp"

namespace clbake {
namespace {

ChosenBy chosen_by(Choices::Why why) {
  switch (why) {
    case Choices::Why::exception: return ChosenBy::exception;
    case Choices::Why::default_rule: return ChosenBy::default_rule;
    case Choices::Why::model: break;
  }
  return ChosenBy::model;
}

// Asks `choices` before `choose`, which searches all variants for the cause of a failure.
template <typename Choose>
Result<Choice> choice_of(const Result<Choices>& choices, const Problem& problem, const Choose& choose) {
  if (!choices) return choices.status();
  const Choices::Choice found = choices->find(problem);
  if (!found.named) return Status(Code::no_variant, "nothing in the profile fits the problem");
  const Result<std::uint32_t> variant = choose();
  if (!variant) return variant.status();
  return Choice{*variant, chosen_by(found.why), choices->expected_of(problem, *variant)};
}

}  // namespace

Result<DeviceLookup> DeviceLookup::create(const Bundle& bundle, const Target& device, bool is_cpu,
                                          std::uint32_t units) {
  return exceptions_to_status([&]() -> Result<DeviceLookup> {
    return DeviceLookup(std::make_shared<const DeviceBundle>(bundle_for(bundle, device, is_cpu, units)), device);
  });
}

Result<Choice> DeviceLookup::choose(const Problem& problem) const {
  return exceptions_to_status([&]() -> Result<Choice> {
    const Problem rows = row_major(problem);
    Result<Choice> own = choice_of(bundle_->choices, rows, [&] { return clbake::choose(*bundle_, rows, {}); });
    if (own) return own;
    Result<Choice> of_type = choice_of(bundle_->defaults, rows, [&] { return choose_default(*bundle_, rows); });
    if (!of_type) return own;
    of_type->by = ChosenBy::device_type;
    return of_type;
  });
}

std::optional<std::uint32_t> DeviceLookup::profile_target() const {
  if (!bundle_->choices) return std::nullopt;
  return bundle_->choices->target();
}

Result<BakedProgram> DeviceLookup::program(std::uint32_t variant, bool newer_driver) const {
  return exceptions_to_status([&]() -> Result<BakedProgram> {
    BakedProgram found;
    for (const Tier tier : baked_tiers) {
      if (tier == Tier::newer_driver && !newer_driver) continue;
      Status miss;
      for (cache::EntryInfo& entry : eligible_entries(*bundle_, device_, variant, tier, miss)) {
        miss = bundle_->bundle.program(entry).status();
        if (miss.code() == Code::out_of_memory) return miss;
        if (!miss) continue;
        found.entry = std::move(entry);
        if (counts_as_exact(tier)) found.miss = Status();
        return found;
      }
      if (found.miss.ok()) found.miss = miss;
    }
    return found;
  });
}

}  // namespace clbake
