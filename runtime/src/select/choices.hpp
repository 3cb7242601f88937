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
  // `units`: compute units of the device; 0: as many as the profile's device has.
  Choices(const cache::Profile& profile, std::uint32_t units);

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

  std::size_t size() const;  // rules and cost models

 private:
  // Of one kind, in the profile's order.
  struct OfKind {
    std::vector<cache::Rule> exceptions;
    std::vector<cache::CostModel> models;
    std::vector<cache::Rule> defaults;
    std::vector<NamedVariant> named;  // by these three, one after the other
  };

  Choice by_model(const OfKind& kind, const Problem& problem, const NamedVariant* default_one) const;

  std::array<OfKind, kKinds> kinds_;
  std::uint32_t units_;
};

}  // namespace clbake
