// Making what is kept of a bundle fit a number of bytes.
#pragma once

#include "release/prune_plan.hpp"

namespace clbake::builder {

// Leaves out of the plan, until the encoded bundle fits: first portable programs beside native ones that serve, the
// largest first; then, one after the other, the variant of a target's profile whose loss costs least expected time for
// the bytes of its programs. Returns the encoded bundle. Fails with invalid_argument when it cannot fit.
Result<cache::Bytes> fit_size(PrunePlan& plan, std::uint64_t max_bytes, PruneLoss& loss);

}  // namespace clbake::builder
