#include <clbake/builder/release/prune.hpp>

#include <clbake/builder/release/served.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include "process/need.hpp"
#include "profile/kind_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace clbake::builder::release {
namespace {

// Keeps the items that are in use; the new index of each, of the others 0.
template <typename T>
std::vector<std::uint32_t> keep(std::vector<T>& items, const std::vector<bool>& used) {
  std::vector<std::uint32_t> index(items.size());
  std::vector<T> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!used[i]) continue;
    index[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(items[i]));
  }
  items = std::move(kept);
  return index;
}

using Variants = std::set<std::uint32_t>;  // indices into the contents' variants

// The part of a profile that stays: all that is about some kinds, and what names some variants.
struct KeptProfile {
  std::set<GemmKind> kinds;
  Variants variants;
  std::vector<std::pair<Problem, std::uint32_t>> needs;  // real and row-major problems, with the variants that serve
};

// A target that stays, and a device that it stands for.
struct KeptDevice {
  std::uint32_t target = 0;
  Serving exact;      // without ...
  Serving newer;      // ... and with Options::newer_driver
  Variants variants;  // whose programs stay

  // The target whose profile the device goes by.
  std::optional<std::uint32_t> profile() const { return exact.lookup().profile_target(); }
};

// A profile that names some of its variants only; it chooses as the runtime does.
Choices choices_among(cache::Profile profile, const Variants& variants) {
  profile::keep_if(profile, [&](const GemmKind&, std::uint32_t variant) { return variants.count(variant) > 0; });
  return Choices(std::move(profile));
}

// The variants between which the profile decides where no exception does: the first default's, and the one that is
// expected to be the fastest.
void add_rivals(const cache::Profile& profile, const Problem& problem, Variants& variants) {
  const auto serves = [&](const cache::Rule& rule) { return rule.kind() == problem.kind() && fits(rule, problem); };
  const auto first = std::find_if(profile.defaults.begin(), profile.defaults.end(), serves);
  if (first != profile.defaults.end()) variants.insert(first->variant);
  const Choices::Choice fastest = Choices(profile).runner_up(problem, UINT32_MAX);
  if (fastest.variant) variants.insert(*fastest.variant);
}

// Adds to the kept variants until each need is met by its variant.
Status add_deciding(const cache::Profile& profile, KeptProfile& kept) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::size_t size = kept.variants.size();
    const Choices choices = choices_among(profile, kept.variants);
    for (const auto& [problem, variant] : kept.needs) {
      const Choices::Choice choice = choices.find(problem);
      if (choice.variant == variant) continue;
      add_rivals(profile, problem, kept.variants);
      changed = true;
    }
    if (changed && kept.variants.size() == size) return {Code::malformed, "does not choose the same variant twice"};
  }
  return {};
}

class Pruner {
 public:
  Pruner(const Bundle& bundle, const cache::Contents& all, const PruneOptions& options)
      : bundle_(bundle), all_(all), options_(options) {}

  // A target without a device's name stands for itself, as what its programs were made for, and for the devices that
  // use them: the two may choose by different profiles.
  void add(std::uint32_t target) {
    const Target& named = all_.targets[target];
    ServedDevice device = served_device(named);
    add_device(target, device);
    if (device.target == named) return;
    device.target = named;
    add_device(target, device);
  }

  // After all targets: keeps the variants without which a choice would change, and returns how many.
  std::size_t add_deciding() {
    std::size_t count = 0;
    for (auto& [target, kept] : profiles_) {
      const cache::Profile* profile = profile_of(target);
      if (!profile || kept.needs.empty()) continue;
      const std::size_t before = kept.variants.size();
      need(release::add_deciding(*profile, kept), "the profile of " + all_.targets[target].device_name);
      if (kept.variants.size() == before) continue;
      count += kept.variants.size() - before;
      for (KeptDevice& user : devices_) {
        if (user.profile() == target) user.variants.insert(kept.variants.begin(), kept.variants.end());
      }
    }
    return count;
  }

