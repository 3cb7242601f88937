#include "select/choose.hpp"

#include "select/search_variant.hpp"

#include <cstdio>

namespace clbake {
namespace {

// How much another target's profile can say about this device: the same device before the same architecture before the
// same platform before any.
int similarity(const Target& a, const Target& b) {
  if (a.platform_name == b.platform_name && a.device_name == b.device_name) return 3;
  if (!a.architecture.empty() && a.architecture == b.architecture) return 2;
  return a.platform_name == b.platform_name ? 1 : 0;
}

// Searches only targets that have something in common with the device, if `related`.
Result<cache::Profile> most_similar_profile(const Bundle& bundle, const Target& device, bool related) {
  Result<cache::Profile> best =
      Status(Code::no_variant, "the bundle has no profile, and so nothing for products (GEMM)");
  int best_similarity = related ? 0 : -1;
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
  std::string text = name(p.precision);
  text += p.trans_a ? " t" : " n";
  text += p.trans_b ? "t" : "n";
  const char* separator = " ";
  for (const std::size_t size : {p.m, p.n, p.k}) {
    text += separator;
    text += std::to_string(size);
    separator = " x ";
  }
  return text;
}

Result<std::uint32_t> find_by_name(const Bundle& bundle, const Problem& problem, const std::string& name) {
  // One by one only where a damaged neighbour ended the search.
  for (std::uint32_t i = search_variant(bundle, name).value_or(0); i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->name != name) continue;  // a damaged neighbour is no reason to fail
    if (variant->kind() == problem.kind()) return i;
    return {Code::no_variant, "variant " + name + " does not compute " + describe(problem)};
  }
  return {Code::no_variant, "the bundle has no variant named " + name};
}

// Checks that a profile may name the variant for this kind of problem.
Status check_variant(const Bundle& bundle, std::uint32_t index, const Problem& problem) {
  const Result<cache::Variant> variant = bundle.variant(index);
  if (!variant) return variant.status();
  if (variant->kind() == problem.kind()) return {};
  return {Code::malformed, "the profile names " + variant->name + " for " + describe(problem)};
}

Result<cache::Profile> profile_of(const Bundle& bundle, const Result<std::uint32_t>& target) {
  if (!target) return target.status();
  return bundle.find_profile(*target);
}

Result<Choices> choices_of(Result<cache::Profile> profile, std::uint32_t units) {
  if (!profile) return profile.status();
  return Choices(std::move(*profile), units);
}

Result<std::uint32_t> checked(const Bundle& bundle, const Choices::Choice& choice, const Problem& problem) {
  if (!choice.named) return {Code::no_variant, {}};
  if (!choice.named->checked.load(std::memory_order_relaxed)) {
    const Status valid = check_variant(bundle, choice.named->variant, problem);
    if (!valid) return valid;
    choice.named->checked.store(true, std::memory_order_relaxed);
  }
  return choice.named->variant;
}

// "61.2 us", "1.5 ms", "2 s": three digits.
std::string duration(double us) {
  const char* unit = "us";
  if (us >= 999.5e3) {
    us /= 1e6;
    unit = "s";
  } else if (us >= 999.5) {
    us /= 1e3;
    unit = "ms";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", us, unit);
  return text;
}

// ", expected 61.2 us; next NAME, 65 us".
std::string expectation(const DeviceBundle& bundle, const Problem& problem, const Choices::Choice& choice) {
  std::string text = ", expected " + duration(choice.expected_us);
  const Choices::Choice next = bundle.choices->runner_up(problem, choice.named->variant);
  if (!next.named) return text;
  const Result<cache::Variant> variant = bundle.bundle.variant(next.named->variant);
  return text + "; next " + (variant ? variant->name : "an unknown variant") + ", " + duration(next.expected_us);
}

}  // namespace

DeviceBundle bundle_for(const Bundle& bundle, const Target& device, bool is_cpu, std::uint32_t units) {
  Result<cache::Profile> defaults = profile_of(bundle, bundle.find_target(cache::any_device(is_cpu)));
  Result<std::uint32_t> target = bundle.find_target(device);
  Result<cache::Profile> profile = profile_of(bundle, target);
  const bool has_own = target && profile.status().code() != Code::no_variant;
  if (!has_own) profile = most_similar_profile(bundle, device, defaults.ok());
  std::string made_for;
  if (profile) {
    const Result<Target> known = bundle.target(profile->target);
    made_for = known ? known->device_name : "an unknown device";
    if (made_for.empty()) made_for = known->architecture;  // baked for a target of 'clbake targets'
    if (!has_own) made_for += ", the most similar device";
  }
  return {bundle,
          std::move(target),
          choices_of(std::move(profile), units),
          std::move(made_for),
          choices_of(std::move(defaults), units),
          Status()};
}

Status nothing_fits(const Bundle& bundle, const Problem& problem) {
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && variant->kind() == problem.kind()) {
      return {Code::no_variant, "nothing in the profile fits " + describe(problem)};
    }
  }
  const std::string transposes = std::string(problem.trans_a ? "t" : "n") + (problem.trans_b ? "t" : "n");
  return {Code::no_variant, "the bundle has no variant for " + std::string(name(problem.precision)) + " " + transposes};
}

std::string why(const DeviceBundle& bundle, const Problem& problem) {
  const Choices::Choice choice = bundle.choices ? bundle.choices->find(problem) : Choices::Choice();
  if (!choice.named) return "the default for this type of device";
  const std::string& device = bundle.profile_of;
  switch (choice.by) {
    case ChosenBy::exception: return "measured on " + device;
    case ChosenBy::default_rule: return "the default of " + device;
    default: break;
  }
  return "the cost model of " + device + expectation(bundle, problem, choice);
}

Result<std::uint32_t> choose(const DeviceBundle& bundle, const Problem& problem, const std::string& name) {
  if (!name.empty()) return find_by_name(bundle.bundle, problem, name);
  if (!bundle.choices) return bundle.choices.status();
  return checked(bundle.bundle, bundle.choices->find(problem), problem);
}

Result<std::uint32_t> choose_default(const DeviceBundle& bundle, const Problem& problem) {
  if (!bundle.defaults) return bundle.defaults.status();
  return checked(bundle.bundle, bundle.defaults->find(problem), problem);
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
