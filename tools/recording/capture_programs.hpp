// The end of `record` and the part of `capture` that is about programs.
#pragma once

#include "cli/json.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace clbake::tool {

// Makes one recording of several, and returns what it holds. Throws Failure, also when there is no program in them.
Json capture_programs(const std::vector<std::string>& directories, const std::string& output);

// The same for people.
void print_summary(std::FILE* to, const Json& summary);

}  // namespace clbake::tool
