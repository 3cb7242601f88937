#include "profile/kind_choice.hpp"

#include <iterator>

namespace clbake::builder {
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

bool is_measured(const cache::Profile& profile, const GemmKind& kind) {
  const auto of_kind = [&](const auto& item) { return item.kind() == kind; };
  return std::any_of(profile.exceptions.begin(), profile.exceptions.end(), of_kind) ||
         std::any_of(profile.models.begin(), profile.models.end(), of_kind);
}

void add_kind(const cache::Profile& from, const GemmKind& kind, cache::Profile& to) {
  add_of_kind(from.exceptions, kind, to.exceptions);
  add_of_kind(from.models, kind, to.models);
  add_of_kind(from.defaults, kind, to.defaults);
}

}  // namespace clbake::builder
