#include <clbake/builder/release/diff.hpp>

#include <clbake/builder/release/bundle_targets.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace clbake::builder::release {
namespace {

auto fields(const Target& t) {
  return std::tie(t.device_name, t.driver_version, t.platform_name, t.platform_version, t.vendor, t.device_version,
                  t.architecture, t.address_bits);
}
struct ByFields {
  bool operator()(const Target& a, const Target& b) const { return fields(a) < fields(b); }
};

// The records of a bundle, by what they are equal by in another one.
struct Records {
  std::vector<Target> targets;
  std::vector<cache::Variant> variants;
  std::vector<cache::Source> sources;
  std::map<Target, cache::Profile, ByFields> profiles;
};

template <typename T, typename Get>
Status read_all(std::uint32_t count, std::vector<T>& list, const Get& get) {
  list.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<T> item = get(i);
    if (!item) return item.status();
    list.push_back(std::move(*item));
  }
  return {};
}

Result<Records> read_records(const Bundle& bundle) {
  Records records;
  Status status = read_all(bundle.target_count(), records.targets, [&](auto i) { return bundle.target(i); });
  if (status) status = read_all(bundle.variant_count(), records.variants, [&](auto i) { return bundle.variant(i); });
  if (status) status = read_all(bundle.source_count(), records.sources, [&](auto i) { return bundle.source(i); });
  std::vector<cache::Profile> profiles;
  if (status) status = read_all(bundle.profile_count(), profiles, [&](auto i) { return bundle.profile(i); });
  if (!status) return status;
  for (cache::Profile& profile : profiles) {
    const Target& target = records.targets[profile.target];
    records.profiles.emplace(target, std::move(profile));
  }
  return records;
}

std::set<Target, ByFields> set_of(const std::vector<Target>& targets) {
  return std::set<Target, ByFields>(targets.begin(), targets.end());
}

NameDiff diff_targets(const Records& before, const Records& after) {
  NameDiff diff;
  const auto old_ones = set_of(before.targets), new_ones = set_of(after.targets);
  for (const Target& target : old_ones) {
    if (new_ones.count(target) == 0) diff.removed.push_back(target_name(target));
  }
  for (const Target& target : new_ones) {
    if (old_ones.count(target) == 0) diff.added.push_back(target_name(target));
  }
  return diff;
}

// Both lists are sorted by name.
NameDiff diff_variants(const Records& before, const Records& after) {
  NameDiff diff;
  auto a = before.variants.begin();
  auto b = after.variants.begin();
  while (a != before.variants.end() || b != after.variants.end()) {
    if (b == after.variants.end() || (a != before.variants.end() && a->name < b->name)) {
      diff.removed.push_back((a++)->name);
    } else if (a == before.variants.end() || b->name < a->name) {
      diff.added.push_back((b++)->name);
    } else {
      const bool same_source = before.sources[a->source] == after.sources[b->source];
      if (!same_source || !same_but_source(*a, *b)) diff.changed.push_back(a->name);
      ++a, ++b;
    }
  }
  return diff;
}

bool same(const cache::Rule& a, const cache::Rule& b) {
  return a.kind() == b.kind() &&
         std::tie(a.m_min, a.m_max, a.n_min, a.n_max, a.k_min, a.k_max) ==
             std::tie(b.m_min, b.m_max, b.n_min, b.n_max, b.k_min, b.k_max) &&
         a.batch_min == b.batch_min && a.batch_max == b.batch_max;
}

bool same(const cache::CostModel& a, const cache::CostModel& b) {
  const auto equal = [&](const auto& field) { return a.*field.value == b.*field.value; };
  return a.kind() == b.kind() &&
         std::all_of(std::begin(cache::kCostModelExtents), std::end(cache::kCostModelExtents), equal) &&
         std::all_of(std::begin(cache::kCostModelNumbers), std::end(cache::kCostModelNumbers), equal);
}

template <typename T>
bool same_list(const std::vector<T>& a, const Records& before, const std::vector<T>& b, const Records& after) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const T& x, const T& y) {
    return before.variants[x.variant].name == after.variants[y.variant].name && same(x, y);
  });
}

std::vector<ProfileDiff> diff_profiles(const Records& before, const Records& after) {
  std::set<Target, ByFields> targets;
  for (const auto& [target, profile] : before.profiles) targets.insert(target);
  for (const auto& [target, profile] : after.profiles) targets.insert(target);
  static const cache::Profile none{0, 0, {}, {}, {}};
  const auto profile_of = [&](const Records& records, const Target& target) -> const cache::Profile& {
    const auto found = records.profiles.find(target);
    return found == records.profiles.end() ? none : found->second;
  };
  std::vector<ProfileDiff> diffs;
  for (const Target& target : targets) {
    const cache::Profile& a = profile_of(before, target);
    const cache::Profile& b = profile_of(after, target);
    if (a.units == b.units && same_list(a.exceptions, before, b.exceptions, after) &&
        same_list(a.models, before, b.models, after) && same_list(a.defaults, before, b.defaults, after)) {
      continue;
    }
    diffs.push_back({target_name(target),
                     {a.exceptions.size(), b.exceptions.size()},
                     {a.models.size(), b.models.size()},
                     {a.defaults.size(), b.defaults.size()}});
  }
  return diffs;
}

