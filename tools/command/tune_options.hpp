// The options of `clbake tune`.
#pragma once

#include "cli/cli.hpp"

#include <clbake/builder/tune.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

void declare_tune_options(Cli& cli);

// The search that the options ask for, with `output` as its profile; `arguments` are recorded as its command. Throws
// UsageError; and Failure where select_one_target or read_shapes fails, or a file has no shape of the selected kinds.
builder::tune::TuneOptions tune_options(const Cli& cli, const std::vector<std::string>& arguments,
                                        const std::string& output);

}  // namespace clbake::tool
