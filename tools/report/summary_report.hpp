// A bundle on one screen: `inspect --summary`.
#pragma once

#include "cli/json.hpp"

#include <clbake/builder/release/bundle_summary.hpp>

namespace clbake::tool {

// All of it, sizes in bytes.
Json summary_json(const Bundle& bundle, const builder::release::BundleSummary& summary);

// A table of the targets with the most entries; the others share its last line but one.
void print_screen(const Bundle& bundle, const builder::release::BundleSummary& summary, const std::string& file);

}  // namespace clbake::tool
