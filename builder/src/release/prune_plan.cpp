#include "release/prune_plan.hpp"

#include "profile/kind_choice.hpp"
#include "release/keep_used.hpp"

#include <algorithm>

namespace clbake::builder::release {
namespace {

// UINT32_MAX, which no profile has, when the bundle has none.
std::uint32_t default_target(const PrunePlan& plan, bool is_cpu) {
  const Result<std::uint32_t> target = plan.bundle.find_target(cache::any_device(is_cpu));
  return target ? *target : UINT32_MAX;
}

bool has_entries(const PrunePlan& plan, std::uint32_t target) {
  const std::vector<cache::Entry>& entries = plan.contents.entries;
  return std::any_of(entries.begin(), entries.end(), [&](const cache::Entry& e) { return e.target == target; });
}

Status add_shapes(PrunePlan& plan, KeptTarget& target, const std::vector<Shape>& shapes) {
  const bool is_device = target.device.target == served_device(plan.contents.targets[target.target]).target;
  const bool counts = is_device && has_entries(plan, target.target);
  for (const Shape& shape : shapes) {
    const Problem problem = problem_of(shape);
    const Result<Served> served = target.newer_driver.find(problem);
    if (!served) return served.status();
    plan.unserved += counts && (!served->program || served->program->origin == Origin::source) ? 1 : 0;
    if (!served->program) continue;
    const std::uint32_t variant = served->program->variant;
    KeptProfile& profile =
        plan.profiles[served->by == ChosenBy::device_type ? default_target(plan, target.device.is_cpu)
                                                          : *PrunePlan::profile_used_by(target)];
    profile.needs.push_back(
        {real_product(problem), variant, shape.weight, served->expected_us.value_or(0), name(shape)});
    profile.variants.insert(variant);
    target.variants.insert(variant);
  }
  return {};
}

void add_kinds(PrunePlan& plan, KeptTarget& target, const std::vector<GemmKind>& kinds) {
  const std::optional<std::uint32_t> used = PrunePlan::profile_used_by(target);
  const cache::Profile* profile = used ? plan.profile_of(*used) : nullptr;
  const std::set<GemmKind> known = profile ? kinds_of(*profile) : std::set<GemmKind>();
  for (const GemmKind& kind : kinds) {
    if (known.count(kind) == 0) continue;
    plan.profiles[*used].kinds.insert(kind);
    const std::set<std::uint32_t> measured = measured_variants(*profile, kind);
    target.variants.insert(measured.begin(), measured.end());
    for (const cache::Rule& rule : profile->defaults) {
      if (rule.kind() == kind) target.variants.insert(rule.variant);
    }
  }
  for (const cache::Entry& entry : plan.contents.entries) {
    const GemmKind& kind = plan.contents.variants[entry.variant].kind();
    const bool wanted = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    if (entry.target == target.target && wanted) target.variants.insert(entry.variant);
  }
}

Status add_device(PrunePlan& plan, std::uint32_t target, const ServedDevice& device, const PruneOptions& options) {
  Result<Serving> serving = Serving::create({plan.bundle}, device, false);
  Result<Serving> newer = Serving::create({plan.bundle}, device, true);
  if (!serving || !newer) return (serving ? newer : serving).status();
  plan.targets.push_back({target, device, std::move(*serving), std::move(*newer), {}});
  KeptTarget& kept = plan.targets.back();
  // The source that serves what nothing was baked for.
  plan.profiles[default_target(plan, device.is_cpu)].kinds.insert(options.kinds.begin(), options.kinds.end());
  for (std::uint32_t v = 0; v < plan.contents.variants.size(); ++v) {
    if (plan.contents.variants[v].is_program()) kept.variants.insert(v);  // whatever the application's products are
  }
  if (!options.shapes.empty()) return add_shapes(plan, kept, options.shapes);
  add_kinds(plan, kept, options.kinds);
  return {};
}

// The variants between which the profile decides where no exception does: the first default's, and the one that is
// expected to be the fastest.
void add_deciding(const cache::Profile& profile, const Problem& problem, std::set<std::uint32_t>& variants) {
  const auto default_one = std::find_if(profile.defaults.begin(), profile.defaults.end(), [&](const cache::Rule& rule) {
    return rule.kind() == problem.kind() && fits(rule, problem);
  });
  if (default_one != profile.defaults.end()) variants.insert(default_one->variant);
  const Choices::Choice fastest = Choices(profile).runner_up(problem, UINT32_MAX);
  if (fastest.named) variants.insert(fastest.named->variant);
}

// Adds to the kept variants until every need is met as before.
Status add_deciding(const cache::Profile& profile, KeptProfile& kept) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::size_t size = kept.variants.size();
    const Choices choices = choices_among(profile, kept.variants);
    for (const NeededChoice& need : kept.needs) {
      const Choices::Choice choice = choices.find(need.problem);
      if (choice.named && choice.named->variant == need.variant) continue;
      add_deciding(profile, need.problem, kept.variants);
      changed = true;
    }
    if (changed && kept.variants.size() == size) return {Code::malformed, "does not choose the same variant twice"};
  }
  return {};
}

}  // namespace

