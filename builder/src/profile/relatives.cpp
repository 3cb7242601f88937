#include "profile/relatives.hpp"

#include <clbake/kernels/params.hpp>

#include <algorithm>
#include <optional>
#include <variant>

namespace clbake::builder::profile {
namespace {

bool is_of_bytes(Precision p) { return is_mixed(p) && bytes_of(element_a(p)) == 1 && bytes_of(element_b(p)) == 1; }

// Packed weights by half or bfloat16.
bool is_of_weights(Precision p) { return has_weights(p) && bytes_of(element_a(p)) == 2; }

bool are_related(Precision x, Precision y) {
  return (is_of_bytes(x) && is_of_bytes(y)) || (is_of_weights(x) && is_of_weights(y));
}

// Families that unpack weights to A's type write C in it.
bool serves(const kernels::Params& p) {
  return !has_weights(p.precision) || p.family == kernels::Family::weight_tile ||
         element_a(p.precision) == element_c(p.precision);
}

std::optional<GemmKind> relative_of(const GemmKind& kind, const std::vector<cache::CostModel>& models) {
  std::optional<GemmKind> found;
  for (const cache::CostModel& model : models) {
    if (model.kind() == kind) return std::nullopt;
    const bool related =
        are_related(model.precision, kind.precision) && model.trans_a == kind.trans_a && model.trans_b == kind.trans_b;
    if (!related) continue;
    const bool closer = sums_integers(model.precision) == sums_integers(kind.precision);
    if (!found || (closer && sums_integers(found->precision) != sums_integers(kind.precision))) found = model.kind();
  }
  return found;
}

std::uint32_t index_of_variant(std::vector<std::string>& variants, const std::string& name) {
  const auto at = std::find(variants.begin(), variants.end(), name);
  const auto index = static_cast<std::uint32_t>(at - variants.begin());
  if (at == variants.end()) variants.push_back(name);
  return index;
}

}  // namespace

Tuning with_relatives(Tuning tuning, const std::vector<Precision>& wanted) {
  const std::vector<cache::CostModel> timed = tuning.models;
  for (const Precision precision : wanted) {
    for (const int transposes : {0, 1, 2, 3}) {
      const GemmKind kind{precision, (transposes & 2) != 0, (transposes & 1) != 0};
      const std::optional<GemmKind> relative = relative_of(kind, timed);
      if (!relative) continue;
      for (cache::CostModel model : timed) {
        if (model.kind() != *relative) continue;
        auto params = std::get<kernels::Params>(kernels::parse(tuning.variants[model.variant]));
        params.precision = model.precision = precision;
        if (!serves(params)) continue;
        model.variant = index_of_variant(tuning.variants, kernels::name(params));
        tuning.models.push_back(model);
      }
    }
  }
  return tuning;
}

}  // namespace clbake::builder::profile
