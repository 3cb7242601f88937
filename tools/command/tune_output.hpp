// The files that `clbake tune` writes, and what it prints about them.
#pragma once

#include <clbake/builder/tune.hpp>

#include <string>

namespace clbake::tool {

// Whether a report on `profile` may be written to `path`: it must not exist, be empty or be a report. Fails with
// invalid_argument.
Status check_report_path(const std::string& path, const std::string& profile);

// Whether `output` is the finished profile of the same command by this version of clbake on the same device.
bool is_complete(const std::string& output, const builder::TuneOptions& options);

// A table of the winners on large shapes, and how to bake them.
void print_winners(const builder::Tuning& tuning, const std::string& file);

}  // namespace clbake::tool
