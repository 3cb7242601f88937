#include "profile/kind_choice.hpp"

#include <iterator>

namespace clbake::builder::profile {
namespace {

template <typename T>
void add_of_kind(const std::vector<T>& from, const GemmKind& kind, std::vector<T>& to) {
  std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](const T& item) { return item.kind() == kind; });
}

}  // namespace

std::set<GemmKind> kinds_of(const cache::Profile& profile) {
  std::set<GemmKind> kinds;
  for (const auto& rule : profile.exceptions) kinds.insert(rule.kind());
  for (const auto& model : profile.models) kinds.insert(model.kind());
  for (const auto& rule : profile.defaults) kinds.insert(rule.kind());
  return kinds;
}

std::set<std::uint32_t> measured_variants(const cache::Profile& profile, const GemmKind& kind) {
  std::set<std::uint32_t> variants;
  const auto note = [&](const auto& item) {
    if (item.kind() == kind) variants.insert(item.variant);
  };
  std::for_each(profile.exceptions.begin(), profile.exceptions.end(), note);
  std::for_each(profile.models.begin(), profile.models.end(), note);
  return variants;
}

void add_kind(const cache::Profile& from, const GemmKind& kind, cache::Profile& to) {
  add_of_kind(from.exceptions, kind, to.exceptions);
  add_of_kind(from.models, kind, to.models);
  add_of_kind(from.defaults, kind, to.defaults);
}

}  // namespace clbake::builder::profile
