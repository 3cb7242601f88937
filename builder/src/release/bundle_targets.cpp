#include <clbake/builder/platforms.hpp>
#include <clbake/builder/release/bundle_targets.hpp>

#include <clbake/builder/release/served.hpp>
#include "profile/default_targets.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace clbake::builder::release {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_index(const std::string& spec) { return spec.find_first_not_of("0123456789") == std::string::npos; }

enum class Match { none, part, whole };

Match match(const Target& target, const std::string& wanted) {
  Match best = Match::none;
  for (const std::string& text : {target_name(target), target.platform_name, target.platform_version, target.vendor,
                                  target.device_name, target.device_version, target.driver_version, target.architecture,
                                  std::string(process::builder_platform_of(target).alias)}) {
    const std::string field = lower(text);
    if (field == wanted) return Match::whole;
    if (field.find(wanted) != std::string::npos && !profile::is_default_target(target)) best = Match::part;
  }
  return best;
}

}  // namespace

Result<std::vector<std::uint32_t>> targets_named(const Bundle& bundle, const std::string& spec) {
  if (spec.empty()) return std::vector<std::uint32_t>();
  std::vector<std::uint32_t> whole, part;
  if (is_index(spec)) {
    const unsigned long index = spec.size() > 9 ? UINT32_MAX : std::stoul(spec);
    if (index < bundle.target_count()) whole.push_back(static_cast<std::uint32_t>(index));
    return whole;
  }
  const std::string wanted = lower(spec);
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target) return target.status();
    const Match found = match(*target, wanted);
    if (found == Match::whole) whole.push_back(i);
    if (found != Match::none) part.push_back(i);
  }
  return whole.empty() ? part : whole;
}

Result<std::vector<std::uint32_t>> targets_with_entries(const Bundle& bundle) {
  std::set<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    targets.insert(entry->target);
  }
  return std::vector<std::uint32_t>(targets.begin(), targets.end());
}

}  // namespace clbake::builder::release
