// The worker process that times one variant of a tuning.
#pragma once

#include <clbake/status.hpp>

#include <cstddef>
#include <string>

namespace clbake::builder::tune {

// Compiles the only variant of `job` (a bundle without entries, written by the tuner) on the unit-th of the identical
// devices that are its target, checks it on an edge shape, and then answers its parent's orders over standard input
// until the parent closes the channel (builder/src/tune/timing/timing_order.hpp has the protocol). Run it in a process
// of its own: a kernel may crash or hang it. Fails with wrong_result, or with the reason why the variant does not run.
Status time_job(const std::string& job, std::size_t unit);

}  // namespace clbake::builder::tune