  // The records that stay; among them are all targets, sources and variants.
  cache::Contents kept() {
    std::set<Key> keys;
    for (KeptDevice& device : devices_) add_entries(device, keys);
    cache::Contents kept{all_.targets, all_.sources, all_.variants, {}, {}};
    for (const cache::Profile& profile : all_.profiles) {
      const auto wanted = profiles_.find(profile.target);
      if (wanted == profiles_.end()) continue;
      kept.profiles.push_back(profile);
      profile::keep_if(kept.profiles.back(), [&](const GemmKind& kind, std::uint32_t variant) {
        return wanted->second.kinds.count(kind) > 0 || wanted->second.variants.count(variant) > 0;
      });
    }
    for (const cache::Entry& entry : all_.entries) {
      if (keys.count({entry.target, entry.variant, entry.form}) > 0) kept.entries.push_back(entry);
    }
    return kept;
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, cache::Form>;  // target, variant and form of an entry

  const cache::Profile* profile_of(std::uint32_t target) const {
    const auto is_it = [&](const cache::Profile& profile) { return profile.target == target; };
    const auto found = std::find_if(all_.profiles.begin(), all_.profiles.end(), is_it);
    return found == all_.profiles.end() ? nullptr : &*found;
  }

  void add_device(std::uint32_t target, const ServedDevice& device) {
    Serving exact = need(Serving::create({bundle_}, device, false));
    Serving newer = need(Serving::create({bundle_}, device, true));
    KeptDevice& kept = devices_.emplace_back(KeptDevice{target, std::move(exact), std::move(newer), {}});
    for (std::uint32_t v = 0; v < all_.variants.size(); ++v) {
      if (all_.variants[v].is_program()) kept.variants.insert(v);  // the application asks for its own by name
    }
    // The source that serves what nothing was baked for.
    const Result<std::uint32_t> found = bundle_.find_target(cache::any_device(device.is_cpu));
    const std::uint32_t defaults = found ? *found : UINT32_MAX;  // no profile is that one's
    profiles_[defaults].kinds.insert(options_.kinds.begin(), options_.kinds.end());
    options_.shapes.empty() ? add_kinds(kept) : add_shapes(kept, defaults);
  }

  void add_shapes(KeptDevice& device, std::uint32_t defaults) {
    for (const Shape& shape : options_.shapes) {
      const Problem problem = problem_of(shape);
      const Served served = need(device.newer.find(problem));
      if (!served.program) continue;
      const std::uint32_t variant = served.program->variant;
      KeptProfile& profile = profiles_[served.by == ChosenBy::device_type ? defaults : *device.profile()];
      for (std::uint32_t v = 0; v < all_.variants.size(); ++v) {  // for groups of such products
        if (all_.variants[v].is_group() && all_.variants[v].kind() == shape.kind()) device.variants.insert(v);
      }
      add_need(device, profile, problem, variant);
    }
  }

  // The variant that serves a problem and, if it has a vector, that of its other reading: the runtime decides between
  // the two (Choices::read_faster).
  void add_need(KeptDevice& device, KeptProfile& kept, const Problem& problem, std::uint32_t variant) {
    const auto add = [&](const Problem& read, std::uint32_t chosen) {
      kept.needs.emplace_back(read, chosen);
      kept.variants.insert(chosen);
      device.variants.insert(chosen);
    };
    Problem other = problem;
    const cache::Profile* const profile = device.profile() ? profile_of(*device.profile()) : nullptr;
    if (!profile || is_complex(problem.precision) || !read_otherwise(other)) {
      return add(real_product(problem), variant);
    }
    const bool is_own = all_.variants[variant].kind() == problem.kind();
    add(is_own ? problem : other, variant);
    const Choices::Choice second = Choices(*profile).find(is_own ? other : problem);
    if (second.variant) add(is_own ? other : problem, *second.variant);
  }

  void add_kinds(KeptDevice& device) {
    const std::set<GemmKind> wanted(options_.kinds.begin(), options_.kinds.end());
    const std::optional<std::uint32_t> used = device.profile();
    if (const cache::Profile* profile = used ? profile_of(*used) : nullptr) {
      profiles_[*used].kinds.insert(wanted.begin(), wanted.end());
      cache::Profile part = *profile;
      profile::keep_if(part, [&](const GemmKind& kind, std::uint32_t) { return wanted.count(kind) > 0; });
      profile::for_each_variant(part, [&](std::uint32_t variant) { device.variants.insert(variant); });
    }
    for (const cache::Entry& entry : all_.entries) {
      const bool is_wanted = wanted.count(all_.variants[entry.variant].kind()) > 0;
      if (entry.target == device.target && is_wanted) device.variants.insert(entry.variant);
    }
  }

  // The entries of the device's variants: both forms that the target itself has, and those that the device loads.
  static void add_entries(KeptDevice& device, std::set<Key>& keys) {
    for (const std::uint32_t variant : device.variants) {
      keys.insert({device.target, variant, cache::Form::native});
      keys.insert({device.target, variant, cache::Form::portable});
      for (Serving* serving : {&device.exact, &device.newer}) {
        const std::optional<cache::EntryInfo>& entry = need(serving->program(variant))->entry;
        if (entry) keys.insert({entry->target, entry->variant, entry->form});
      }
    }
  }

  const Bundle& bundle_;
  const cache::Contents& all_;
  const PruneOptions& options_;
  std::vector<KeptDevice> devices_;
  std::map<std::uint32_t, KeptProfile> profiles_;  // by target
};

PruneCounts counts_of(const cache::Contents& contents, std::uint64_t bytes) {
  return {contents.targets.size(), contents.variants.size(), contents.entries.size(), bytes};
}

std::vector<std::string> removed_targets(const cache::Contents& before, const cache::Contents& after) {
  std::vector<std::string> removed;
  for (const Target& target : before.targets) {
    const bool kept = std::find(after.targets.begin(), after.targets.end(), target) != after.targets.end();
    if (!kept) removed.push_back(target_name(target));
  }
  return removed;
}

}  // namespace

