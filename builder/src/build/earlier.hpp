// The bundle that a build writes over: what is taken over from it, and what stays in it.
#pragma once

#include "build/tasks.hpp"

namespace clbake::builder {

struct EarlierBundle {
  cache::Contents contents;  // empty when there is no file, or none that can be read
  std::string unread;        // why an existing file could not be read
};

EarlierBundle read_earlier(const std::string& path);

// Ends the tasks whose work the earlier bundle or an interrupted build has done: same target, variant and source, by
// this version of clbake and, for an offline target, by the same compilers.
void take_over(std::vector<Task>& tasks, const EarlierBundle& earlier);

// Adds to the new `contents` what the earlier bundle holds for targets and kinds of problems of which no task was
// baked, unless `replace`. The report gets the counts, and a remark on everything that could not be kept.
void keep_others(const EarlierBundle& earlier, const std::vector<Task>& tasks, const std::string& path, bool replace,
                 cache::Contents& contents, BuildReport& report);

}  // namespace clbake::builder
