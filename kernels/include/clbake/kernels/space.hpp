// The parameter space that is searched: the values that each parameter of a family may take.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// One dimension of the space.
struct Axis {
  Parameter parameter;
  std::vector<std::uint32_t> values;
  std::uint32_t easiest;  // of the values, in most cases: what divides, or is divided, best

  // Sets the parameter to what divides, or is divided, best, given the axes before: if a point whose later axes are
  // eased breaks a rule of divisibility, then so do all points with the same values on the axes before.
  void ease(Params& p) const;
};

// All combinations of the axes' values, for one family.
struct Space {
  Family family = Family::direct;
  std::vector<Axis> axes;  // blocking factors, options; not precision and transposes
};

const Space& space(Family family);

}  // namespace clbake::kernels
