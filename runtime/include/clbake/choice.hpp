// The choice of a variant alone: no device, no driver, nothing is loaded. For clbake's own tools, which show and time
// the choice; not installed.
#pragma once

#include <clbake/clbake.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clbake {

struct DeviceBundle;

// What the profile of a bundle chooses on one device. Any thread. Copies share everything.
class ProfileChoice {
 public:
  // By the profile of the device's target or, without one, of the most similar target. Fails with no_variant (no
  // profile), or with what is wrong with the record.
  // `units`: the device's compute units; 0: as many as the profile's device has.
  static Result<ProfileChoice> create(const Bundle& bundle, const Target& device, std::uint32_t units = 0);

  // The index of the variant in the bundle. Requires check(problem).ok(). Fails with no_variant when the profile
  // says nothing about the problem's kind, or with what is wrong with the record.
  Result<std::uint32_t> variant(const Problem& problem) const;

  // Why, for a person: with the expected time and the runner-up.
  std::string why(const Problem& problem) const;

  // How many rules and cost models the profile has.
  std::size_t size() const;

 private:
  explicit ProfileChoice(std::shared_ptr<const DeviceBundle> bundle) : bundle_(std::move(bundle)) {}
  std::shared_ptr<const DeviceBundle> bundle_;
};

// Whether the problem's sizes are in the rule's ranges.
bool fits(const cache::Rule& rule, const Problem& problem);

// The expected time of a call, in microseconds, on a device of so many compute units: FORMAT.md, "The cost model". The
// problem is row-major and possible (`check`), and of the model's kind.
double expected_us(const cache::CostModel& model, const Problem& problem, std::uint32_t units);

// The real product that computes a complex row-major one (kernels/complex.cl): of m x 2n x 2k, with operands that are
// copies of the caller's, except an A that is neither transposed nor conjugated. Without offsets: where the products of
// a batch begin is for the launches to say. Of a real problem: itself.
Problem real_product(const Problem& problem);

// Whether this runtime can launch the variant at all: unsupported_version (it follows another kernel contract) or
// malformed (its launches are not the contract's) says why not.
Status check_launchable(const cache::Variant& variant);

// The variants of the bundle that compute this kind of problem, in the bundle's order; damaged records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind);

}  // namespace clbake
