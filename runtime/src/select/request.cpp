#include "select/request.hpp"

#include "select/problem.hpp"
#include "select/search_variant.hpp"

#include <tuple>

namespace clbake {
namespace {

constexpr const char* kOwnPrefix = "clbake-";  // of the kernels of complex problems

Status refusal_among(const std::vector<DeviceBundle>& bundles) {
  for (const DeviceBundle& bundle : bundles) {
    if (!bundle.refused) return bundle.refused;
  }
  return {};
}

}  // namespace

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
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Result<std::uint32_t> variant = choose(bundles[i], request.problem, name);
    if (variant) request.candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  // Only when no profile says anything: a default has no program, but another bundle's choice may have one.
  request.by_device_type = name.empty() && request.candidates.empty();
  for (std::size_t i = 0; request.by_device_type && request.candidates.empty() && i < bundles.size(); ++i) {
    const Result<std::uint32_t> variant = choose_default(bundles[i], request.problem);
    if (variant) request.candidates.push_back({i, *variant});
  }
  if (!request.candidates.empty()) return request;
  if (!request.refused) return request.refused;
  const bool fits_nowhere = first_failure.code() == Code::no_variant && first_failure.message().empty();
  return fits_nowhere ? nothing_fits(bundles.front().bundle, request.problem) : first_failure;
}

namespace {

// The index of the program of this name; or no_program, or what is wrong with a damaged record where it is not found.
Result<std::uint32_t> find_program(const Bundle& bundle, const std::string& name, std::string& others) {
  if (const std::optional<std::uint32_t> found = search_variant(bundle, name)) {
    const Result<cache::Variant> variant = bundle.variant(*found);
    if (variant && variant->is_program()) return *found;
  }
  Status failure(Code::no_program, {});
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant) failure = variant.status();
    if (!variant || !variant->is_program()) continue;
    if (variant->name == name) return i;
    if (variant->name.rfind(kOwnPrefix, 0) == 0) continue;
    others += (others.empty() ? "" : ", ") + variant->name;
  }
  return failure;
}

bool same_program(const Bundle& a, std::uint32_t of_a, const Bundle& b, std::uint32_t of_b) {
  const Result<cache::Variant> first = a.variant(of_a), second = b.variant(of_b);
  if (!first || !second || !same_but_source(*first, *second)) return false;
  const Result<cache::Source> source = a.source(first->source), other = b.source(second->source);
  return source && other && *source == *other;
}

}  // namespace

Result<Request> program_request(const std::vector<DeviceBundle>& bundles, const std::string& name) {
  Request request;
  request.problem.precision = no_precision;
  request.named = true;
  request.refused = refusal_among(bundles);
  std::string others;
  Status failure(Code::no_program, {});
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Bundle& bundle = bundles[i].bundle;
    const Result<std::uint32_t> variant = find_program(bundle, name, others);
    if (!variant && failure.code() == Code::no_program) failure = variant.status();
    if (!variant) continue;
    const bool first = request.candidates.empty();
    const auto same_as = [&](const Candidate& c) {
      return same_program(bundles[c.bundle].bundle, c.variant, bundle, *variant);
    };
    if (first || same_as(request.candidates.front())) request.candidates.push_back({i, *variant});
  }
  if (!request.candidates.empty()) return request;
  if (!request.refused) return request.refused;
  if (failure.code() != Code::no_program) return failure;
  return failure.with_message("no bundle has a program named '" + name + "'; " +
                              (others.empty() ? "they have none" : "there are: " + others));
}

Result<Request> complex_kernels_request(const std::vector<DeviceBundle>& bundles, Precision precision, bool is_cpu) {
  Result<Request> found = Status(Code::no_program, {});
  for (const bool cpu : {is_cpu, !is_cpu}) {  // any device runs either form
    Result<Request> request =
        program_request(bundles, std::string(kOwnPrefix) + name(precision) + (cpu ? "-cpu" : "-gpu"));
    if (request) return request;
    if (cpu == is_cpu) found = std::move(request);
  }
  if (found.status().code() != Code::no_program) return found;
  return Status(Code::no_variant, std::string("no bundle has the kernels of ") + name(precision) +
                                      "; 'clbake build --precision " + name(precision) + "' bakes them");
}

std::string reason_for(const Request& request, const DeviceBundle& bundle) {
  return request.named ? "asked for by name" : why(bundle, request.problem);
}

}  // namespace clbake
