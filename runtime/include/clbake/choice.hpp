// The choice of a variant alone: no device, no driver, nothing is loaded. For clbake's own tools, which fit, show and
// time the choice; not installed.
//
// Why a computed time. What decides between two variants is how many work-groups there are for how many compute units,
// how much of the last tiles lies outside C, and how many steps of k each work-group takes: functions of the problem
// that jump from one size to the next. A table of measured sizes cannot see them; a formula with some numbers for each
// variant can.
#pragma once

#include <clbake/clbake.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace clbake {

// The reason for a choice: FORMAT.md, "The cost model".
enum class ChosenBy {
  exception,     // a measurement on the profile's device
  model,         // the least expected time
  default_rule,  // a default of the profile
  device_type,   // the default for every device of the type: no profile says anything about the problem
};

// A variant that a profile names. A bundle is asked at the first use whether it has the variant, and not again: opening
// a bundle does not pay for variants that are never used.
struct NamedVariant {
  std::uint32_t variant = 0;
  mutable std::atomic<bool> checked{false};
};

// A profile, ready to choose from. Any thread.
class Choices {
 public:
  // The profile's lists are kind by kind, as in a bundle. `units`: compute units of the device; 0: as many as the
  // profile's device has. On a device with another number the exceptions do not hold.
  [[gnu::cold]] explicit Choices(cache::Profile profile, std::uint32_t units = 0);  // once for a bundle

  struct Choice {
    const NamedVariant* named = nullptr;  // null: the profile says nothing about this kind of problem
    ChosenBy by = ChosenBy::model;
    double expected_us = 0;  // of ChosenBy::model
  };

  // For a row-major problem that is possible (`check`).
  Choice find(const Problem& problem) const;

  // The least expected time of the other variants; nothing without cost models.
  Choice runner_up(const Problem& problem, std::uint32_t chosen) const;

  // The expected time of a variant for a row-major problem; nothing where it has no cost model for this kind of
  // problem.
  std::optional<double> expected_of(const Problem& problem, std::uint32_t variant) const;

  std::uint32_t target() const { return profile_.target; }

  std::size_t size() const { return named_.size(); }  // rules and cost models

 private:
  // Start of each kind in one of the profile's lists, and the end of the list.
  using Starts = std::array<std::uint32_t, kKinds + 1>;

  double expected(std::uint32_t model, const Problem& problem) const;
  const NamedVariant& of_model(std::uint32_t model) const { return named_[profile_.exceptions.size() + model]; }
  Choice by_model(const Problem& problem, const NamedVariant* default_one) const;

  cache::Profile profile_;
  Starts exceptions_{}, models_{}, defaults_{};
  std::vector<NamedVariant> named_;  // by exceptions, cost models and defaults, one after the other
};

// True when the problem's sizes are in the rule's ranges.
bool fits(const cache::Rule& rule, const Problem& problem);

// The expected time of a call, in microseconds, on a device of so many compute units: FORMAT.md, "The cost model". The
// problem is row-major and possible (`check`), and of the model's kind.
double expected_us(const cache::CostModel& model, const Problem& problem, std::uint32_t units);

// The real product that computes a complex row-major one (kernels/complex.cl): of m x 2n x 2k, with operands that are
// copies of the caller's, except an A that is neither transposed nor conjugated. Without offsets: where the products of
// a batch begin is for the launches to say. Of a real problem: itself.
Problem real_product(const Problem& problem);

// True when the real_product of a complex row-major problem reads a copy of A.
bool copies_a(const Problem& complex);

// The same problem in row-major order. A column-major matrix is the transpose of the row-major one in the same bytes,
// and C^T = op(B)^T * op(A)^T: so A and B, and m and n, are exchanged. The caller has to exchange the matrices, too.
Problem row_major(const Problem& problem);

// Checks that this runtime can launch the variant. Fails with unsupported_version (another kernel contract) or
// malformed (launches that are not the contract's).
Status check_launchable(const cache::Variant& variant);

// The variants of the bundle that compute this kind of problem, in the bundle's order; damaged records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind);

}  // namespace clbake
