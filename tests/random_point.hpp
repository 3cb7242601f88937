// A random point of a family's space that a device admits.
#pragma once

#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/space.hpp>

#include <optional>
#include <random>

namespace clbake::tests {

// All admitted points are equally likely, and equal states of `random` give equal points with every standard library.
// Nothing where a million points in turn are not admitted.
inline std::optional<kernels::Params> random_point(kernels::Family family, Precision precision, std::mt19937& random,
                                                   const kernels::DeviceLimits& device) {
  kernels::Params p;
  p.family = family;
  p.precision = precision;
  for (int i = 0; i < 1000000; ++i) {
    p.trans_a = random() % 2 != 0;
    p.trans_b = random() % 2 != 0;
    for (const kernels::Axis& axis : kernels::space(family).axes) {
      axis.parameter.set(p, axis.values[random() % axis.values.size()]);
    }
    if (kernels::admits(device, p)) return p;
  }
  return std::nullopt;
}

}  // namespace clbake::tests
