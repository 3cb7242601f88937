// The means of checking constraints.
#pragma once

#include <clbake/kernels/constraints.hpp>

#include <string_view>
#include <vector>

namespace clbake::kernels {

// One Params on one device. Without a list of violations no text is made.
struct Requirements {
  const Params& params;
  const DeviceLimits& device;
  std::vector<Violation>* violations;

  // Returns `holds`; if that is false, adds a violation of `constraint`, for which reason() gives the text.
  template <typename Reason>
  bool require(bool holds, std::string_view constraint, const Reason& reason) const {
    if (!holds && violations) violations->push_back({constraint, reason()});
    return holds;
  }
};

// nvidia_constraints.cpp: each is a group of constraints, and whether all of it hold.
bool thin_tile_holds(const Requirements& r);       // a warp's part of C, and what its registers hold
bool warp_tile_holds(const Requirements& r);       // what the copies and the matrix units take
bool warpgroup_tile_holds(const Requirements& r);  // wgmma: 64 rows by up to 256 columns, and its registers
bool pairs_hold(const Requirements& r);            // what local_tile's map mma multiplies, and which devices have it

}  // namespace clbake::kernels
