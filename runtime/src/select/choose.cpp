#include "select/choose.hpp"

#include <clbake/joined.hpp>
#include <clbake/platform.hpp>

#include <cstdio>
#include <tuple>

namespace clbake {
namespace {

constexpr const char* kOwnPrefix = "clbake-";  // of the kernels of complex problems

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
    if (similar <= best_similarity) continue;
    best_similarity = similar;
    best = std::move(profile);
  }
  return best;
}

Result<cache::Profile> profile_of(const Bundle& bundle, const Result<std::uint32_t>& target) {
  if (!target) return target.status();
  return bundle.find_profile(*target);
}

Result<Choices> choices_of(Result<cache::Profile> profile, std::uint32_t units) {
  if (!profile) return profile.status();
  return Choices(std::move(*profile), units);
}

// "single nt".
std::string describe(const GemmKind& kind) {
  return joined({name(kind.precision), kind.trans_a ? " t" : " n", kind.trans_b ? "t" : "n"});
}

std::string describe(const Problem& p) { return joined({describe(p.kind()), " ", p.m, " x ", p.n, " x ", p.k}); }

// The index of the variant of this name. Variants are in the order of their names, so it is searched for; one by one
// only where a damaged record ended the search. Fails with no_entry, or with what is wrong with that record.
Result<std::uint32_t> find_named(const Bundle& bundle, const std::string& name) {
  Status failure(Code::no_entry, {});
  for (std::uint32_t begin = 0, end = bundle.variant_count(); begin < end;) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const Result<cache::Variant> variant = bundle.variant(middle);
    if (variant && variant->name == name) return middle;
    if (!variant) failure = variant.status();
    if (!variant) break;
    (variant->name < name ? begin : end) = variant->name < name ? middle + 1 : middle;
  }
  for (std::uint32_t i = 0; failure.code() != Code::no_entry && i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && variant->name == name) return i;
  }
  return failure;
}

Result<std::uint32_t> choose_named(const Bundle& bundle, const Request& request, const std::string& name) {
  const Result<std::uint32_t> found = find_named(bundle, name);
  if (found.status().code() == Code::out_of_memory) return found;
  if (!found) return {Code::no_variant, joined({"the bundle has no variant named ", name})};
  const Result<cache::Variant> variant = bundle.variant(*found);
  if (!variant) return variant.status();
  Problem read = request.problem;
  if (variant->kind() != read.kind() && !request.complex) read_otherwise(read);
  if (variant->kind() == read.kind()) return found;
  return {Code::no_variant, joined({"variant ", name, " does not compute ", describe(request.problem)})};
}

// The profile's choice. Fails with no_variant, without a message, where it says nothing; with missing_feature where the
// device does not take the variant's assembler; or with what is wrong with the record.
Result<std::uint32_t> choose(const DeviceBundle& of, const Result<Choices>& choices, const Problem& problem) {
  if (!choices) return choices.status();
  const Choices::Choice choice = choices->find(problem);
  if (!choice.variant) return {Code::no_variant, {}};
  const Result<cache::Variant> variant = of.bundle.variant(*choice.variant);
  if (!variant) return variant.status();
  if (!takes_assembler(of.assembler, *variant)) return lacks_assembler(*variant);
  if (variant->kind() == problem.kind()) return *choice.variant;
  return {Code::malformed, joined({"the profile names ", variant->name, " for ", describe(problem)})};
}

// Choices::read_faster, if the bundle has a program of what that chooses for this very device.
void read_faster(const DeviceBundle& of, Problem& problem) {
  if (!of.choices || !of.target) return;
  Problem faster = problem;
  of.choices->read_faster(faster);
  if (faster.kind() == problem.kind()) return;
  const Result<std::uint32_t> variant = choose(of, of.choices, faster);
  if (variant && of.bundle.find_entry(*of.target, *variant)) problem = std::move(faster);
}

// Why no variant of the bundle is chosen. Searches all variants.
Status nothing_fits(const Bundle& bundle, const Problem& problem) {
  if (capable_variants(bundle, problem).empty()) {
    return {Code::no_variant, joined({"the bundle has no variant for ", describe(problem.kind())})};
  }
  return {Code::no_variant, joined({"nothing in the profile fits ", describe(problem)})};
}

Status refusal_among(const std::vector<DeviceBundle>& bundles) {
  for (const DeviceBundle& bundle : bundles) {
    if (!bundle.refused) return bundle.refused;
  }
  return {};
}

// The index of the program of this name; or no_program, or what is wrong with a record that may be the program's.
Result<std::uint32_t> find_program(const Bundle& bundle, const std::string& name) {
  const Result<std::uint32_t> found = find_named(bundle, name);
  if (!found) return found.status().code() == Code::no_entry ? Status(Code::no_program, {}) : found.status();
  const Result<cache::Variant> variant = bundle.variant(*found);
  if (!variant) return variant.status();
  return variant->is_program() ? found : Status(Code::no_program, {});
}

// "there are: softmax, transpose".
std::string programs_in(const std::vector<DeviceBundle>& bundles) {
  std::string names;
  for (const DeviceBundle& bundle : bundles) {
    for (std::uint32_t i = 0; i < bundle.bundle.variant_count(); ++i) {
      const Result<cache::Variant> variant = bundle.bundle.variant(i);
      if (!variant || !variant->is_program() || variant->name.rfind(kOwnPrefix, 0) == 0) continue;
      names += (names.empty() ? "there are: " : ", ") + variant->name;
    }
  }
  return names.empty() ? "they have none" : names;
}

