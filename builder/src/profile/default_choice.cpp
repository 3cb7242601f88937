#include "profile/default_choice.hpp"

#include <clbake/choice.hpp>
#include <clbake/kernels/defaults.hpp>

#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <set>

namespace clbake::builder {
namespace {

// The default variants of one class of devices, by name.
struct Defaults {
  kernels::DeviceType type;
  std::set<std::string> names;
};

std::vector<Defaults> defaults_of_all_devices() {
  std::vector<Defaults> all;
  for (const kernels::DeviceType type : kernels::all_device_types) {
    for (const std::uint32_t vector_bytes : {64U, 32U}) {
      all.push_back({type, {}});
      for (const Precision precision : all_precisions) {
        for (const auto& p : kernels::default_variants(type, precision, vector_bytes)) {
          all.back().names.insert(kernels::name(p));
        }
      }
    }
  }
  return all;
}

// The tuned device's: those of which most were timed. A search may have timed some of another device's.
const Defaults& defaults_of(const Tuning& tuning) {
  static const std::vector<Defaults> all = defaults_of_all_devices();
  const auto timed = [&](const Defaults& defaults) {
    return std::count_if(tuning.variants.begin(), tuning.variants.end(),
                         [&](const std::string& name) { return defaults.names.count(name) > 0; });
  };
  return *std::max_element(all.begin(), all.end(),
                           [&](const Defaults& a, const Defaults& b) { return timed(a) < timed(b); });
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
  const Defaults& defaults = defaults_of(tuning);
  cache::Contents contents;
  contents.variants.resize(tuning.variants.size());
  for (std::uint32_t v = 0; v < tuning.variants.size(); ++v) {
    if (defaults.names.count(tuning.variants[v]) == 0) continue;
    contents.variants[v] = outline(std::get<kernels::Params>(kernels::parse(tuning.variants[v])));
    variants_.push_back(v);
  }
  rules_ = untuned_rules(contents, variants_, defaults.type);
}

std::optional<std::uint32_t> DefaultChoice::of(const Shape& shape) const {
  const Problem problem = problem_of(shape);
  const auto fitting = std::find_if(rules_.begin(), rules_.end(), [&](const cache::Rule& rule) {
    return rule.kind() == shape.kind() && fits(rule, problem);
  });
  return fitting == rules_.end() ? std::nullopt : std::optional<std::uint32_t>(fitting->variant);
}

}  // namespace clbake::builder
