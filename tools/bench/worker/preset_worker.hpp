// `bench presets`: measures one preset in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// Loads or compiles the variant of the bundle `job`, checks it and times it at `sizes` ("512,1000x20x300") in `rounds`
// rounds, and writes a JSON array with an object for each size to `output`. A wrong result is recorded, not a failure.
Status preset_worker(const std::string& job, const std::string& sizes, const std::string& rounds,
                     const std::string& output);

}  // namespace clbake::tool
