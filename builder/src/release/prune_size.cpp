#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include "release/prune_plan.hpp"

#include <algorithm>
#include <cmath>

namespace clbake::builder::release {
namespace {

// A variant that a profile may do without.
struct Candidate {
  std::uint32_t profile = 0;  // its target
  std::uint32_t variant = 0;
  double loss = 0;          // sum of weight * (expected time after / before - 1)
  std::uint64_t bytes = 0;  // of the programs that go with it
  double price() const { return loss / static_cast<double>(bytes); }
};

// Leaves out the cheapest variants, those whose loss costs least expected time for the bytes that they take.
class Fitter {
 public:
  Fitter(PrunePlan& plan, PruneLoss& loss) : plan_(plan), loss_(loss) {
    for (const cache::Entry& entry : plan.contents.entries) {
      bytes_[{entry.target, entry.variant, entry.form}] = entry.program.size();
    }
  }

  // Programs of at least so many bytes, uncompressed; false when nothing can go.
  Result<bool> leave_out(double bytes) {
    bool progress = false;
    while (bytes > 0) {
      const Result<Candidate> cheapest = find_cheapest();
      if (!cheapest) return cheapest.status();
      if (cheapest->bytes == 0) break;
      remove(*cheapest);
      bytes -= static_cast<double>(cheapest->bytes);
      progress = true;
    }
    return progress;
  }

 private:
  Result<Candidate> find_cheapest();
  Status add_candidates(std::uint32_t target, const KeptProfile& kept, std::vector<Candidate>& candidates);
  Result<std::uint64_t> bytes_of(std::uint32_t profile, std::uint32_t variant);
  Result<bool> still_served(std::uint32_t profile, std::uint32_t before, std::uint32_t after);
  Result<double> loss_without(std::uint32_t target, const KeptProfile& kept, std::uint32_t variant);
  void remove(const Candidate& candidate);

