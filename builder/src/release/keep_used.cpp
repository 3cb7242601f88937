#include "release/keep_used.hpp"

#include "profile/kind_choice.hpp"

#include <algorithm>
#include <utility>

namespace clbake::builder::release {
namespace {

// Keeps the items that are in use; the new index of each, of the others 0.
template <typename T>
std::vector<std::uint32_t> keep(std::vector<T>& items, const std::vector<bool>& used) {
  std::vector<std::uint32_t> index(items.size());
  std::vector<T> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!used[i]) continue;
    index[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(items[i]));
  }
  items = std::move(kept);
  return index;
}

}  // namespace

void keep_used(cache::Contents& contents, bool programs) {
  std::vector<cache::Profile>& profiles = contents.profiles;
  profiles.erase(std::remove_if(profiles.begin(), profiles.end(),
                                [](const cache::Profile& profile) { return profile::kinds_of(profile).empty(); }),
                 profiles.end());
  std::vector<bool> targets(contents.targets.size());
  std::vector<bool> variants(contents.variants.size());
  std::vector<bool> sources(contents.sources.size());
  for (const cache::Entry& entry : contents.entries) targets[entry.target] = variants[entry.variant] = true;
  for (cache::Profile& profile : profiles) {
    targets[profile.target] = true;
    profile::for_each_variant(profile, [&](std::uint32_t variant) { variants[variant] = true; });
  }
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (programs && contents.variants[v].is_program()) variants[v] = true;
    if (variants[v]) sources[contents.variants[v].source] = true;
  }
  const std::vector<std::uint32_t> target_index = keep(contents.targets, targets);
  const std::vector<std::uint32_t> variant_index = keep(contents.variants, variants);
  const std::vector<std::uint32_t> source_index = keep(contents.sources, sources);
  for (cache::Variant& variant : contents.variants) variant.source = source_index[variant.source];
  for (cache::Entry& entry : contents.entries) {
    entry.target = target_index[entry.target];
    entry.variant = variant_index[entry.variant];
  }
  for (cache::Profile& profile : profiles) {
    profile.target = target_index[profile.target];
    profile::for_each_variant(profile, [&](std::uint32_t& variant) { variant = variant_index[variant]; });
  }
}

}  // namespace clbake::builder::release
