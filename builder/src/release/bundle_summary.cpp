#include <clbake/builder/release/bundle_summary.hpp>

#include <clbake/builder/release/served.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace clbake::builder::release {
namespace {

// Sums up entries, each program once.
class Counter {
 public:
  explicit Counter(EntryCounts& counts) : counts_(counts) {}

  void add(const cache::EntryInfo& entry, Precision precision) {
    const auto* const place = std::find(std::begin(all_precisions), std::end(all_precisions), precision);
    const auto index = static_cast<std::size_t>(place - std::begin(all_precisions));
    ++(precision == no_precision ? counts_.programs : counts_.by_precision[index]);
    ++(entry.form == cache::Form::native ? counts_.native : counts_.portable);
    counts_.proven += entry.proof.proven ? 1 : 0;
    counts_.jit_free += entry.proof.proven && entry.proof.jit_free ? 1 : 0;
    counts_.bytes += entry.program.raw_bytes;
    if (seen_.insert(entry.program.offset).second) counts_.stored_bytes += entry.program.stored_bytes;
  }

 private:
  EntryCounts& counts_;
  std::set<std::uint64_t> seen_;  // offsets of programs
};

Result<std::vector<Precision>> precisions_of(const Bundle& bundle) {
  std::vector<Precision> precisions;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant) return variant.status();
    precisions.push_back(variant->precision);
  }
  return precisions;
}

Result<TargetCounts> counts_for(const Bundle& bundle, std::uint32_t index) {
  const Result<Target> target = bundle.target(index);
  if (!target) return target.status();
  TargetCounts counts;
  counts.target = index;
  counts.name = target_name(*target);
  return counts;
}

}  // namespace

Result<BundleSummary> summarize(const Bundle& bundle) {
  const Result<std::vector<Precision>> precisions = precisions_of(bundle);
  if (!precisions) return precisions.status();
  BundleSummary summary;
  summary.targets.reserve(bundle.target_count());
  std::optional<Counter> of_target;  // the last of summary.targets
  Counter all(summary.all);
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {  // target by target
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    if (summary.targets.empty() || summary.targets.back().target != entry->target) {
      Result<TargetCounts> counts = counts_for(bundle, entry->target);
      if (!counts) return counts.status();
      summary.targets.push_back(std::move(*counts));
      of_target.emplace(summary.targets.back());
    }
    of_target->add(*entry, precisions->at(entry->variant));
    all.add(*entry, precisions->at(entry->variant));
  }
  return summary;
}

}  // namespace clbake::builder::release
