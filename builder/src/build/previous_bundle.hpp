// The bundle that a build replaces: finished work is reused, and entries for other targets and kinds of problems are
// carried over into the new bundle.
#pragma once

#include "build/tasks.hpp"

namespace clbake::builder::build {

struct PreviousBundle {
  cache::Contents contents;  // empty when there is no file, or none that can be read
  std::string unread;        // why an existing file could not be read
};

PreviousBundle read_previous(const std::string& path);

// Ends the tasks whose work the previous bundle or an interrupted build has done: same target, variant and source, by
// this version of clbake and, for an offline target, by the same compilers.
void reuse_finished(std::vector<Task>& tasks, const PreviousBundle& previous);

// Adds to the new `contents` what the previous bundle holds for targets and kinds of problems of which no task was
// baked, and the application's own programs if the build was asked for none; nothing with `replace`. The report gets
// the counts, and a remark on everything that could not be carried over.
void carry_over(const PreviousBundle& previous, const std::vector<Task>& tasks, const BuildOptions& options,
                cache::Contents& contents, BuildReport& report);

// The entries and rules of the targets and kinds that `wanted` accepts, the profiles that still have rules, and the
// targets, variants and sources that these name. `programs`: those of the application that are only source, too.
cache::Contents select_kinds(const cache::Contents& from,
                             const std::function<bool(const cache::Target&, const cache::Variant&)>& wanted,
                             bool programs = false);

}  // namespace clbake::builder::build
