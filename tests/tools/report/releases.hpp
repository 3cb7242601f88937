// Bundles of three drivers and two devices for the tests of the release report.
#pragma once

#include "report/release/release_report.hpp"

#include <clbake/cache/model.hpp>

namespace clbake::tool::test {

// "Device <A>" with the drivers 1 and 2, and "Device B" with driver 1. Two variants of single nn, of which "small" is
// expected to take 10 us for any problem up to 128, "large" 100 us for larger ones, and one variant of double nn
// without a cost model. Driver 2 has portable programs only; Device B has none of "large".
cache::Contents release_contents();

// A program of the application's own, as a variant.
cache::Variant own_program(const std::string& name);

// The bundle as it is when a user gives it.
ReleaseBundle named(const std::string& file, const cache::Contents& contents);

}  // namespace clbake::tool::test
