// The part of a bundle that stays.
#pragma once

#include <clbake/builder/release/prune.hpp>
#include <clbake/builder/release/served.hpp>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace clbake::builder::release {

// A problem and the variant that serves it: an index into the contents' variants.
struct NeededChoice {
  Problem problem;  // real and row-major
  std::uint32_t variant = 0;
  double weight = 1;
  double expected_us = 0;  // 0: unknown
  std::string name;        // of the shape
};

// A profile: all of it that is about some kinds, and the variants that some problems need.
struct KeptProfile {
  std::set<GemmKind> kinds;
  std::vector<NeededChoice> needs;
  std::set<std::uint32_t> variants;
};

// A target that stays, and the device that it stands for.
struct KeptTarget {
  std::uint32_t target = 0;
  ServedDevice device;
  Serving serving;                   // without ...
  Serving newer_driver;              // ... and with Options::newer_driver
  std::set<std::uint32_t> variants;  // whose programs stay
};

// Target, variant and form.
using EntryKey = std::tuple<std::uint32_t, std::uint32_t, cache::Form>;

struct PrunePlan {
  Bundle bundle;
  const cache::Contents& contents;  // all of the bundle, decoded
  std::vector<KeptTarget> targets;
  std::map<std::uint32_t, KeptProfile> profiles;  // by target
  bool leaves_out_forms = false;                  // portable programs that no device loads, beside machine code
  std::size_t unserved = 0;  // pairs of a problem and a target with programs for which the bundle has none

  // The profile of a target; null where it has none.
  const cache::Profile* profile_of(std::uint32_t target) const;

  // The profile that the target's device goes by.
  static std::optional<std::uint32_t> profile_used_by(const KeptTarget& target) {
    return target.serving.lookup().profile_target();
  }
};

// Adds a target with its needs: for shapes, or without any for kinds. Fails with what is wrong with a record.
Status add_target(PrunePlan& plan, std::uint32_t target, const PruneOptions& options);

// A profile that names some of its variants only; it chooses as the runtime does.
Choices choices_among(const cache::Profile& profile, const std::set<std::uint32_t>& variants);

// After all targets: keeps the variants without which a choice would change, and returns how many. Fails with malformed
// for a profile that contradicts itself.
Result<std::size_t> add_deciding(PrunePlan& plan);

// The entries that serve a variant on the target, with all forms that the target itself has or, without forms, those
// alone that a device loads. Fails with out_of_memory.
Result<std::set<EntryKey>> entries_of(KeptTarget& target, std::uint32_t variant, bool all_forms);

// The kept records, with their indices renumbered. Fails with out_of_memory.
Result<cache::Contents> kept_contents(PrunePlan& plan);

// Leaves out variants until the bundle fits, and returns its bytes. Fails with invalid_argument when that is
// impossible.
Result<cache::Bytes> fit_size(PrunePlan& plan, std::uint64_t max_bytes, PruneLoss& loss);

}  // namespace clbake::builder::release