const cache::Profile* PrunePlan::profile_of(std::uint32_t target) const {
  const auto found = std::find_if(contents.profiles.begin(), contents.profiles.end(),
                                  [&](const cache::Profile& profile) { return profile.target == target; });
  return found == contents.profiles.end() ? nullptr : &*found;
}

// A target without a device's name stands for itself, as what its programs were made for, and for the devices that use
// them: the two may choose by different profiles.
Status add_target(PrunePlan& plan, std::uint32_t target, const PruneOptions& options) {
  const Target& named = plan.contents.targets[target];
  const ServedDevice stands_for = served_device(named);
  const Status status = add_device(plan, target, stands_for, options);
  if (!status || stands_for.target == named) return status;
  ServedDevice itself = stands_for;
  itself.target = named;
  return add_device(plan, target, itself, options);
}

Choices choices_among(const cache::Profile& profile, const std::set<std::uint32_t>& variants) {
  cache::Profile kept = profile;
  keep_if(kept, [&](const GemmKind&, std::uint32_t variant) { return variants.count(variant) > 0; });
  return Choices(std::move(kept));
}

Result<std::size_t> add_deciding(PrunePlan& plan) {
  std::size_t count = 0;
  for (auto& [target, kept] : plan.profiles) {
    const cache::Profile* profile = plan.profile_of(target);
    if (!profile || kept.needs.empty()) continue;
    const std::set<std::uint32_t> chosen = kept.variants;
    const Status status = add_deciding(*profile, kept);
    if (!status) return status.within("the profile of " + plan.contents.targets[target].device_name);
    count += kept.variants.size() - chosen.size();
    for (KeptTarget& user : plan.targets) {
      if (PrunePlan::profile_used_by(user) != target) continue;
      for (const std::uint32_t variant : kept.variants) {
        if (chosen.count(variant) == 0) user.variants.insert(variant);
      }
    }
  }
  return count;
}

Result<std::set<EntryKey>> entries_of(KeptTarget& target, std::uint32_t variant, bool all_forms) {
  std::set<EntryKey> keys = {{target.target, variant, cache::Form::native}};
  if (all_forms) keys.insert({target.target, variant, cache::Form::portable});
  for (Serving* serving : {&target.serving, &target.newer_driver}) {
    const Result<const ServedProgram*> program = serving->program(variant);
    if (!program) return program.status();
    const std::optional<cache::EntryInfo>& entry = (*program)->entry;
    if (entry) keys.insert({entry->target, entry->variant, entry->form});
  }
  return keys;
}

Result<cache::Contents> kept_contents(PrunePlan& plan) {
  std::set<EntryKey> entries;
  for (KeptTarget& target : plan.targets) {
    for (const std::uint32_t variant : target.variants) {
      const Result<std::set<EntryKey>> keys = entries_of(target, variant, !plan.leaves_out_forms);
      if (!keys) return keys.status();
      entries.insert(keys->begin(), keys->end());
    }
  }
  const cache::Contents& all = plan.contents;
  cache::Contents kept{all.targets, all.sources, all.variants, {}, {}};
  for (const cache::Profile& profile : all.profiles) {
    const auto wanted = plan.profiles.find(profile.target);
    if (wanted == plan.profiles.end()) continue;
    kept.profiles.push_back(profile);
    keep_if(kept.profiles.back(), [&](const GemmKind& kind, std::uint32_t variant) {
      return wanted->second.kinds.count(kind) > 0 || wanted->second.variants.count(variant) > 0;
    });
  }
  for (const cache::Entry& entry : all.entries) {
    if (entries.count({entry.target, entry.variant, entry.form}) > 0) kept.entries.push_back(entry);
  }
  keep_used(kept, true);
  return kept;
}

}  // namespace clbake::builder::release
