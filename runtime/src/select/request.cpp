#include "select/request.hpp"

#include "select/problem.hpp"

#include <tuple>

namespace clbake {

bool operator<(const Candidate& a, const Candidate& b) {
  return std::tie(a.bundle, a.variant) < std::tie(b.bundle, b.variant);
}

Result<Request> make_request(const std::vector<DeviceBundle>& bundles, const Problem& problem,
                             const std::string& name) {
  const Status possible = check(problem);
  if (!possible) return possible;
  Request request{row_major(problem), problem.layout, {}, !name.empty()};
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Result<std::uint32_t> variant = choose(bundles[i], request.problem, name);
    if (variant) request.candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  // Only when no profile says anything: a default has no program, but another bundle's choice may have one.
  for (std::size_t i = 0; name.empty() && request.candidates.empty() && i < bundles.size(); ++i) {
    const Result<std::uint32_t> variant = choose_default(bundles[i], request.problem);
    if (variant) request.candidates.push_back({i, *variant});
  }
  if (request.candidates.empty()) return first_failure;
  return request;
}

std::string reason_for(const Request& request, const DeviceBundle& bundle) {
  return request.named ? "asked for by name" : why(bundle, request.problem);
}

}  // namespace clbake
