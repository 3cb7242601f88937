// How long each program of a bundle takes to load: `bench bundle --load`.
#pragma once

#include "cli/json.hpp"

#include <string>

namespace clbake::tool {

// A row for each program of the bundle for the device that `device` selects, and one for the first program of the
// process: {"variant", "driver_us" (the driver's calls), "prepare_us" (Library::prepare, or Library::program, as a
// whole), "share" (of the driver's time that clbake adds), "trusted_us" (in a library that trusts the bundle; null
// where there is nothing to trust)}. Medians over `rounds` loads in new libraries of one process.
Result<Json> bundle_loads(const std::string& file, const std::string& device, std::size_t rounds);

void print_loads(const Json& rows);

}  // namespace clbake::tool
