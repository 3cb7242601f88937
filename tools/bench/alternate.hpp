// Timing in turns: what is compared runs alternately, so that a slow moment of the machine meets all of it.
#pragma once

#include <clbake/clbake.hpp>

#include <functional>
#include <string>
#include <vector>

namespace clbake::tool {

// A call that is repeated, and the microseconds that each repetition took.
struct TimedCall {
  std::function<void()> call;
  std::vector<double> us = {};
};

// Microseconds that the work takes.
double time_us(const std::function<void()>& work);

// Gives each call a turn of about 0.1 s in each of `rounds` rounds, after one round that warms up and is not counted.
void time_alternately(std::vector<TimedCall>& calls, std::size_t rounds);

double gflops(const Problem& problem, double us);

// The values are positive, and there is at least one.
double geometric_mean(const std::vector<double>& values);

}  // namespace clbake::tool
