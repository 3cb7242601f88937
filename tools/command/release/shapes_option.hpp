// The problems and the targets that a verb about a bundle's release is given. All functions throw Failure for a damaged
// bundle and UsageError for wrong words.
#pragma once

#include "cli/cli.hpp"

#include <clbake/builder/release/served.hpp>
#include <clbake/builder/shape/shapes_file.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

// --precision and --trans; `remark` ends the help of both.
void add_kinds(Cli& cli, const std::string& remark);

// The kinds that one of the bundles has entries for.
std::vector<GemmKind> kinds_with_entries(const std::string& file, const std::vector<Bundle>& bundles);

// The kinds of --precision and --trans; where an option is not given, of any precision, or any transposes, among
// kinds_with_entries(); all of them when there are none.
std::vector<GemmKind> kinds_asked_for(const Cli& cli, const std::vector<Bundle>& bundles);

// The shapes of --shapes; lines that do not name a precision or transposes stand for those of kinds_asked_for().
// Sets `filled_in`, if given: what such lines took from the bundles, because no option names it.
std::vector<builder::Shape> shapes_asked_for(const Cli& cli, const std::vector<Bundle>& bundles,
                                             builder::Unnamed* filled_in = nullptr);

// --target LIST.
void add_targets(Cli& cli, const std::string& remark);

// The targets of --target, of the bundle's indices, ascending; `unknown`: what names none. Without --target: all that
// have entries.
std::vector<std::uint32_t> targets_asked_for(const Cli& cli, const Bundle& bundle, std::vector<std::string>& unknown);

// Names on stderr what is unknown and, if they are few, the targets that the bundle of this file has.
void print_unknown(const char* verb, const std::string& file, const Bundle& bundle,
                   const std::vector<std::string>& unknown);

}  // namespace clbake::tool
