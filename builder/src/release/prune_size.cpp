#include "release/prune_size.hpp"

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>

#include <algorithm>
#include <iterator>

namespace clbake::builder {
namespace {

// A variant that one profile may do without.
struct Candidate {
  std::uint32_t profile = 0;  // its target
  std::uint32_t variant = 0;
  double loss = 0;          // of the profile's problems: the sum of weight * (time after / time before - 1)
  std::uint64_t bytes = 0;  // of the programs that go with it
};

class Fitter {
 public:
  Fitter(PrunePlan& plan, std::uint64_t max_bytes, PruneLoss& loss) : plan_(plan), max_bytes_(max_bytes), loss_(loss) {
    for (std::size_t i = 0; i < plan.contents().entries.size(); ++i) {
      const cache::Entry& entry = plan.contents().entries[i];
      bytes_[{entry.target, entry.variant, entry.form}] = entry.program.size();
    }
  }

  Result<cache::Bytes> run();

 private:
  Status find_serving();
  // Leaves out programs of at least so many bytes, uncompressed; false when nothing more can go.
  Result<bool> leave_out(std::uint64_t bytes);
  bool leave_out_a_form();
  Result<bool> leave_out_a_variant();
  Result<std::vector<Candidate>> candidates_of(std::uint32_t target, const KeptProfile& kept);
  Result<std::optional<double>> loss_without(std::uint32_t target, const KeptProfile& kept, std::uint32_t variant);
  Result<bool> still_served(std::uint32_t profile, std::uint32_t before, std::uint32_t after);
  void remove(const Candidate& candidate);
  Status measure_loss();
  std::uint64_t bytes_of(const EntryKey& key) const {
    const auto found = bytes_.find(key);
    return found == bytes_.end() ? 0 : found->second;
  }
  std::set<EntryKey> entries_of(std::uint32_t profile, std::uint32_t variant);

