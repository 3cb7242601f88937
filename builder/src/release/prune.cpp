#include <clbake/builder/release/prune.hpp>

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include "release/prune_plan.hpp"

#include <algorithm>

namespace clbake::builder::release {
namespace {

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

Result<PrunedBundle> prune(const Bundle& bundle, const PruneOptions& options) {
  const Result<cache::Contents> contents = bundle.decode();
  if (!contents) return contents.status();
  PrunePlan plan{bundle, *contents, {}, {}, false, 0};
  for (const std::uint32_t target : options.targets) {
    const Status added = add_target(plan, target, options);
    if (!added) return added;
  }
  const Result<std::size_t> deciding = add_deciding(plan);
  if (!deciding) return deciding.status();
  PrunedBundle pruned;
  pruned.deciding = *deciding;
  pruned.unserved = plan.unserved;
  Result<cache::Contents> kept = kept_contents(plan);
  if (!kept) return kept.status();
  if (kept->entries.empty()) {
    return {Code::invalid_argument, "no program of the bundle would be left: none is for what is asked for"};
  }
  Result<cache::Bytes> bytes = options.max_bytes > 0 ? fit_size(plan, options.max_bytes, pruned.loss)
                                                     : cache::pack(*kept, {0, nullptr, {}, digest_function()});
  if (bytes && options.max_bytes > 0) kept = kept_contents(plan);
  if (!bytes || !kept) return bytes ? kept.status() : bytes.status();
  pruned.before = counts_of(*contents, bundle.size_bytes());
  pruned.after = counts_of(*kept, bytes->size());
  pruned.removed_targets = removed_targets(*contents, *kept);
  pruned.bytes = std::move(*bytes);
  return pruned;
}

}  // namespace clbake::builder::release
