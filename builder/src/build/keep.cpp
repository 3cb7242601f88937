#include "build/keep.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace clbake::builder {
namespace {

// Copies the items of `from` that are in use; the new index of each, of the others 0.
template <typename T>
std::vector<std::uint32_t> copy_used(const std::vector<T>& from, const std::vector<bool>& used, std::vector<T>& to) {
  std::vector<std::uint32_t> index(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!used[i]) continue;
    index[i] = static_cast<std::uint32_t>(to.size());
    to.push_back(from[i]);
  }
  return index;
}

}  // namespace

cache::Contents select_kinds(const cache::Contents& from,
                             const std::function<bool(const cache::Target&, const GemmKind&)>& wanted) {
  cache::Contents kept;
  std::vector<bool> targets(from.targets.size());
  std::vector<bool> variants(from.variants.size());
  std::vector<bool> sources(from.sources.size());
  for (const cache::Entry& entry : from.entries) {
    if (!wanted(from.targets[entry.target], from.variants[entry.variant].kind())) continue;
    targets[entry.target] = variants[entry.variant] = true;
    kept.entries.push_back(entry);
  }
  for (const cache::Profile& profile : from.profiles) {
    cache::Profile selected{profile.target, {}};
    for (const cache::Rule& rule : profile.rules) {
      if (!wanted(from.targets[profile.target], rule.kind())) continue;
      variants[rule.variant] = true;
      selected.rules.push_back(rule);
    }
    if (selected.rules.empty()) continue;
    targets[profile.target] = true;
    kept.profiles.push_back(std::move(selected));
  }
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (variants[v]) sources[from.variants[v].source] = true;
  }
  const std::vector<std::uint32_t> target_index = copy_used(from.targets, targets, kept.targets);
  const std::vector<std::uint32_t> variant_index = copy_used(from.variants, variants, kept.variants);
  const std::vector<std::uint32_t> source_index = copy_used(from.sources, sources, kept.sources);
  for (cache::Variant& variant : kept.variants) variant.source = source_index[variant.source];
  for (cache::Entry& entry : kept.entries) {
    entry.target = target_index[entry.target];
    entry.variant = variant_index[entry.variant];
  }
  for (cache::Profile& profile : kept.profiles) {
    profile.target = target_index[profile.target];
    for (cache::Rule& rule : profile.rules) rule.variant = variant_index[rule.variant];
  }
  return kept;
}

std::size_t count_missing(const cache::Contents& before, const cache::Contents& after) {
  const auto key = [](const cache::Contents& contents, const cache::Entry& entry) {
    const cache::Target& t = contents.targets[entry.target];
    return std::make_tuple(t.platform_name, t.platform_version, t.vendor, t.device_name, t.device_version,
                           t.driver_version, t.architecture, t.address_bits, contents.variants[entry.variant].name,
                           entry.form);
  };
  std::set<decltype(key(after, after.entries[0]))> present;
  for (const cache::Entry& entry : after.entries) present.insert(key(after, entry));
  return static_cast<std::size_t>(std::count_if(before.entries.begin(), before.entries.end(), [&](const auto& entry) {
    return present.count(key(before, entry)) == 0;
  }));
}

}  // namespace clbake::builder
