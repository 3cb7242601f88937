// The part of a profile that is about one kind of problem: profiles are joined, selected and cut to what was baked kind
// by kind, because the cost models of a kind were fitted together.
#pragma once

#include <clbake/cache/model.hpp>

#include <algorithm>
#include <set>

namespace clbake::builder::profile {

// The kinds that a profile says anything about.
std::set<GemmKind> kinds_of(const cache::Profile& profile);

// The variants that exceptions and cost models of the kind name; none: nothing was measured.
std::set<std::uint32_t> measured_variants(const cache::Profile& profile, const GemmKind& kind);

// Adds what `from` says about the kind to `to`.
void add_kind(const cache::Profile& from, const GemmKind& kind, cache::Profile& to);

// Applies `change` to each index of a variant in the profile.
template <typename Change>
void for_each_variant(cache::Profile& profile, const Change& change) {
  for (cache::Rule& rule : profile.exceptions) change(rule.variant);
  for (cache::CostModel& model : profile.models) change(model.variant);
  for (cache::Rule& rule : profile.defaults) change(rule.variant);
}

// Keeps what is about an item that `wanted` accepts: a rule or a cost model, with its kind and its variant.
template <typename Wanted>
void keep_if(cache::Profile& profile, const Wanted& wanted) {
  const auto keep = [&](auto& items) {
    items.erase(std::remove_if(items.begin(), items.end(),
                               [&](const auto& item) { return !wanted(item.kind(), item.variant); }),
                items.end());
  };
  keep(profile.exceptions);
  keep(profile.models);
  keep(profile.defaults);
}

}  // namespace clbake::builder::profile
