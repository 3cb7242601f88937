// The files that `clbake tune` writes, and what it prints about them.
#pragma once

#include <clbake/builder/tune.hpp>

#include <string>

namespace clbake::tool {

// True when `output` is the finished profile of the same command by this version of clbake on the same device.
bool is_complete(const std::string& output, const builder::tune::TuneOptions& options);

// A table of the winners on large shapes, and how to bake them.
void print_winners(const builder::Tuning& tuning, const std::string& file);

}  // namespace clbake::tool
