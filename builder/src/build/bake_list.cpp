#include <clbake/builder/build.hpp>
#include <clbake/builder/jobs.hpp>
#include "profile/kind_choice.hpp"
#include "profile/relatives.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace clbake::builder::build {
using namespace compile;
namespace {

// A device or an offline target, and what was made for it.
struct Site {
  const Device& device;
  const OfflineTarget* offline = nullptr;
  std::string name() const { return offline ? offline->name : device.target.device_name; }
  kernels::Params compiled(const kernels::Params& params) const {
    return offline ? offline_variant(*offline, params) : params;
  }
};

void add_variant(BakeList& bake_list, const kernels::Params& params) {
  const auto found = std::find(bake_list.variants.begin(), bake_list.variants.end(), params);
  if (found == bake_list.variants.end()) bake_list.variants.push_back(params);
}

Result<BakeList> named_variants(const Site& site, const std::vector<kernels::Params>& variants) {
  BakeList bake_list;
  for (const kernels::Params& named : variants) {
    const kernels::Params params = site.compiled(named);
    const std::string broken = violation(params, site.device);
    if (!broken.empty()) {
      return {Code::invalid_argument, kernels::name(params) + " on " + site.name() + ": " + broken};
    }
    add_variant(bake_list, params);
  }
  return bake_list;
}

// A complex product is computed by variants of its parts' precision.
bool wants(const std::vector<Precision>& precisions, Precision precision) {
  return precisions.empty() || std::any_of(precisions.begin(), precisions.end(),
                                           [&](Precision wanted) { return real_precision(wanted) == precision; });
}

// The rules and models of the wanted precisions, and the variants that it names. Those that the device cannot run
// become `unfit`. Returns the kinds that the profile has.
std::set<GemmKind> add_winners(const Site& site, const profile::Tuning& tuned, const std::vector<Precision>& precisions,
                               BakeList& bake_list) {
  const profile::Tuning tuning = profile::with_relatives(tuned, precisions);
  std::vector<std::optional<kernels::Params>> fitting;  // by the tuning's index
  std::vector<std::string> broken;
  for (const std::string& name : tuning.variants) {
    const auto params = site.compiled(std::get<kernels::Params>(kernels::parse(name)));
    broken.push_back(violation(params, site.device));
    fitting.push_back(broken.back().empty() ? std::optional<kernels::Params>(params) : std::nullopt);
  }
  std::set<GemmKind> kinds;
  for (const Shape& shape : tuning.shapes) {  // the default variants may have won everything
    if (wants(precisions, shape.precision)) kinds.insert(shape.kind());
  }
  std::set<std::uint32_t> unfit;
  cache::Profile choice{0, tuning.compute_units, tuning.exceptions, tuning.models, {}};
  profile::keep_if(choice, [&](const GemmKind& kind, std::uint32_t variant) {
    if (!wants(precisions, kind.precision)) return false;
    kinds.insert(kind);
    if (!fitting[variant]) unfit.insert(variant);
    return fitting[variant].has_value();
  });
  for (const std::uint32_t v : unfit) bake_list.unfit.emplace_back(tuning.variants[v], broken[v]);
  profile::for_each_variant(choice, [&](std::uint32_t& variant) {
    add_variant(bake_list, *fitting[variant]);
    variant = index_in(bake_list.named, kernels::name(*fitting[variant]));
  });
  for (const GemmKind& kind : kinds) profile::add_kind(choice, kind, bake_list.choice);
  bake_list.choice.units = std::max(choice.units, 1U);
  return kinds;
}

// The default variants of all that is asked for or tuned: a winner has to beat them, and they serve where there is
// none.
void add_defaults(const Site& site, const std::vector<Precision>& wanted, const std::set<GemmKind>& kinds, bool group,
                  BakeList& bake_list) {
  for (const Precision precision : product_precisions) {
    if (!wants(wanted, precision) || (wanted.empty() && is_mixed(precision))) continue;
    const kernels::DeviceType type = site.device.type;
    std::vector<kernels::Params> points =
        kernels::default_variants(type, precision, site.device.vector_bytes, has_dots(site.device.limits, precision));
    if (group) {
      for (const kernels::Params& p : kernels::group_variants(type, precision, site.device.vector_bytes)) {
        points.push_back(p);
      }
    }
    for (const kernels::Params& params : points) {
      const bool asked_for = !wanted.empty() || kinds.count(params.kind()) > 0;
      if (asked_for && kernels::admits(site.device.limits, params)) add_variant(bake_list, site.compiled(params));
    }
  }
}

std::string tuned_on(const profile::Tuning& tuning) {
  const std::string day = tuning.date.substr(0, tuning.date.find('T'));
  return " (tuned on " + tuning.target.device_name + ", driver " + tuning.target.driver_version +
         (day.empty() ? "" : ", " + day) + ")";
}

BakeList shipped_bake_list(const Site& site, const BuildOptions& options,
                           const std::vector<profile::NamedTuning>& shipped) {
  const std::string device = profile::device_class(site.device);
  const auto found = std::find_if(shipped.begin(), shipped.end(),
                                  [&](const profile::NamedTuning& profile) { return profile.file == device; });
  BakeList bake_list;
  if (found != shipped.end()) add_winners(site, found->tuning, options.precisions, bake_list);
  bake_list.profile = bake_list.variants.empty() ? "none for " + device + " (not tuned: the families' default points)"
                                                 : "shipped " + device + tuned_on(found->tuning);
  bake_list.unfit.clear();
  add_defaults(site, options.precisions, {}, options.group, bake_list);
  return bake_list;
}

Status refuse(const profile::NamedTuning& profile, const std::string& device) {
  return {Code::invalid_argument, profile.file + ": was made for " + profile.tuning.target.device_name + " of " +
                                      profile.tuning.target.platform_name + ", not for " + device +
                                      "; --force takes it all the same"};
}

// "A of Platform P"
std::string full_name(const Site& site) {
  return site.offline ? site.offline->name : site.device.target.device_name + " of " + site.device.target.platform_name;
}

// The transposes that a precision of `kinds` lacks: "single nt, single tn".
std::string missing_kinds(const std::set<GemmKind>& kinds) {
  std::set<Precision> precisions;
  for (const GemmKind& kind : kinds) precisions.insert(kind.precision);
  std::string text;
  for (const Precision precision : precisions) {
    for (const auto& [a, b] : {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
      const GemmKind kind{precision, a, b};
      if (kinds.count(kind) == 0) text += (text.empty() ? "" : ", ") + kind_name(kind);
    }
  }
  return text;
}

Result<BakeList> profile_bake_list(const Site& site, const BuildOptions& options) {
  const profile::NamedTuning* profile = nullptr;
  for (const profile::NamedTuning& each : options.profiles) {
    if (!made_for(each.tuning.target, site.device.target)) continue;
    if (profile) {
      return {Code::invalid_argument,
              each.file + ": is for the same device as " + profile->file + ": 'clbake tune --merge' joins them"};
    }
    profile = &each;
  }
  if (!profile && !options.foreign_profiles) return refuse(options.profiles.front(), full_name(site));
  if (!profile) profile = &options.profiles.front();
  BakeList bake_list;
  const std::set<GemmKind> kinds = add_winners(site, profile->tuning, options.precisions, bake_list);
  if (kinds.empty()) return {Code::invalid_argument, profile->file + ": has no winner of the wanted precisions"};
  bake_list.profile = profile->file + tuned_on(profile->tuning);
  const std::string& then = profile->tuning.target.driver_version;
  const std::string& now = site.device.target.driver_version;
  if (!site.offline && then != now) {
    bake_list.remarks.push_back(profile->file + ": tuned with driver " + then + ", here " + now);
  }
  const std::string lacking = options.precisions.empty() ? missing_kinds(kinds) : std::string();
  if (!lacking.empty()) {
    bake_list.remarks.push_back("not tuned and not baked: " + lacking +
                                "; --precision bakes default variants for them");
  }
  add_defaults(site, options.precisions, kinds, options.group, bake_list);
  return bake_list;
}

Result<BakeList> bake_list_for(const Site& site, const BuildOptions& options,
                               const std::vector<profile::NamedTuning>& shipped) {
  Result<BakeList> bake_list = !options.gemm               ? BakeList()
                               : !options.variants.empty() ? named_variants(site, options.variants)
                               : options.profiles.empty()  ? shipped_bake_list(site, options, shipped)
                                                           : profile_bake_list(site, options);
  if (bake_list) bake_list->device = site.name();
  if (bake_list) bake_list->type = site.device.type;
  return bake_list;
}

// A profile that nothing here can use was named by mistake.
Status check_profiles(const std::vector<Site>& sites, const BuildOptions& options) {
  for (const profile::NamedTuning& profile : options.profiles) {
    const auto fits = [&](const Site& site) { return made_for(profile.tuning.target, site.device.target); };
    if (options.foreign_profiles || std::any_of(sites.begin(), sites.end(), fits)) continue;
    std::string names;
    for (const Site& site : sites) names += (names.empty() ? "" : ", ") + full_name(site);
    return refuse(profile, names);
  }
  return {};
}

}  // namespace

bool made_for(const Target& tuned, const Target& device) {
  if (tuned.platform_name != device.platform_name || tuned.vendor != device.vendor) return false;
  if (!device.device_name.empty()) return tuned.device_name == device.device_name;
  return !device.architecture.empty() && tuned.architecture == device.architecture;
}

Result<std::vector<BakeList>> bake_lists_for(const BuildOptions& options,
                                             const std::vector<profile::NamedTuning>& shipped) {
  std::vector<Site> sites;
  for (const Device& device : options.devices) sites.push_back({device});
  for (const OfflineTarget& target : options.targets) sites.push_back({target.device, &target});
  const Status profiles = check_profiles(sites, options);
  if (!profiles) return profiles;
  std::vector<BakeList> bake_lists;
  for (const Site& site : sites) {
    Result<BakeList> bake_list =
        bake_list_for(site, options, options.untuned ? std::vector<profile::NamedTuning>() : shipped);
    if (!bake_list) return bake_list.status();
    bake_lists.push_back(std::move(*bake_list));
  }
  return bake_lists;
}

}  // namespace clbake::builder::build
