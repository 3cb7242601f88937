// The choice of a variant alone: no device, no driver, nothing is loaded. For clbake's own tools, which show and time
// the choice; not installed.
#pragma once

#include <clbake/clbake.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace clbake {

struct DeviceBundle;

// What the profile of a bundle chooses on one device. Any thread. Copies share everything.
class ProfileChoice {
 public:
  // By the profile of the device's target or, without one, of the most similar target. Fails with no_variant (no
  // profile), or with what is wrong with the record.
  static Result<ProfileChoice> create(const Bundle& bundle, const Target& device);

  // The index of the variant in the bundle. Requires check(problem).ok(). Fails with no_variant when no rule fits, or
  // with what is wrong with the rule.
  Result<std::uint32_t> variant(const Problem& problem) const;

  // How many rules the profile has.
  std::size_t rules() const;

 private:
  explicit ProfileChoice(std::shared_ptr<const DeviceBundle> bundle) : bundle_(std::move(bundle)) {}
  std::shared_ptr<const DeviceBundle> bundle_;
};

// The variants of the bundle that compute this kind of problem, in the bundle's order; damaged records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind);

}  // namespace clbake
