#include "release/prune_plan.hpp"

#include "profile/kind_choice.hpp"
#include "release/keep_used.hpp"

#include <algorithm>

namespace clbake::builder {

// A target without a device's name stands for itself, as what its programs were made for, and for the devices that use
// them: the two may choose by different profiles.
Status PrunePlan::add_target(std::uint32_t target, const PruneOptions& options) {
  const Target& named = contents_.targets[target];
  const ServedDevice stands_for = served_device(named);
  Status status = add_device(target, stands_for, options);
  if (status && stands_for.target != named) {
    ServedDevice itself = stands_for;
    itself.target = named;
    status = add_device(target, itself, options);
  }
  return status;
}

bool PrunePlan::is_device(const KeptTarget& target) const {
  return target.device.target == served_device(contents_.targets[target.target]).target;
}

Status PrunePlan::add_device(std::uint32_t target, const ServedDevice& device, const PruneOptions& options) {
  Result<Serving> serving = Serving::create(bundle_, device, false);
  Result<Serving> newer = Serving::create(bundle_, device, true);
  if (!serving || !newer) return (serving ? newer : serving).status();
  targets_.push_back({target, device, std::move(*serving), std::move(*newer)});
  KeptTarget& kept = targets_.back();
  // The source that serves what nothing was baked for.
  profiles_[default_target(device.is_cpu)].kinds.insert(options.kinds.begin(), options.kinds.end());
  const Status own = add_programs(kept);
  if (!own) return own;
  return options.shapes.empty() ? add_kinds(kept, options.kinds) : add_shapes(kept, options.shapes);
}

// The application's own programs stay, whatever its products are.
Status PrunePlan::add_programs(KeptTarget& target) {
  Status status;
  for (std::uint32_t v = 0; v < contents_.variants.size(); ++v) {
    if (status && contents_.variants[v].is_program()) status = keep_variant(target, v);
  }
  return status;
}

Status PrunePlan::add_shapes(KeptTarget& target, const std::vector<Shape>& shapes) {
  const bool counts = is_device(target) && has_entries(target.target);
  for (const Shape& shape : shapes) {
    const Problem problem = problem_of(shape);
    const Result<Served> served = target.newer_driver.find(problem);
    if (!served) return served.status();
    unserved_ += counts && (!served->program || served->program->origin == Origin::source) ? 1 : 0;
    if (!served->program) continue;
    const std::uint32_t profile = served->by == ChosenBy::device_type ? default_target(target.device.is_cpu)
                                                                      : *target.serving.lookup().profile_target();
    const NeededChoice need{problem, served->program->variant, shape.weight, served->expected_us.value_or(0),
                            name(shape)};
    profiles_[profile].needs.push_back(need);
    profiles_[profile].variants.insert(need.variant);
    const Status kept = keep_variant(target, need.variant);
    if (!kept) return kept;
  }
  return {};
}

Status PrunePlan::add_kinds(KeptTarget& target, const std::vector<GemmKind>& kinds) {
  const std::optional<std::uint32_t> own = target.serving.lookup().profile_target();
  const cache::Profile* profile = own ? profile_of(*own) : nullptr;
  const std::set<GemmKind> known = profile ? kinds_of(*profile) : std::set<GemmKind>();
  std::set<std::uint32_t> variants;
  for (const GemmKind& kind : kinds) {
    if (known.count(kind) == 0) continue;
    profiles_[*own].kinds.insert(kind);
    const std::set<std::uint32_t> measured = measured_variants(*profile, kind);
    variants.insert(measured.begin(), measured.end());
    for (const cache::Rule& rule : profile->defaults) {
      if (rule.kind() == kind) variants.insert(rule.variant);
    }
  }
  for (const cache::Entry& entry : contents_.entries) {
    if (entry.target != target.target) continue;
    const GemmKind& kind = contents_.variants[entry.variant].kind();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) variants.insert(entry.variant);
  }
  Status status;
  for (const std::uint32_t variant : variants) {
    if (status) status = keep_variant(target, variant);
  }
  return status;
}

Result<std::set<EntryKey>> PrunePlan::entries_of(KeptTarget& target, std::uint32_t variant) const {
  std::set<EntryKey> keys = {{target.target, variant, cache::Form::native},
                             {target.target, variant, cache::Form::portable}};
  for (Serving* serving : {&target.serving, &target.newer_driver}) {
    const Result<const ServedProgram*> program = serving->program(variant);
    if (!program) return program.status();
    const std::optional<cache::EntryInfo>& entry = (*program)->entry;
    if (entry) keys.insert({entry->target, entry->variant, entry->form});
  }
  return keys;
}

Status PrunePlan::keep_variant(KeptTarget& target, std::uint32_t variant) {
  const Result<std::set<EntryKey>> keys = entries_of(target, variant);
  if (keys) entries_.insert(keys->begin(), keys->end());
  return keys.status();
}

Status PrunePlan::add_deciding(std::size_t& count) {
  count = 0;
  for (auto& [target, kept] : profiles_) {
    const cache::Profile* profile = profile_of(target);
    if (!profile || kept.needs.empty()) continue;
    const Result<std::set<std::uint32_t>> variants = deciding_variants(contents_, *profile, kept.needs, kept.variants);
    if (!variants) return variants.status();
    count += variants->size() - kept.variants.size();
    for (KeptTarget& user : targets_) {
      if (user.serving.lookup().profile_target() != target) continue;
      for (const std::uint32_t variant : *variants) {
        if (kept.variants.count(variant) > 0) continue;
        const Status status = keep_variant(user, variant);
        if (!status) return status;
      }
    }
    kept.variants = *variants;
  }
  return {};
}

cache::Contents PrunePlan::apply() const {
  cache::Contents kept{contents_.targets, contents_.sources, contents_.variants, {}, {}};
  for (const cache::Profile& profile : contents_.profiles) {
    const auto wanted = profiles_.find(profile.target);
    if (wanted == profiles_.end()) continue;
    kept.profiles.push_back(profile);
    keep_if(kept.profiles.back(), [&](const GemmKind& kind, std::uint32_t variant) {
      return wanted->second.kinds.count(kind) > 0 || wanted->second.variants.count(variant) > 0;
    });
  }
  for (const cache::Entry& entry : contents_.entries) {
    if (entries_.count({entry.target, entry.variant, entry.form}) > 0) kept.entries.push_back(entry);
  }
  keep_used(kept, true);
  return kept;
}

bool PrunePlan::has_entries(std::uint32_t target) const {
  return std::any_of(contents_.entries.begin(), contents_.entries.end(),
                     [&](const cache::Entry& entry) { return entry.target == target; });
}

const cache::Profile* PrunePlan::profile_of(std::uint32_t target) const {
  const auto found = std::find_if(contents_.profiles.begin(), contents_.profiles.end(),
                                  [&](const cache::Profile& profile) { return profile.target == target; });
  return found == contents_.profiles.end() ? nullptr : &*found;
}

// UINT32_MAX, which no profile has, when the bundle has none.
std::uint32_t PrunePlan::default_target(bool is_cpu) const {
  const Result<std::uint32_t> target = bundle_.find_target(cache::any_device(is_cpu));
  return target ? *target : UINT32_MAX;
}

}  // namespace clbake::builder
