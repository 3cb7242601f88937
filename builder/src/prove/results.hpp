// The results of a launch against those that are expected.
#pragma once

#include "program/trial.hpp"

#include <string>

namespace clbake::builder::prove {

struct Comparison {
  double error = 0;   // the largest, on the scale of the argument's tolerance
  std::string wrong;  // the first number that is out of tolerance, and what was expected; empty: none is
};

// For an argument that is a buffer or an image; both contents have its size.
Comparison compare(const program::TrialArgument& argument, cache::Bytes found, cache::Bytes expected);

// The stated numbers as a content.
cache::Bytes stated_content(const program::TrialArgument& argument);

}  // namespace clbake::builder::prove