bool same_program(const Bundle& a, std::uint32_t of_a, const Bundle& b, std::uint32_t of_b) {
  const Result<cache::Variant> first = a.variant(of_a), second = b.variant(of_b);
  if (!first || !second) return false;
  const Result<cache::Source> source = a.source(first->source), other = b.source(second->source);
  return source && other && identifying_bytes(*first, *source) == identifying_bytes(*second, *other);
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
          Status(),
          false,
          assembler_features(device)};
}

bool operator==(const Candidate& a, const Candidate& b) { return a.bundle == b.bundle && a.variant == b.variant; }

bool operator<(const Candidate& a, const Candidate& b) {
  return std::tie(a.bundle, a.variant) < std::tie(b.bundle, b.variant);
}

Result<Request> make_request(const std::vector<DeviceBundle>& bundles, const Problem& problem,
                             const std::string& name) {
  const Status possible = check(problem);
  if (!possible) return possible;
  Request request;
  request.problem = row_major(problem);
  request.layout = problem.layout;
  request.named = !name.empty();
  request.refused = refusal_among(bundles);
  if (is_complex(problem.precision)) {
    request.complex = std::move(request.problem);
    request.problem = real_product(*request.complex);
  }
  if (!request.named && !request.complex && !bundles.empty()) read_faster(bundles.front(), request.problem);
  const Problem& p = request.problem;
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const DeviceBundle& of = bundles[i];
    const Result<std::uint32_t> variant =
        request.named ? choose_named(of.bundle, request, name) : choose(of, of.choices, p);
    if (variant) request.candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  // Only when no profile says anything: a default has no program, but another bundle's choice may have one.
  request.by_device_type = !request.named && request.candidates.empty();
  for (std::size_t i = 0; request.by_device_type && request.candidates.empty() && i < bundles.size(); ++i) {
    const Result<std::uint32_t> variant = choose(bundles[i], bundles[i].defaults, p);
    if (variant) request.candidates.push_back({i, *variant});
  }
  if (!request.candidates.empty()) return request;
  if (!request.refused) return request.refused;
  const bool fits_nowhere = first_failure.code() == Code::no_variant && first_failure.message().empty();
  return fits_nowhere ? nothing_fits(bundles.front().bundle, p) : first_failure;
}

Result<Request> program_request(const std::vector<DeviceBundle>& bundles, const std::string& name) {
  Request request;
  request.problem.precision = no_precision;
  request.named = true;
  request.refused = refusal_among(bundles);
  Status failure(Code::no_program, {});
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Bundle& bundle = bundles[i].bundle;
    const Result<std::uint32_t> variant = find_program(bundle, name);
    if (!variant && failure.code() == Code::no_program) failure = variant.status();
    if (!variant) continue;
    if (!request.candidates.empty()) {
      const Candidate& first = request.candidates.front();
      if (!same_program(bundles[first.bundle].bundle, first.variant, bundle, *variant)) continue;
    }
    request.candidates.push_back({i, *variant});
  }
  if (!request.candidates.empty()) return request;
  if (!request.refused) return request.refused;
  if (failure.code() != Code::no_program) return failure;
  return failure.with_message(joined({"no bundle has a program named '", name, "'; ", programs_in(bundles)}));
}

Result<Request> complex_kernels_request(const std::vector<DeviceBundle>& bundles, Precision precision, bool is_cpu) {
  Status failure(Code::no_program, {});
  for (const bool cpu : {is_cpu, !is_cpu}) {  // any device runs either form
    Result<Request> request = program_request(bundles, joined({kOwnPrefix, name(precision), cpu ? "-cpu" : "-gpu"}));
    if (request) return request;
    if (cpu == is_cpu) failure = request.status();
  }
  if (failure.code() != Code::no_program) return failure;
  return {Code::no_variant, joined({"no bundle has the kernels of ", name(precision), "; 'clbake build --precision ",
                                    name(precision), "' bakes them"})};
}

std::string reason_for(const Request& request, const DeviceBundle& bundle) {
  if (request.by_content) return "asked for by its content";
  if (request.named) return "asked for by name";
  const Choices::Choice choice = bundle.choices ? bundle.choices->find(request.problem) : Choices::Choice();
  if (!choice.variant) return "the default for this type of device";
  if (choice.by == ChosenBy::exception) return joined({"measured on ", bundle.profile_of});
  if (choice.by == ChosenBy::default_rule) return joined({"the default of ", bundle.profile_of});
  const std::string text =
      joined({"the cost model of ", bundle.profile_of, ", expected ", duration(choice.expected_us)});
  const Choices::Choice next = bundle.choices->runner_up(request.problem, *choice.variant);
  if (!next.variant) return text;
  const Result<cache::Variant> variant = bundle.bundle.variant(*next.variant);
  const char* const stays = next.expected_us < choice.expected_us ? ", too close to replace the default variant" : "";
  return joined(
      {text, "; next ", variant ? variant->name : "an unknown variant", ", ", duration(next.expected_us), stays});
}

std::vector<Candidate> other_variants(const std::vector<DeviceBundle>& bundles, const Request& request) {
  std::vector<Candidate> others;
  for (const Candidate& candidate : request.candidates) {
    for (const std::uint32_t variant : capable_variants(bundles[candidate.bundle].bundle, request.problem)) {
      if (variant != candidate.variant) others.push_back({candidate.bundle, variant});
    }
  }
  return others;
}

std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind, bool groups) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && variant->kind() == kind && variant->is_group() == groups) found.push_back(i);
  }
  return found;
}

}  // namespace clbake
