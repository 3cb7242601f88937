// The results of a launch against those that are expected.
#pragma once

#include "program/trial.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::prove {

struct Comparison {
  double error = 0;   // the largest, on the scale of the argument's tolerance
  std::string wrong;  // the first number that is out of tolerance, and what was expected; empty: none is
};

// For an argument that is a buffer or an image; both contents have its size.
Comparison compare(const program::TrialArgument& argument, cache::Bytes found, cache::Bytes expected);

// For an argument whose content varies from run to run of one program, as `runs` of it show (REQUIRES: two or more).
// Right is what agrees with them as any order of elements, if they agree so themselves; else what lies, number by
// number, between the least and the greatest of the runs, with the tolerance around them. nullopt: nothing can be said,
// as a number that varies lies outside.
std::optional<Comparison> compare_varying(program::TrialArgument argument, const cache::Bytes& found,
                                          const std::vector<cache::Bytes>& runs);

// The stated numbers as a content.
cache::Bytes stated_content(const program::TrialArgument& argument);

}  // namespace clbake::builder::prove
