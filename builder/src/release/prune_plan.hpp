// What stays of a bundle.
#pragma once

#include <clbake/builder/release/prune.hpp>
#include <clbake/builder/release/served.hpp>
#include "release/partial_profile.hpp"

#include <map>
#include <set>
#include <tuple>

namespace clbake::builder {

// A profile: by kinds, or by what some problems need of it.
struct KeptProfile {
  std::set<GemmKind> kinds;          // all of it that is about these
  std::vector<NeededChoice> needs;   // else these choices ...
  std::set<std::uint32_t> variants;  // ... for which these variants are kept
};

// A target that stays, and the device that it stands for.
struct KeptTarget {
  std::uint32_t target = 0;
  ServedDevice device;
  Serving serving;       // without ...
  Serving newer_driver;  // ... and with Options::newer_driver
};

// Target, variant and form.
using EntryKey = std::tuple<std::uint32_t, std::uint32_t, cache::Form>;

class PrunePlan {
 public:
  // `contents`: all of the bundle, decoded.
  PrunePlan(Bundle bundle, const cache::Contents& contents) : bundle_(std::move(bundle)), contents_(contents) {}

  // Adds what a target needs: for shapes, or without any for kinds. Fails with what is wrong with a record.
  Status add_target(std::uint32_t target, const PruneOptions& options);

  // After all targets: adds the variants that decide choices. Sets how many.
  Status add_deciding(std::size_t& count);

  // What is kept, with its indices renumbered.
  cache::Contents apply() const;

  // The pairs of a problem and a target with programs for which the bundle has none.
  std::size_t unserved() const { return unserved_; }

  const cache::Contents& contents() const { return contents_; }
  std::vector<KeptTarget>& targets() { return targets_; }
  std::map<std::uint32_t, KeptProfile>& profiles() { return profiles_; }  // by target
  std::set<EntryKey>& entries() { return entries_; }
  const cache::Profile* profile_of(std::uint32_t target) const;

  // The entries that serve the variant on the target, with all forms that the target itself has. Fails with
  // out_of_memory.
  Result<std::set<EntryKey>> entries_of(KeptTarget& target, std::uint32_t variant) const;

 private:
  Status add_device(std::uint32_t target, const ServedDevice& device, const PruneOptions& options);
  Status add_shapes(KeptTarget& target, const std::vector<Shape>& shapes);
  Status add_programs(KeptTarget& target);
  Status add_kinds(KeptTarget& target, const std::vector<GemmKind>& kinds);
  Status keep_variant(KeptTarget& target, std::uint32_t variant);
  std::uint32_t default_target(bool is_cpu) const;
  bool is_device(const KeptTarget& target) const;  // not the target as what programs were made for
  bool has_entries(std::uint32_t target) const;

  Bundle bundle_;
  const cache::Contents& contents_;
  std::vector<KeptTarget> targets_;
  std::map<std::uint32_t, KeptProfile> profiles_;
  std::set<EntryKey> entries_;
  std::size_t unserved_ = 0;
};

}  // namespace clbake::builder
