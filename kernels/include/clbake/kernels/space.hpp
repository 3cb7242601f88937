// The parameter space that is searched: which values each parameter of a family may take, and which points a device
// has.
#pragma once

#include <clbake/kernels/constraints.hpp>

#include <optional>
#include <random>
#include <utility>

namespace clbake::kernels {

// How the constraints use a parameter; it decides how points are counted, not which.
enum class Coupling {
  full,     // with other parameters: every value counts for itself
  divisor,  // only in a division: the values that pass it are alike
  device,   // with the device at most: values that make no difference to the smallest kernel are alike
};

// One dimension of the space.
struct Axis {
  Parameter parameter;
  std::vector<std::uint32_t> values;
  Coupling coupling = Coupling::full;
  // Sets the parameter to what divides, or is divided, best, given the axes before: if a point whose later axes are
  // eased breaks a rule of divisibility, then so do all points with the same values on the axes before.
  void (*ease)(Params&) = nullptr;
};

// All combinations of the axes' values, for one family.
struct Space {
  Family family = Family::direct;
  std::vector<Axis> axes;  // transposes, blocking factors, options; not precision
};

const Space& space(Family family);

// Whether `params` is a point of the space, admissible or not.
bool contains(const Space& space, const Params& params);

// How many points of a space a device can run, and why not the others.
struct Census {
  std::uint64_t points = 0;
  std::uint64_t admitted = 0;
  // Each constraint with the number of points whose first violation it is; the commonest first.
  std::vector<std::pair<std::string_view, std::uint64_t>> fallen;
};

// Exact: as if `check` were asked about every point. About a second, on devices with work-groups of less than 64
// work-items longer.
Census count(const Space& space, Precision precision, const DeviceLimits& device);
inline Census count(Family family, Precision precision, const DeviceLimits& device) {
  return count(space(family), precision, device);
}

// A point that the device admits; all of them are equally likely, and equal states of `random` give equal points.
// Nothing when a million points in turn were not admitted.
std::optional<Params> draw(const Space& space, Precision precision, std::mt19937& random, const DeviceLimits& device);
inline std::optional<Params> draw(Family family, Precision precision, std::mt19937& random,
                                  const DeviceLimits& device) {
  return draw(space(family), precision, random, device);
}

}  // namespace clbake::kernels
