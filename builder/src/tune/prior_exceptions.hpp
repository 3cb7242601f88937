// The exceptions of the profile that a tuning started from.
#pragma once

#include <clbake/builder/tuning.hpp>

namespace clbake::builder {

// Adds to a fitted tuning those exceptions of the prior that nothing measured here contradicts: so a short or noisy
// tuning, which has no evidence for exceptions of its own, does not lose what an earlier one had found. A contradiction
// is another variant that was faster in a final race on a shape of the exception. Takes over nothing from another
// platform or another number of compute units, of a kind that was not tuned, of a variant that failed here, or where an
// exception of the tuning's own applies.
void keep_exceptions(const Tuning& prior, Tuning& tuning);

}  // namespace clbake::builder
