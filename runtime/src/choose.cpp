#include "choose.hpp"

namespace clbake {
namespace {

bool fits(const cache::Rule& rule, const Problem& p) {
  return rule.precision == p.precision && rule.trans_a == p.trans_a && rule.trans_b == p.trans_b && rule.m_min <= p.m &&
         p.m <= rule.m_max && rule.n_min <= p.n && p.n <= rule.n_max && rule.k_min <= p.k && p.k <= rule.k_max;
}

bool computes(const cache::Variant& variant, const Problem& p) {
  return variant.precision == p.precision && variant.trans_a == p.trans_a && variant.trans_b == p.trans_b;
}

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
    if (computes(*variant, problem)) return i;
    return {Code::no_variant, "variant " + name + " does not compute " + describe(problem)};
  }
  return {Code::no_variant, "the bundle has no variant named " + name};
}

}  // namespace

Shelf make_shelf(const Bundle& bundle, const Target& device) {
  Result<std::uint32_t> target = bundle.find_target(device);
  Result<cache::Profile> profile = Status(Code::no_variant, "the bundle has no profile");
  if (target) profile = bundle.find_profile(*target);
  if (!target || profile.status().code() == Code::no_variant) profile = most_similar_profile(bundle, device);
  return {bundle, std::move(target), std::move(profile)};
}

Result<std::uint32_t> choose(const Shelf& shelf, const Problem& problem, const std::string& name) {
  if (!name.empty()) return find_by_name(shelf.bundle, problem, name);
  if (!shelf.profile) return shelf.profile.status();
  for (const cache::Rule& rule : shelf.profile->rules) {
    if (!fits(rule, problem)) continue;
    const Result<cache::Variant> variant = shelf.bundle.variant(rule.variant);
    if (!variant) return variant.status();
    if (computes(*variant, problem)) return rule.variant;
    return {Code::malformed, "a rule of the profile names " + variant->name + " for " + describe(problem)};
  }
  return {Code::no_variant, "no rule of the profile fits " + describe(problem)};
}

std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const Problem& problem) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && computes(*variant, problem)) found.push_back(i);
  }
  return found;
}

}  // namespace clbake
