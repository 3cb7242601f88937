// Differences between two bundles, record by record. Indices do not matter: targets are equal by their fields,
// variants by their names, entries by target, variant and form.
#pragma once

#include <clbake/builder/release/served.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::release {

// Differences between two lists of names.
struct NameDiff {
  std::vector<std::string> removed;  // only in the first
  std::vector<std::string> added;    // only in the second
  std::vector<std::string> changed;  // in both, with other contents

  bool empty() const { return removed.empty() && added.empty() && changed.empty(); }
};

// An entry that one of the bundles lacks, or that differs. Programs are equal when their sizes and checksums are.
struct EntryDiff {
  std::string target;  // target_name()
  std::string variant;
  cache::Form form = cache::Form::native;
  std::optional<cache::EntryInfo> before;
  std::optional<cache::EntryInfo> after;
};

// A target's rules and cost models; 0 of each where there is no profile.
struct ProfileDiff {
  std::string target;
  std::size_t exceptions[2] = {0, 0};  // before, after
  std::size_t models[2] = {0, 0};
  std::size_t defaults[2] = {0, 0};
};

struct BundleDiff {
  NameDiff targets;                   // never changed
  NameDiff variants;                  // changed: also when only the source differs
  std::vector<EntryDiff> programs;    // added, removed, or with another program
  std::vector<EntryDiff> proofs;      // the same program, but proven, JIT-free, by which tools, or where, differs
  std::size_t measured = 0;           // entries of which only measured times, errors and notes differ
  std::vector<ProfileDiff> profiles;  // those that choose by other rules, cost models or compute units

  // `with_measured`: measured times count as well.
  bool empty(bool with_measured) const;
};

// Fails with what is wrong with a record; the message does not name the bundle's file.
Result<BundleDiff> diff_bundles(const Bundle& before, const Bundle& after);

// The targets with entries of either bundle, each once: those of `before`, then what only `after` has.
Result<std::vector<ServedDevice>> devices_of_both(const Bundle& before, const Bundle& after);

// True when a problem is served by another variant or form, for another reason, or with less or more proof.
bool served_differently(const Served& before, const Served& after);

}  // namespace clbake::builder::release