bool same_program(const cache::EntryInfo& a, const cache::EntryInfo& b) {
  return a.program.raw_bytes == b.program.raw_bytes && a.program.raw_checksum == b.program.raw_checksum &&
         a.newer_driver == b.newer_driver;
}

bool same_proof(const cache::Proof& a, const cache::Proof& b) {
  return std::tie(a.proven, a.jit_free, a.specialisations, a.tools, a.device, a.driver) ==
         std::tie(b.proven, b.jit_free, b.specialisations, b.tools, b.device, b.driver);
}

bool same_measurements(const cache::Proof& a, const cache::Proof& b) {
  return std::tie(a.create_us, a.build_us, a.kernel_us, a.first_us, a.steady_us, a.max_error, a.tolerance, a.note) ==
         std::tie(b.create_us, b.build_us, b.kernel_us, b.first_us, b.steady_us, b.max_error, b.tolerance, b.note);
}

// An entry's place: its target in a list of all, its variant's name, its form.
using Key = std::tuple<std::size_t, std::string, cache::Form>;
using Pairs = std::map<Key, EntryDiff>;
using TargetNumbers = std::map<Target, std::size_t, ByFields>;

Status add_entries(const Bundle& bundle, const Records& records, TargetNumbers& numbers, Pairs& pairs,
                   std::optional<cache::EntryInfo> EntryDiff::*side) {
  std::vector<std::size_t> number;
  for (const Target& target : records.targets) number.push_back(numbers.emplace(target, numbers.size()).first->second);
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    const std::string& variant = records.variants[entry->variant].name;
    EntryDiff& pair = pairs[{number[entry->target], variant, entry->form}];
    if (pair.target.empty()) pair = {target_name(records.targets[entry->target]), variant, entry->form, {}, {}};
    pair.*side = std::move(*entry);
  }
  return {};
}

Status diff_entries(const Bundle& before, const Records& a, const Bundle& after, const Records& b, BundleDiff& diff) {
  TargetNumbers numbers;
  Pairs pairs;
  Status status = add_entries(before, a, numbers, pairs, &EntryDiff::before);
  if (status) status = add_entries(after, b, numbers, pairs, &EntryDiff::after);
  if (!status) return status;
  for (auto& [key, pair] : pairs) {
    if (!pair.before || !pair.after || !same_program(*pair.before, *pair.after)) {
      diff.programs.push_back(std::move(pair));
    } else if (!same_proof(pair.before->proof, pair.after->proof)) {
      diff.proofs.push_back(std::move(pair));
    } else if (!same_measurements(pair.before->proof, pair.after->proof)) {
      ++diff.measured;
    }
  }
  return {};
}

}  // namespace

bool BundleDiff::empty(bool with_measured) const {
  return targets.empty() && variants.empty() && programs.empty() && proofs.empty() && profiles.empty() &&
         (measured == 0 || !with_measured);
}

Result<BundleDiff> diff_bundles(const Bundle& before, const Bundle& after) {
  const Result<Records> a = read_records(before), b = read_records(after);
  if (!a || !b) return (a ? b : a).status();
  BundleDiff diff;
  diff.targets = diff_targets(*a, *b);
  diff.variants = diff_variants(*a, *b);
  diff.profiles = diff_profiles(*a, *b);
  const Status status = diff_entries(before, *a, after, *b, diff);
  if (!status) return status;
  return diff;
}

Result<std::vector<ServedDevice>> devices_of_both(const Bundle& before, const Bundle& after) {
  std::vector<ServedDevice> devices;
  std::set<Target, ByFields> seen;
  for (const Bundle* bundle : {&before, &after}) {
    const Result<std::vector<std::uint32_t>> targets = targets_with_entries(*bundle);
    if (!targets) return targets.status();
    for (const std::uint32_t index : *targets) {
      const Result<Target> target = bundle->target(index);
      if (!target) return target.status();
      if (seen.insert(*target).second) devices.push_back(served_device(*target));
    }
  }
  return devices;
}

bool served_differently(const Served& before, const Served& after) {
  if (!before.program || !after.program) return before.program || after.program;
  const ServedProgram& a = *before.program;
  const ServedProgram& b = *after.program;
  return before.by != after.by ||
         std::tie(a.name, a.origin, a.proven, a.jit_free) != std::tie(b.name, b.origin, b.proven, b.jit_free);
}

}  // namespace clbake::builder::release
