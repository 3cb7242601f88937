// Products of bytes and of packed weights in one profile: of many precisions a few were timed.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <vector>

namespace clbake::builder::profile {

// The tuning, and for each wanted kind of product of bytes, or of weights by 16 bits, that it has no models of, those
// of a relative with the same transposes: the type of C changes a time little, and matrix units are as fast for
// integers as for floating point. One of equal operands' kind comes first. Exceptions are not taken over. Variants of
// the new precision may not fit a device.
Tuning with_relatives(Tuning tuning, const std::vector<Precision>& wanted);

}  // namespace clbake::builder::profile
