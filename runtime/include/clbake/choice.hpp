// The choice of a variant alone: no device, no driver, nothing is loaded. For clbake's own tools, which fit, show and
// time the choice; not installed.
//
// Why a computed time. What decides between two variants is how many work-groups there are for how many compute units,
// how much of the last tiles lies outside C, and how many steps of k each work-group takes: functions of the problem
// that jump from one size to the next. A table of measured sizes cannot see them; a formula with some numbers for each
// variant can.
#pragma once

#include <clbake/clbake.hpp>

#include <algorithm>
#include <array>
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

// A profile, ready to choose from. Any thread.
class Choices {
 public:
  // The profile's lists are kind by kind, as in a bundle. `units`: compute units of the device; 0: as many as the
  // profile's device has. On a device with another number the exceptions do not hold.
  [[gnu::cold]] explicit Choices(cache::Profile profile, std::uint32_t units = 0);  // once for a bundle

  struct Choice {
    std::optional<std::uint32_t> variant;  // nothing: the profile says nothing about this kind of problem
    ChosenBy by = ChosenBy::model;
    double expected_us = 0;  // of ChosenBy::model
  };

  // For a row-major problem that is possible (`check`).
  Choice find(const Problem& problem) const;

  // Does read_otherwise where that is expected to be faster. What an exception or a default rule decides stays.
  void read_faster(Problem& problem) const;

  // The least expected time, or the default variant's where that is not slower by the margin: no exceptions, no rules.
  Choice by_model(const Problem& problem, std::optional<std::uint32_t> default_one) const;

  // The least expected time of the other variants; nothing without cost models for the problem.
  Choice runner_up(const Problem& problem, std::uint32_t chosen) const;

  // The expected time of a variant for a row-major problem; nothing where it has no cost model for the problem.
  std::optional<double> expected_of(const Problem& problem, std::uint32_t variant) const;

  std::uint32_t target() const { return profile_.target; }

  std::size_t size() const {  // rules and cost models
    return profile_.exceptions.size() + profile_.models.size() + profile_.defaults.size();
  }

 private:
  // Start of each kind in one of the profile's lists, and the end of the list.
  using Starts = std::array<std::uint32_t, kKinds + 1>;

  double expected(std::uint32_t model, const Problem& problem) const;

  cache::Profile profile_;
  Starts exceptions_{}, models_{}, defaults_{};
};

// The tail of a product whose variant has a split_k of 0: kernels/KERNELS.md, "The tail".
struct Tail {
  std::size_t whole = 0;   // tiles of C that are computed over all of k; the others are the tail
  std::size_t tiles = 0;   // of the tail
  std::size_t slices = 1;  // of k, of each of these; 1: nothing is cut

  std::size_t parts() const { return tiles * slices; }
};

// A slice has at least four blocks of k, so that computing it takes longer than beginning it and adding it up. A guess:
// not measured.
constexpr std::size_t kSliceBlocks = 4;

// For so many tiles on so many compute units. The slices are never more than the units, and behind whole tiles fewer:
// on an H200 a full wave of slices lost there what it should gain (kernels/MEASUREMENTS.md).
inline Tail tail_of(std::size_t tiles, std::size_t units, std::size_t k, std::size_t block_k) {
  const std::size_t behind = units == 0 ? 0 : tiles % units;
  const std::size_t room = tiles > behind ? units - 1 : units;
  const std::size_t most = k / (kSliceBlocks * block_k);
  const std::size_t slices = behind == 0 ? 1 : std::min(room / behind, most);
  if (slices <= 1) return {tiles, 0, 1};
  return {tiles - behind, behind, slices};
}

// True when the problem's sizes are in the rule's ranges.
bool fits(const cache::Rule& rule, const Problem& problem);

// The expected time of a call, in microseconds, on a device of so many compute units: FORMAT.md, "The cost model".
// Infinite where the model does not tell of the problem, which is row-major, possible (`check`) and of the model's
// kind.
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

// Reads the one row of A, else the one column of B, of a row-major problem the other way, as transposed or not: a
// vector whose elements lie together is a row as well as a column. False without such a vector, and for packed weights.
bool read_otherwise(Problem& problem);

// Checks that this runtime can launch the variant. Fails with unsupported_version (another kernel contract) or
// malformed (launches that are not the contract's).
Status check_launchable(const cache::Variant& variant);

// The variants of the bundle that compute this kind of problem, or of groups of them, in the bundle's order; damaged
// records are left out.
std::vector<std::uint32_t> capable_variants(const Bundle& bundle, const GemmKind& kind, bool groups = false);

}  // namespace clbake
