// The worker's part of `clbake bench presets`, in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// Loads or compiles the only variant of the bundle `job`, checks and times it at `sizes` ("512,1000x20x300") in
// `rounds` rounds, and writes the figures as JSON to `output`. A wrong result is a figure, not a failure.
Status preset_trial(const std::string& job, const std::string& sizes, const std::string& rounds,
                    const std::string& output);

}  // namespace clbake::tool
