#include <clbake/choice.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "select/choose.hpp"
#include "select/problem.hpp"

namespace clbake {

Result<ProfileChoice> ProfileChoice::create(const Bundle& bundle, const Target& device, std::uint32_t units) {
  return exceptions_to_status([&]() -> Result<ProfileChoice> {
    auto found = std::make_shared<const DeviceBundle>(bundle_for(bundle, device, true, units));
    if (!found->choices) return found->choices.status();
    return ProfileChoice(std::move(found));
  });
}

Result<std::uint32_t> ProfileChoice::variant(const Problem& problem) const {
  return exceptions_to_status([&] { return choose(*bundle_, row_major(problem), {}); });
}

std::string ProfileChoice::why(const Problem& problem) const { return clbake::why(*bundle_, row_major(problem)); }

std::size_t ProfileChoice::size() const { return bundle_->choices->size(); }

}  // namespace clbake
