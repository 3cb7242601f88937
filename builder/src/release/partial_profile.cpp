#include "release/partial_profile.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/choice.hpp>
#include "profile/kind_choice.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

// A bundle of the profile and the variants, without programs.
cache::Contents contents_with(const cache::Contents& all, const cache::Profile& profile,
                              const std::vector<std::uint32_t>& variants) {
  cache::Contents part;
  part.targets = {all.targets[profile.target]};
  part.sources.resize(1);
  for (const std::uint32_t variant : variants) {
    part.variants.push_back(all.variants[variant]);
    part.variants.back().source = 0;
  }
  const auto position = [&](std::uint32_t variant) {
    return std::lower_bound(variants.begin(), variants.end(), variant);
  };
  cache::Profile kept = profile;
  kept.target = 0;
  keep_if(kept, [&](const GemmKind&, std::uint32_t variant) {
    const auto at = position(variant);
    return at != variants.end() && *at == variant;
  });
  for_each_variant(kept, [&](std::uint32_t& variant) {
    variant = static_cast<std::uint32_t>(position(variant) - variants.begin());
  });
  part.profiles.push_back(std::move(kept));
  return part;
}

// The variants between which the profile decides where no exception does: the first default's, and the one that is
// expected to be the fastest.
void add_deciding(const cache::Profile& profile, const Problem& problem, std::set<std::uint32_t>& variants) {
  const auto default_one = std::find_if(profile.defaults.begin(), profile.defaults.end(), [&](const cache::Rule& rule) {
    return rule.kind() == problem.kind() && fits(rule, problem);
  });
  if (default_one != profile.defaults.end()) variants.insert(default_one->variant);
  const cache::CostModel* fastest = nullptr;
  for (const cache::CostModel& model : profile.models) {
    if (model.kind() != problem.kind()) continue;
    if (fastest && expected_us(model, problem, profile.units) >= expected_us(*fastest, problem, profile.units))
      continue;
    fastest = &model;
  }
  if (fastest) variants.insert(fastest->variant);
}

}  // namespace

Result<PartialProfile> PartialProfile::create(const cache::Contents& contents, const cache::Profile& profile,
                                              const std::set<std::uint32_t>& variants) {
  std::vector<std::uint32_t> sorted(variants.begin(), variants.end());
  const Result<cache::Bytes> bytes = cache::encode(contents_with(contents, profile, sorted), cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::copy_of({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  Result<DeviceLookup> lookup = DeviceLookup::create(*bundle, contents.targets[profile.target], false);
  if (!lookup) return lookup.status();
  return PartialProfile(std::move(*lookup), std::move(sorted));
}

std::optional<Choice> PartialProfile::choose(const Problem& problem) const {
  Result<Choice> choice = lookup_.choose(problem);
  if (!choice) return std::nullopt;
  choice->variant = variants_[choice->variant];
  return *choice;
}

Result<std::set<std::uint32_t>> deciding_variants(const cache::Contents& contents, const cache::Profile& profile,
                                                  const std::vector<NeededChoice>& needs,
                                                  const std::set<std::uint32_t>& chosen) {
  std::set<std::uint32_t> kept = chosen;
  for (bool changed = true; changed;) {
    changed = false;
    const std::size_t size = kept.size();
    const Result<PartialProfile> partial = PartialProfile::create(contents, profile, kept);
    if (!partial) return partial.status();
    for (const NeededChoice& need : needs) {
      const std::optional<Choice> choice = partial->choose(need.problem);
      if (choice && choice->variant == need.variant) continue;
      add_deciding(profile, need.problem, kept);
      changed = true;
    }
    if (changed && kept.size() == size) {
      return Status(Code::malformed, "the profile of " + contents.targets[profile.target].device_name +
                                         " does not choose the same variant twice");
    }
  }
  return kept;
}

}  // namespace clbake::builder
