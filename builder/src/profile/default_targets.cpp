#include "profile/default_targets.hpp"

#include <clbake/builder/jobs.hpp>
#include "profile/untuned_profile.hpp"

#include <algorithm>

namespace clbake::builder::profile {
namespace {

// A register of AVX2, which nearly every CPU that runs OpenCL has.
constexpr std::uint32_t kVectorBytes = 32;

std::uint32_t index_of_target(cache::Contents& contents, const cache::Target& target) {
  const auto found = std::find(contents.targets.begin(), contents.targets.end(), target);
  const auto index = static_cast<std::uint32_t>(found - contents.targets.begin());
  if (found == contents.targets.end()) contents.targets.push_back(target);
  return index;
}

cache::Profile defaults_of(cache::Contents& contents, std::uint32_t target, kernels::DeviceType type) {
  std::map<std::uint32_t, kernels::Params> variants;
  for (const Precision precision : all_precisions) {
    for (const kernels::Params& params : kernels::default_variants(type, precision, kVectorBytes)) {
      // A CPU has no use for it: register_tile runs everywhere as well.
      if (type == kernels::DeviceType::cpu && params.family == kernels::Family::direct) continue;
      const std::uint32_t index =
          add_job(contents, make_job(contents.targets[target], kernels::generate(params), params));
      variants.emplace(index, params);
    }
  }
  return {target, 1, {}, {}, untuned_rules(variants, type)};
}

}  // namespace

void add_default_targets(cache::Contents& contents) {
  const auto is_program = [](const cache::Variant& variant) { return variant.is_program(); };
  const bool products = !std::all_of(contents.variants.begin(), contents.variants.end(), is_program);
  if (!products && !contents.variants.empty()) return;
  for (const kernels::DeviceType type : kernels::all_device_types) {
    const std::uint32_t target = index_of_target(contents, cache::any_device(type == kernels::DeviceType::cpu));
    const bool present = std::any_of(contents.profiles.begin(), contents.profiles.end(),
                                     [&](const cache::Profile& profile) { return profile.target == target; });
    if (!present) contents.profiles.push_back(defaults_of(contents, target, type));
  }
}

bool is_default_target(const cache::Target& target) {
  return target == cache::any_device(true) || target == cache::any_device(false);
}

}  // namespace clbake::builder::profile
