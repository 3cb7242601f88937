#include "select/choose.hpp"

namespace clbake {
namespace {

// How much another target's profile can say about this device: same device before same platform before any.
int similarity(const Target& a, const Target& b) {
  if (a.platform_name == b.platform_name && a.device_name == b.device_name) return 3;
  if (!a.architecture.empty() && a.architecture == b.architecture) return 2;
  return a.platform_name == b.platform_name ? 1 : 0;
}

Result<cache::Profile> most_similar_profile(const Bundle& bundle, const Target& device) {
  Result<cache::Profile> best = Status(Code::no_variant, "the bundle has no profile");
  int best_similarity = -1;
  for (std::uint32_t i = 0; i < bundle.profile_count(); ++i) {
    Result<cache::Profile> profile = bundle.profile(i);
    if (!profile) return profile;
    const Result<Target> target = bundle.target(profile->target);
    if (!target) return target.status();
    const int similar = similarity(*target, device);
    if (similar > best_similarity) {
      best_similarity = similar;
      best = std::move(profile);
    }
  }
  return best;
}

std::string describe(const Problem& p) {
  return std::string(name(p.precision)) + " " + (p.trans_a ? 't' : 'n') + (p.trans_b ? 't' : 'n') + " " +
         std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

Result<std::uint32_t> find_by_name(const Bundle& bundle, const Problem& problem, const std::string& name) {
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->name != name) continue;  // a damaged neighbour is no reason to fail
    if (variant->kind() == problem.kind()) return i;
    return {Code::no_variant, "variant " + name + " does not compute " + describe(problem)};
  }
  return {Code::no_variant, "the bundle has no variant named " + name};
}

// Whether a rule for this kind of problem may name the variant.
Status check_variant(const Bundle& bundle, std::uint32_t index, const Problem& problem) {
  const Result<cache::Variant> variant = bundle.variant(index);
  if (!variant) return variant.status();
  if (variant->kind() == problem.kind()) return {};
  return {Code::malformed, "a rule of the profile names " + variant->name + " for " + describe(problem)};
}

std::string no_rule(const Bundle& bundle, const Problem& problem) {
  bool precision = false;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant) continue;
    if (variant->kind() == problem.kind()) return "no rule of the profile fits " + describe(problem);
    precision = precision || variant->precision == problem.precision;
  }
  if (precision) return "the bundle was built without these transposes: it has no variant for " + describe(problem);
  return "the bundle was built without " + std::string(name(problem.precision)) + " precision: it has no variant for " +
         describe(problem);
}

}  // namespace

Choices::Choices(const cache::Profile& profile) : index(profile.rules), of_rule(profile.rules.size()) {
  for (std::size_t i = 0; i < of_rule.size(); ++i) of_rule[i].variant = profile.rules[i].variant;
}

DeviceBundle bundle_for(const Bundle& bundle, const Target& device) {
  Result<std::uint32_t> target = bundle.find_target(device);
  Result<cache::Profile> profile = Status(Code::no_variant, "the bundle has no profile");
  if (target) profile = bundle.find_profile(*target);
  if (!target || profile.status().code() == Code::no_variant) profile = most_similar_profile(bundle, device);
  if (!profile) return {bundle, std::move(target), profile.status(), {}};
  const Result<Target> made_for = bundle.target(profile->target);
  return {bundle, std::move(target), Choices(*profile), made_for ? made_for->device_name : "an unknown device"};
}

std::string why(const DeviceBundle& bundle, const Problem& problem) {
  if (!bundle.choices) return {};
  const std::string rule = std::to_string(bundle.choices->index.find(problem));
  return "rule " + rule + " of the profile of " + bundle.profile_of +
         (bundle.target ? "" : ", the most similar device");
}

Result<std::uint32_t> choose(const DeviceBundle& bundle, const Problem& problem, const std::string& name) {
  if (!name.empty()) return find_by_name(bundle.bundle, problem, name);
  if (!bundle.choices) return bundle.choices.status();
  const std::uint32_t rule = bundle.choices->index.find(problem);
  if (rule == RuleIndex::kNone) return {Code::no_variant, no_rule(bundle.bundle, problem)};
  const Choice& choice = bundle.choices->of_rule[rule];
  if (!choice.checked.load(std::memory_order_relaxed)) {
    const Status checked = check_variant(bundle.bundle, choice.variant, problem);
    if (!checked) return checked;
    choice.checked.store(true, std::memory_order_relaxed);
  }
  return choice.variant;
}

std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && variant->kind() == kind) found.push_back(i);
  }
  return found;
}

}  // namespace clbake
