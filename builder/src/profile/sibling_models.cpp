#include "profile/sibling_models.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

kernels::Params with_transposes(const std::string& variant, const GemmKind& kind) {
  auto params = std::get<kernels::Params>(kernels::parse(variant));
  params.kind() = kind;
  return params;
}

}  // namespace

std::vector<cache::CostModel> sibling_models(const std::vector<cache::CostModel>& from, const GemmKind& kind,
                                             const std::vector<std::uint32_t>& defaults,
                                             const std::set<std::string>& failed, const kernels::DeviceLimits* limits,
                                             Tuning& tuning) {
  std::vector<std::string> variants = tuning.variants;
  std::vector<cache::CostModel> models;
  for (cache::CostModel model : from) {
    const kernels::Params params = with_transposes(tuning.variants[model.variant], kind);
    const std::string name = kernels::name(params);
    const auto known = std::find(variants.begin(), variants.end(), name);
    const bool admitted = known != variants.end() || (limits && kernels::admits(*limits, params));
    if (!admitted || failed.count(name) > 0) {
      if (contains(defaults, model.variant)) return {};
      continue;
    }
    model.kind() = kind;
    model.variant = static_cast<std::uint32_t>(known - variants.begin());
    if (known == variants.end()) variants.push_back(name);
    models.push_back(model);
  }
  tuning.variants = std::move(variants);
  return models;
}

}  // namespace clbake::builder
