#include "cli/variants.hpp"

#include "cli/cli.hpp"

#include <algorithm>

namespace clbake::tool {
namespace {

std::string known_presets() {
  std::string text;
  for (const kernels::Preset& preset : kernels::presets()) text += (text.empty() ? "" : ", ") + preset.name;
  return text;
}

kernels::Params variant_named(const std::string& name) {
  if (const kernels::Preset* preset = kernels::find_preset(name)) return preset->params;
  const std::variant<kernels::Params, std::string> read = kernels::parse(name);
  if (const auto* params = std::get_if<kernels::Params>(&read)) return *params;
  // A name with few dashes is more likely a mistyped preset than a variant.
  if (split(name, '-').size() > 3) throw UsageError("--variant: " + std::get<std::string>(read));
  throw UsageError("--variant: '" + name + "' is neither a variant nor a preset; the presets are: " + known_presets());
}

}  // namespace

std::string variant_name(const std::string& given) {
  const kernels::Preset* preset = kernels::find_preset(given);
  return preset ? kernels::name(preset->params) : given;
}

std::vector<kernels::Params> variants_named(const std::vector<std::string>& names) {
  std::vector<kernels::Params> variants;
  for (const std::string& name : names) {
    const kernels::Params params = variant_named(name);
    if (std::find(variants.begin(), variants.end(), params) == variants.end()) variants.push_back(params);
  }
  return variants;
}

std::string violation(const kernels::Params& params, const builder::Device& device) {
  const std::vector<kernels::Violation> violations = kernels::check(params, device.limits);
  return violations.empty() ? "" : std::string(violations[0].constraint) + ": " + violations[0].reason;
}

}  // namespace clbake::tool
