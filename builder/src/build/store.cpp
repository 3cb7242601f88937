#include "build/store.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include <clbake/os/paths.hpp>
#include "profile/kind_choice.hpp"
#include "release/store_files.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace clbake::builder::build {
namespace {

std::string index_name(const Target& target) { return "target-" + identity(target) + release::kIndexExtension; }

// Nothing when the store has nothing of the target. `unread`: why some of its slices are left out.
Result<std::optional<cache::Contents>> read_target(const std::string& store, const Target& target,
                                                   std::vector<std::string>& unread) {
  std::error_code ignored;
  const std::string index = store + "/" + index_name(target);
  if (!std::filesystem::exists(os::native(index), ignored)) return std::optional<cache::Contents>();
  const Result<std::vector<release::StoredSlice>> slices = release::read_slices(index, &unread);
  if (!slices) return slices.status();
  std::vector<NamedBundle> bundles;
  for (const release::StoredSlice& slice : *slices) {
    Result<NamedBundle> bundle = read_bundle(slice.bundle, slice.path);
    if (bundle) bundles.push_back(std::move(*bundle));
    if (!bundle) unread.push_back(bundle.status().message());
  }
  if (bundles.empty() && !unread.empty()) return std::optional<cache::Contents>();
  const cache::Contents all = merge_bundles(std::move(bundles)).contents;
  const auto found = std::find(all.targets.begin(), all.targets.end(), target);
  if (found == all.targets.end()) return {Code::no_target, index + ": is that of another driver with the same key"};
  return std::optional(release::part_of_target(all, static_cast<std::uint32_t>(found - all.targets.begin())));
}

// Takes out variants that `other` has, under their names.
cache::Contents without(cache::Contents contents, const cache::Contents& other) {
  std::set<std::string> names;
  for (const cache::Variant& variant : other.variants) names.insert(variant.name);
  const auto is_there = [&](std::uint32_t v) { return names.count(contents.variants[v].name) > 0; };
  std::vector<cache::Entry>& entries = contents.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const auto& e) { return is_there(e.variant); }),
                entries.end());
  for (cache::Profile& profile : contents.profiles) {
    profile::keep_if(profile, [&](const GemmKind&, std::uint32_t v) { return !is_there(v); });
  }
  return release::part_of_target(contents, 0);
}

Status write_target(const std::string& store, cache::Contents made, const cache::PackOptions& pack) {
  const Target target = made.targets[0];
  // No other build for the driver writes its index between the reading and the writing. Where the file system has no
  // locks, or the file is another user's, as before.
  std::error_code ignored;
  std::filesystem::create_directories(os::native(store), ignored);
  const auto lock = release::take_turn(store + "/target-" + identity(target) + ".lock", pack.cancel);
  if (!lock) return lock.status();
  std::vector<std::string> unread;
  Result<std::optional<cache::Contents>> known = read_target(store, target, unread);
  if (known && *known) {  // another build may have baked other variants
    cache::Contents others = without(std::move(**known), made);
    std::vector<NamedBundle> parts;
    parts.push_back({"", std::move(made)});
    parts.push_back({"", std::move(others)});
    const cache::Contents both = merge_bundles(std::move(parts)).contents;
    const auto at = std::find(both.targets.begin(), both.targets.end(), target) - both.targets.begin();
    made = release::part_of_target(both, static_cast<std::uint32_t>(at));
  }
  release::SplitOptions options;
  options.index = index_name(target);
  options.pack = pack;
  return release::split(made, store, options).status();
}

}  // namespace

StoredJobs read_store(const std::string& store, const std::vector<Target>& targets) {
  StoredJobs stored;
  for (const Target& target : targets) {
    const Result<std::optional<cache::Contents>> known = read_target(store, target, stored.unread);
    if (!known) stored.unread.push_back(known.status().message());
    if (!known || !*known) continue;
    for (Job& job : jobs_of(**known)) stored.jobs.push_back(std::move(job));
  }
  return stored;
}

Status write_store(const std::string& store, const cache::Contents& contents, const cache::PackOptions& pack) {
  for (std::uint32_t t = 0; t < contents.targets.size(); ++t) {
    cache::Contents of_target = release::part_of_target(contents, t);
    if (of_target.entries.empty()) continue;  // the defaults for other devices
    const Status written = write_target(store, std::move(of_target), pack);
    if (!written) return written;
  }
  return {};
}

}  // namespace clbake::builder::build
