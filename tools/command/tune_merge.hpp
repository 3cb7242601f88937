// `clbake tune --merge` and `--fit`: profiles without a search.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

// Both write a profile to `output` and return the exit status: the joined measurements of several profiles, fitted
// again; and the choice that raw timings give, without measurements.
int tune_merge(const std::vector<std::string>& profiles, const std::string& output);
int tune_fit(const std::vector<std::string>& times, const std::string& output);

}  // namespace clbake::tool
