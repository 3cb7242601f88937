#include "profile/default_choice.hpp"

#include <clbake/choice.hpp>
#include <clbake/kernels/defaults.hpp>

#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <set>

namespace clbake::builder {
namespace {

// Names of the default variants of any device: those of the tuned one are the ones that were timed.
const std::set<std::string>& default_names() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const kernels::DeviceType type : kernels::all_device_types) {
      for (const Precision precision : all_precisions) {
        for (const std::uint32_t vector_bytes : {32U, 64U}) {
          for (const auto& p : kernels::default_variants(type, precision, vector_bytes)) all.insert(kernels::name(p));
        }
      }
    }
    return all;
  }();
  return names;
}

// As much of a variant as the default rules go by.
cache::Variant outline(const kernels::Params& params) {
  cache::Variant variant;
  variant.kind() = params.kind();
  variant.family = kernels::name(params.family);
  variant.launches.resize(1);
  variant.launches[0].tile_m = params.ml;
  variant.launches[0].tile_n = params.nl;
  return variant;
}

}  // namespace

DefaultChoice::DefaultChoice(const Tuning& tuning) {
  cache::Contents contents;
  kernels::DeviceType type = kernels::DeviceType::gpu;
  contents.variants.resize(tuning.variants.size());
  for (std::uint32_t v = 0; v < tuning.variants.size(); ++v) {
    if (default_names().count(tuning.variants[v]) == 0) continue;
    const auto params = std::get<kernels::Params>(kernels::parse(tuning.variants[v]));
    if (params.family == kernels::Family::register_tile) type = kernels::DeviceType::cpu;
    contents.variants[v] = outline(params);
    variants_.push_back(v);
  }
  rules_ = untuned_rules(contents, variants_, type);
}

std::optional<std::uint32_t> DefaultChoice::of(const Shape& shape) const {
  const Problem problem = problem_of(shape);
  const auto fitting = std::find_if(rules_.begin(), rules_.end(), [&](const cache::Rule& rule) {
    return rule.kind() == shape.kind() && fits(rule, problem);
  });
  return fitting == rules_.end() ? std::nullopt : std::optional<std::uint32_t>(fitting->variant);
}

}  // namespace clbake::builder