void keep_used(cache::Contents& contents) {
  std::vector<cache::Profile>& profiles = contents.profiles;
  profiles.erase(std::remove_if(profiles.begin(), profiles.end(),
                                [](const cache::Profile& profile) { return profile::kinds_of(profile).empty(); }),
                 profiles.end());
  std::vector<bool> targets(contents.targets.size());
  std::vector<bool> variants(contents.variants.size());
  std::vector<bool> sources(contents.sources.size());
  for (const cache::Entry& entry : contents.entries) targets[entry.target] = variants[entry.variant] = true;
  for (cache::Profile& profile : profiles) {
    targets[profile.target] = true;
    profile::for_each_variant(profile, [&](std::uint32_t variant) { variants[variant] = true; });
  }
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (contents.variants[v].is_program()) variants[v] = true;
    if (!variants[v]) continue;
    sources[contents.variants[v].source] = true;
    if (contents.variants[v].trial != 0) sources[contents.variants[v].trial - 1] = true;
  }
  const std::vector<std::uint32_t> target_index = keep(contents.targets, targets);
  const std::vector<std::uint32_t> variant_index = keep(contents.variants, variants);
  const std::vector<std::uint32_t> source_index = keep(contents.sources, sources);
  for (cache::Variant& variant : contents.variants) {
    variant.source = source_index[variant.source];
    if (variant.trial != 0) variant.trial = 1 + source_index[variant.trial - 1];
  }
  for (cache::Entry& entry : contents.entries) {
    entry.target = target_index[entry.target];
    entry.variant = variant_index[entry.variant];
  }
  for (cache::Profile& profile : profiles) {
    profile.target = target_index[profile.target];
    profile::for_each_variant(profile, [&](std::uint32_t& variant) { variant = variant_index[variant]; });
  }
}

Result<PrunedBundle> prune(const Bundle& bundle, const PruneOptions& options) try {
  const cache::Contents contents = need(bundle.decode());
  Pruner pruner(bundle, contents, options);
  for (const std::uint32_t target : options.targets) pruner.add(target);
  const std::size_t deciding = pruner.add_deciding();
  cache::Contents kept = pruner.kept();
  keep_used(kept);
  if (kept.entries.empty()) {
    return {Code::invalid_argument, "no program of the bundle would be left: none is for what is asked for"};
  }
  cache::Bytes bytes = need(cache::pack(kept, {0, nullptr, {}, digest_function()}));
  const PruneCounts after = counts_of(kept, bytes.size());
  return PrunedBundle{std::move(bytes), counts_of(contents, bundle.size_bytes()), after,
                      removed_targets(contents, kept), deciding};
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::release
