// Library::explain: the tiers of Policy::find, without loading anything.
#include "load/policy.hpp"

namespace clbake {

// Explains the tier's program of one candidate. Fails where there is none.
Result<Explanation> Policy::explain(const Request& request, const Candidate& candidate, Tier tier) const {
  const DeviceBundle& bundle = setup_.bundles[candidate.bundle];
  Explanation e;
  if (tier == Tier::overlay && !store_.in_overlay(candidate)) return {Code::no_entry, "not in the overlay"};
  if (tier == Tier::overlay) {
    e.origin = Origin::overlay;
  } else if (tier == Tier::source) {
    e.origin = Origin::source;
  } else {
    const Status failed_before = store_.failure(candidate, tier);
    if (!failed_before) return failed_before;
    Status none;
    const std::vector<cache::EntryInfo> entries =
        eligible_entries(bundle, setup_.target, candidate.variant, tier, none);
    if (entries.empty()) return none;
    e.origin = entries.front().form == cache::Form::native ? Origin::native : Origin::portable;
    const Result<Target> made_for = bundle.bundle.target(entries.front().target);
    if (made_for && made_for->driver_version != setup_.target.driver_version) e.baked_for = made_for->driver_version;
  }
  const Result<cache::Variant> variant = bundle.bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  e.variant = variant->name;
  e.bundle = candidate.bundle;
  e.reason = tier == Tier::stand_in ? reason_of_stand_in(e) : reason_for(request, bundle);
  const std::shared_ptr<const Program> program = store_.ready(candidate, tier);
  if (!program) return e;
  e.loaded = true;
  e.create_us = program->explanation.create_us;
  e.build_us = program->explanation.build_us;
  e.kernel_us = program->explanation.kernel_us;
  return e;
}

Result<Explanation> Policy::explain(const Request& request, Tier tier) const {
  const Candidate& wanted = request.candidates.front();
  if (tier == Tier::stand_in) {
    if (!may_fall_back(request)) return {Code::no_entry, "nothing has to stand in"};
    return explain(request, wanted, tier);
  }
  if (tier == Tier::source) return explain(request, wanted, tier);
  return first_of(request.candidates, [&](const Candidate& candidate) { return explain(request, candidate, tier); });
}

Result<Explanation> Policy::explain(const Request& request) const {
  Status miss = request.refused;
  Result<Explanation> e = first_that_serves(tiers_, miss, [&](Tier tier) { return explain(request, tier); });
  if (!e) return tiers_.back() == Tier::source ? std::move(e) : miss;
  e->miss = miss.code();
  e->miss_message = miss.message();
  return e;
}

}  // namespace clbake