  PrunePlan& plan_;
  PruneLoss& loss_;
  std::map<EntryKey, std::uint64_t> bytes_;                     // of each program
  std::map<std::uint32_t, std::vector<Candidate>> candidates_;  // by profile, until it loses a variant
};

Result<std::uint64_t> Fitter::bytes_of(std::uint32_t profile, std::uint32_t variant) {
  std::set<EntryKey> entries;
  for (KeptTarget& target : plan_.targets) {
    if (PrunePlan::profile_used_by(target) != profile || target.variants.count(variant) == 0) continue;
    const Result<std::set<EntryKey>> keys = entries_of(target, variant, !plan_.leaves_out_forms);
    if (!keys) return keys.status();
    entries.insert(keys->begin(), keys->end());
  }
  std::uint64_t sum = 0;
  for (const EntryKey& key : entries) sum += bytes_.count(key) > 0 ? bytes_[key] : 0;
  return sum;
}

// True if every device that goes by the profile has as good a program for the one variant as for the other.
Result<bool> Fitter::still_served(std::uint32_t profile, std::uint32_t before, std::uint32_t after) {
  for (KeptTarget& target : plan_.targets) {
    if (PrunePlan::profile_used_by(target) != profile) continue;
    for (Serving* serving : {&target.serving, &target.newer_driver}) {
      const Result<const ServedProgram*> old_one = serving->program(before), new_one = serving->program(after);
      if (!old_one || !new_one) return (old_one ? new_one : old_one).status();
      if ((*new_one)->origin > (*old_one)->origin) return false;
    }
  }
  return true;
}

// Infinite when a problem would have no program, or an unknown time.
Result<double> Fitter::loss_without(std::uint32_t target, const KeptProfile& kept, std::uint32_t variant) {
  const cache::Profile& profile = *plan_.profile_of(target);
  std::set<std::uint32_t> rest = kept.variants;
  rest.erase(variant);
  const Choices now = choices_among(profile, kept.variants), then = choices_among(profile, rest);
  double loss = 0;
  for (const NeededChoice& need : kept.needs) {
    const Choices::Choice before = now.find(need.problem), after = then.find(need.problem);
    if (!before.named || !after.named) return HUGE_VAL;
    if (before.named->variant == after.named->variant) continue;
    const std::optional<double> old_us = now.expected_of(need.problem, before.named->variant);
    const std::optional<double> new_us = then.expected_of(need.problem, after.named->variant);
    if (!old_us || !new_us) return HUGE_VAL;
    const Result<bool> served = still_served(target, before.named->variant, after.named->variant);
    if (!served) return served.status();
    if (!*served) return HUGE_VAL;
    loss += need.weight * (*new_us / std::max(*old_us, 1e-9) - 1);
  }
  return loss;
}

Status Fitter::add_candidates(std::uint32_t target, const KeptProfile& kept, std::vector<Candidate>& candidates) {
  if (!plan_.profile_of(target) || kept.needs.empty()) return {};
  for (const std::uint32_t variant : kept.variants) {
    const Result<std::uint64_t> bytes = bytes_of(target, variant);
    if (!bytes) return bytes.status();
    if (*bytes == 0) continue;
    const Result<double> loss = loss_without(target, kept, variant);
    if (!loss) return loss.status();
    if (std::isfinite(*loss)) candidates.push_back({target, variant, *loss, *bytes});
  }
  return {};
}

// Without bytes where there is none.
Result<Candidate> Fitter::find_cheapest() {
  Candidate cheapest;
  for (const auto& [target, kept] : plan_.profiles) {
    const auto [known, is_new] = candidates_.try_emplace(target);
    const Status added = is_new ? add_candidates(target, kept, known->second) : Status();
    if (!added) return added;
    for (const Candidate& candidate : known->second) {
      if (cheapest.bytes == 0 || candidate.price() < cheapest.price()) cheapest = candidate;
    }
  }
  return cheapest;
}

void Fitter::remove(const Candidate& candidate) {
  plan_.profiles[candidate.profile].variants.erase(candidate.variant);
  for (KeptTarget& target : plan_.targets) {
    if (PrunePlan::profile_used_by(target) == candidate.profile) target.variants.erase(candidate.variant);
  }
  loss_.variants.push_back(plan_.contents.variants[candidate.variant].name + " on " +
                           target_name(plan_.contents.targets[candidate.profile]));
  candidates_.erase(candidate.profile);
}

std::size_t forms_in(const cache::Contents& contents, cache::Form form) {
  return static_cast<std::size_t>(std::count_if(contents.entries.begin(), contents.entries.end(),
                                                [&](const cache::Entry& entry) { return entry.form == form; }));
}

double program_bytes(const cache::Contents& contents) {
  double sum = 0;
  for (const cache::Entry& entry : contents.entries) sum += static_cast<double>(entry.program.size());
  return sum;
}

// Sums over all problems, against the choices of the whole bundle.
void measure_loss(const PrunePlan& plan, PruneLoss& loss) {
  double sum = 0, weights = 0;
  for (const auto& [target, kept] : plan.profiles) {
    const cache::Profile* profile = plan.profile_of(target);
    if (!profile || kept.needs.empty()) continue;
    const Choices choices = choices_among(*profile, kept.variants);
    for (const NeededChoice& need : kept.needs) {
      weights += need.weight;
      const Choices::Choice choice = choices.find(need.problem);
      if (!choice.named || choice.named->variant == need.variant || !(need.expected_us > 0)) continue;
      const std::optional<double> us = choices.expected_of(need.problem, choice.named->variant);
      const double lost = us ? *us / need.expected_us - 1 : 0;
      sum += need.weight * lost;
      if (lost <= loss.worst) continue;
      loss.worst = lost;
      loss.worst_problem = need.name + " on " + target_name(plan.contents.targets[target]);
    }
  }
  loss.mean = weights > 0 ? sum / weights : 0;
}

}  // namespace

// How many bytes have to go follows from the share of the programs in the bundle that was packed last, so that it is
// packed twice as a rule.
Result<cache::Bytes> fit_size(PrunePlan& plan, std::uint64_t max_bytes, PruneLoss& loss) {
  Fitter fitter(plan, loss);
  while (true) {
    const Result<cache::Contents> kept = kept_contents(plan);
    Result<cache::Bytes> bytes =
        kept ? cache::pack(*kept, {0, nullptr, {}, digest_function()}) : Result<cache::Bytes>(kept.status());
    if (!bytes) return bytes;
    if (bytes->size() <= max_bytes) {
      measure_loss(plan, loss);
      return bytes;
    }
    double too_much = (1 - static_cast<double>(max_bytes) / static_cast<double>(bytes->size())) * program_bytes(*kept);
    bool progress = false;
    if (!plan.leaves_out_forms) {
      plan.leaves_out_forms = true;
      const Result<cache::Contents> without = kept_contents(plan);
      if (!without) return without.status();
      loss.forms = forms_in(*kept, cache::Form::portable) - forms_in(*without, cache::Form::portable);
      too_much -= program_bytes(*kept) - program_bytes(*without);
      progress = loss.forms > 0;
    }
    const Result<bool> left_out = fitter.leave_out(too_much);
    if (!left_out) return left_out.status();
    if (!progress && !*left_out) {
      return {Code::invalid_argument, "the problems cannot be served within " + std::to_string(max_bytes) +
                                          " bytes: " + std::to_string(bytes->size()) + " are left"};
    }
  }
}

}  // namespace clbake::builder::release