  PrunePlan& plan_;
  std::uint64_t max_bytes_;
  PruneLoss& loss_;
  std::map<EntryKey, std::uint64_t> bytes_;                     // of each program, uncompressed
  std::set<EntryKey> serving_;                                  // what a device that is kept loads
  std::map<std::uint32_t, std::vector<Candidate>> candidates_;  // by profile; none: not computed
  std::uint64_t left_out_ = 0;                                  // bytes of programs, so far
};

Status Fitter::find_serving() {
  for (KeptTarget& target : plan_.targets()) {
    const std::optional<std::uint32_t> profile = target.serving.lookup().profile_target();
    if (!profile) continue;
    for (const std::uint32_t variant : plan_.profiles()[*profile].variants) {
      for (Serving* serving : {&target.serving, &target.newer_driver}) {
        const Result<const ServedProgram*> program = serving->program(variant);
        if (!program) return program.status();
        const std::optional<cache::EntryInfo>& entry = (*program)->entry;
        if (entry) serving_.insert({entry->target, entry->variant, entry->form});
      }
    }
  }
  return {};
}

Result<cache::Bytes> Fitter::run() {
  const Status found = find_serving();
  if (!found) return found;
  Result<cache::Bytes> bytes = cache::pack(plan_.apply(), {0, nullptr, {}, digest_function()});
  while (bytes && bytes->size() > max_bytes_) {
    std::uint64_t programs = 0;
    for (const EntryKey& key : plan_.entries()) programs += bytes_of(key);
    // What is too much, as programs before compression; a little less, to leave out too little rather than too much.
    const double share = 1 - static_cast<double>(max_bytes_) / static_cast<double>(bytes->size());
    const auto much = static_cast<std::uint64_t>(0.8 * share * static_cast<double>(programs));
    const Result<bool> progress = leave_out(std::max<std::uint64_t>(much, 1));
    if (!progress) return progress.status();
    if (!*progress) {
      return {Code::invalid_argument, "the problems cannot be served within " + std::to_string(max_bytes_) +
                                          " bytes: " + std::to_string(bytes->size()) + " are left"};
    }
    bytes = cache::pack(plan_.apply(), {0, nullptr, {}, digest_function()});
  }
  const Status measured = bytes ? measure_loss() : bytes.status();
  if (!measured) return measured;
  return bytes;
}

Result<bool> Fitter::leave_out(std::uint64_t bytes) {
  const std::uint64_t end = left_out_ + bytes;
  bool progress = false;
  while (left_out_ < end) {
    if (!leave_out_a_form()) {
      const Result<bool> done = leave_out_a_variant();
      if (!done) return done;
      if (!*done) return progress;
    }
    progress = true;
  }
  return progress;
}

bool Fitter::leave_out_a_form() {
  std::set<EntryKey>& entries = plan_.entries();
  auto largest = entries.end();
  for (auto key = entries.begin(); key != entries.end(); ++key) {
    const auto& [target, variant, form] = *key;
    if (form != cache::Form::portable || bytes_of(*key) == 0) continue;
    const EntryKey native{target, variant, cache::Form::native};
    if (bytes_of(native) == 0 || entries.count(native) == 0) continue;
    if (serving_.count(*key) > 0) continue;
    if (largest == entries.end() || bytes_of(*key) > bytes_of(*largest)) largest = key;
  }
  if (largest == entries.end()) return false;
  left_out_ += bytes_of(*largest);
  entries.erase(largest);
  ++loss_.forms;
  return true;
}

// Kept entries of the variant that only devices with this profile load.
std::set<EntryKey> Fitter::entries_of(std::uint32_t profile, std::uint32_t variant) {
  std::set<EntryKey> own, others;
  for (KeptTarget& target : plan_.targets()) {
    const std::optional<std::uint32_t> used = target.serving.lookup().profile_target();
    if (!used || plan_.profiles()[*used].variants.count(variant) == 0) continue;
    const Result<std::set<EntryKey>> keys = plan_.entries_of(target, variant);
    if (keys) (*used == profile ? own : others).insert(keys->begin(), keys->end());
  }
  for (auto key = own.begin(); key != own.end();) {
    key = others.count(*key) > 0 || plan_.entries().count(*key) == 0 ? own.erase(key) : std::next(key);
  }
  return own;
}

// Whether every device that goes by the profile has a program for the one variant, if it has one for the other.
Result<bool> Fitter::still_served(std::uint32_t profile, std::uint32_t before, std::uint32_t after) {
  for (KeptTarget& target : plan_.targets()) {
    if (target.serving.lookup().profile_target() != profile) continue;
    for (Serving* serving : {&target.serving, &target.newer_driver}) {
      const Result<const ServedProgram*> old_one = serving->program(before), new_one = serving->program(after);
      if (!old_one || !new_one) return (old_one ? new_one : old_one).status();
      if ((*new_one)->origin > (*old_one)->origin) return false;
    }
  }
  return true;
}

// Nothing when a problem would have no program, or an unknown time.
Result<std::optional<double>> Fitter::loss_without(std::uint32_t target, const KeptProfile& kept,
                                                   std::uint32_t variant) {
  std::set<std::uint32_t> rest = kept.variants;
  rest.erase(variant);
  const cache::Profile& profile = *plan_.profile_of(target);
  const Result<PartialProfile> now = PartialProfile::create(plan_.contents(), profile, kept.variants);
  const Result<PartialProfile> then = PartialProfile::create(plan_.contents(), profile, rest);
  if (!now || !then) return (now ? then : now).status();
  double loss = 0;
  for (const NeededChoice& need : kept.needs) {
    const std::optional<Choice> before = now->choose(need.problem), after = then->choose(need.problem);
    if (!before || !after) return std::optional<double>();
    if (before->variant == after->variant) continue;
    if (!before->expected_us || !after->expected_us) return std::optional<double>();
    const Result<bool> served = still_served(target, before->variant, after->variant);
    if (!served) return served.status();
    if (!*served) return std::optional<double>();
    loss += need.weight * (*after->expected_us / std::max(*before->expected_us, 1e-9) - 1);
  }
  return std::optional<double>(loss);
}

Result<std::vector<Candidate>> Fitter::candidates_of(std::uint32_t target, const KeptProfile& kept) {
  std::vector<Candidate> candidates;
  if (!plan_.profile_of(target) || kept.needs.empty()) return candidates;
  for (const std::uint32_t variant : kept.variants) {
    Candidate candidate{target, variant, 0, 0};
    for (const EntryKey& key : entries_of(target, variant)) candidate.bytes += bytes_of(key);
    if (candidate.bytes == 0) continue;
    const Result<std::optional<double>> loss = loss_without(target, kept, variant);
    if (!loss) return loss.status();
    if (!*loss) continue;
    candidate.loss = **loss;
    candidates.push_back(candidate);
  }
  return candidates;
}

Result<bool> Fitter::leave_out_a_variant() {
  const auto price = [](const Candidate& c) { return c.loss / static_cast<double>(c.bytes); };
  const Candidate* best = nullptr;
  for (const auto& [target, kept] : plan_.profiles()) {
    auto known = candidates_.find(target);
    if (known == candidates_.end()) {
      Result<std::vector<Candidate>> computed = candidates_of(target, kept);
      if (!computed) return computed.status();
      known = candidates_.emplace(target, std::move(*computed)).first;
    }
    for (const Candidate& candidate : known->second) {
      if (!best || price(candidate) < price(*best)) best = &candidate;
    }
  }
  if (!best) return false;
  remove(Candidate(*best));
  return true;
}

void Fitter::remove(const Candidate& candidate) {
  for (const EntryKey& key : entries_of(candidate.profile, candidate.variant)) plan_.entries().erase(key);
  plan_.profiles()[candidate.profile].variants.erase(candidate.variant);
  left_out_ += candidate.bytes;
  loss_.variants.push_back(plan_.contents().variants[candidate.variant].name + " on " +
                           target_name(plan_.contents().targets[candidate.profile]));
  candidates_.erase(candidate.profile);
}

// Of all problems, against what the bundle chose before.
Status Fitter::measure_loss() {
  double sum = 0, weights = 0;
  for (const auto& [target, kept] : plan_.profiles()) {
    const cache::Profile* profile = plan_.profile_of(target);
    if (!profile || kept.needs.empty()) continue;
    const Result<PartialProfile> now = PartialProfile::create(plan_.contents(), *profile, kept.variants);
    if (!now) return now.status();
    for (const NeededChoice& need : kept.needs) {
      weights += need.weight;
      const std::optional<Choice> choice = now->choose(need.problem);
      if (!choice || choice->variant == need.variant || !choice->expected_us || !(need.expected_us > 0)) continue;
      const double loss = *choice->expected_us / need.expected_us - 1;
      sum += need.weight * loss;
      if (loss <= loss_.worst) continue;
      loss_.worst = loss;
      loss_.worst_problem = need.name + " on " + target_name(plan_.contents().targets[target]);
    }
  }
  loss_.mean = weights > 0 ? sum / weights : 0;
  return {};
}

}  // namespace

Result<cache::Bytes> fit_size(PrunePlan& plan, std::uint64_t max_bytes, PruneLoss& loss) {
  return Fitter(plan, max_bytes, loss).run();
}

}  // namespace clbake::builder
