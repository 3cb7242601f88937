// One trial of `bench cold`, in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <cstddef>
#include <string>

namespace clbake::tool {

// The product that `bench cold` times: m = n = k.
inline constexpr std::size_t kColdSize = 512;

// With context, queue and matrices at hand: opens the bundle, loads the program and runs the product once (timed
// together: the first result), checks it, then runs it again (the steady time). `target`: index of the device in the
// bundle. `variant`: a name, or empty for the profile's choice. Writes {"first_result_ms", "steady_ms", "origin",
// "variant"} to `output`. Fails with wrong_result, or with what the runtime says.
Status cold_trial(const std::string& bundle, const std::string& target, const std::string& variant,
                  const std::string& output);

}  // namespace clbake::tool
