// A profile, ready to choose from.
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

// A variant that a profile names. Whether it exists and computes what it is named for is checked at its first use, and
// not again: opening a bundle does not pay for variants that are never used.
struct NamedVariant {
  std::uint32_t variant = 0;
  mutable std::atomic<bool> checked{false};
};

// Any thread.
class Choices {
 public:
  // The profile's lists are kind by kind, as in a bundle. `units`: compute units of the device; 0: as many as the
  // profile's device has. On a device with another number the exceptions do not hold.
  [[gnu::cold]] Choices(cache::Profile profile, std::uint32_t units);  // once for a bundle: small code will do

  enum class Why { exception, model, default_rule };
  struct Choice {
    const NamedVariant* named = nullptr;  // null: the profile says nothing about this kind of problem
    Why why = Why::model;
    double expected_us = 0;  // of Why::model
  };

  // For a row-major problem.
  Choice find(const Problem& problem) const;

  // The least expected time of the other variants; nothing without cost models.
  Choice runner_up(const Problem& problem, std::uint32_t chosen) const;

  // The expected time of a variant for a row-major problem; nothing where it has no cost model for this kind of
  // problem.
  std::optional<double> expected_of(const Problem& problem, std::uint32_t variant) const;

  std::uint32_t target() const { return profile_.target; }

  std::size_t size() const { return named_.size(); }  // rules and cost models

 private:
  // Where each kind begins in one of the profile's lists, and the end of the list.
  using Starts = std::array<std::uint32_t, kKinds + 1>;

  double expected(std::uint32_t model, const Problem& problem) const;
  const NamedVariant& of_model(std::uint32_t model) const { return named_[profile_.exceptions.size() + model]; }
  Choice by_model(const Problem& problem, const NamedVariant* default_one) const;

  cache::Profile profile_;
  Starts exceptions_{}, models_{}, defaults_{};
  std::vector<NamedVariant> named_;  // by exceptions, cost models and defaults, one after the other
};

}  // namespace clbake
