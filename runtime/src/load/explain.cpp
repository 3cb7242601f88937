// Library::explain: the order of Policy::find, without loading anything.
#include "load/policy.hpp"

namespace clbake {

Result<Explanation> Policy::explain_baked(const Request& request, const Candidate& candidate, Tier tier) const {
  const Status failed_before = store_.failure(candidate, tier);
  if (!failed_before) return failed_before;
  const DeviceBundle& bundle = setup_.bundles[candidate.bundle];
  Status none;
  const std::vector<cache::EntryInfo> entries = eligible_entries(bundle, setup_.target, candidate.variant, tier, none);
  if (entries.empty()) return none;
  Result<Explanation> e = explain_miss(request, candidate, tier);
  if (!e) return e;
  const std::shared_ptr<const Program> program = store_.ready(candidate, tier);
  if (program) {
    e->create_us = program->explanation.create_us;
    e->build_us = program->explanation.build_us;
    e->kernel_us = program->explanation.kernel_us;
  }
  e->origin = entries.front().form == cache::Form::native ? Origin::native : Origin::portable;
  const Result<Target> made_for = bundle.bundle.target(entries.front().target);
  if (made_for && made_for->driver_version != setup_.target.driver_version) e->baked_for = made_for->driver_version;
  return e;
}

Result<Explanation> Policy::explain_miss(const Request& request, const Candidate& candidate, Tier tier) const {
  const DeviceBundle& bundle = setup_.bundles[candidate.bundle];
  const Result<cache::Variant> variant = bundle.bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Explanation e;
  e.origin = tier == Tier::overlay ? Origin::overlay : Origin::source;
  e.variant = variant->name;
  e.bundle = candidate.bundle;
  e.reason = reason_for(request, bundle);
  e.loaded = store_.ready(candidate, tier) != nullptr;
  return e;
}

Result<Explanation> Policy::explain(const Request& request) const {
  Status miss = request.refused;
  const auto with_miss = [&](Result<Explanation> e) {
    if (e) e->miss = miss.code();
    if (e) e->miss_message = miss.message();
    return e;
  };
  for (const Tier tier : baked_tiers) {
    if (tier == Tier::newer_driver && !setup_.options.newer_driver) continue;
    if (tier == Tier::portable && may_fall_back(request)) {
      Result<Explanation> e = explain_baked(request, request.candidates.front(), Tier::stand_in);
      if (e) e->reason = reason_of_stand_in(*e);
      if (e) return with_miss(std::move(e));
    }
    for (const Candidate& candidate : request.candidates) {
      Result<Explanation> e = explain_baked(request, candidate, tier);
      if (e && counts_as_exact(tier)) return e;
      if (e) return with_miss(std::move(e));
      if (miss.ok()) miss = e.status();
    }
  }
  for (const Candidate& candidate : request.candidates) {
    if (store_.in_overlay(candidate)) return with_miss(explain_miss(request, candidate, Tier::overlay));
  }
  if (setup_.options.on_miss == OnMiss::fail) return miss;
  return with_miss(explain_miss(request, request.candidates.front(), Tier::source));
}

}  // namespace clbake
