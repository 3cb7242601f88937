// How the learner is started.
#pragma once

#include "learn/sender.hpp"

#include <map>
#include <string>
#include <vector>

namespace clbake::learn {

std::vector<std::string> learner_command(const SenderSettings& settings);

// The program's, without what would load a layer into the learner.
std::map<std::string, std::string> learner_environment();

}  // namespace clbake::learn
